#include "eager/optim/scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/type.h"

namespace sardonyx::eager::optim {
namespace {

void require_positive(const char* name, const char* what, double value) {
  if (value > 0) return;
  fail(ErrorCode::kInvalidArgument, name, ": expected a positive ", what, ", got ", value);
}

// From `start` to `end` as `share` goes from 0 to 1.
double annealed(double start, double end, double share, bool linear) {
  if (linear) return start + (end - start) * share;
  return end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * share));
}

double number_in(const nn::StateDict& state, const char* name) {
  const auto at = state.find(name);
  if (at == state.end() || !at->second.defined() || !(at->second.numel() == 1)) {
    fail(ErrorCode::kInvalidArgument, "load_state_dict of a scheduler: expected one number '", name,
         "'");
  }
  return at->second.item<double>();
}

}  // namespace

Scheduler::Scheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (size_t group = 0; group < optimizer.group_count(); ++group)
    bases_.push_back(optimizer.lr(group));
}
void Scheduler::step() {
  set_step(step_ + 1);
}
void Scheduler::set_step(int64_t step) {
  if (step < 0)
    fail(ErrorCode::kInvalidArgument, "scheduler: expected a step of at least 0, got ", step);
  std::vector<double> rates;
  for (const double base : bases_)
    rates.push_back(lr_at(step, base));
  for (size_t group = 0; group < rates.size(); ++group)
    optimizer_.set_lr(rates[group], group);
  step_ = step;
}
std::vector<double> Scheduler::lrs() const {
  std::vector<double> rates;
  for (size_t group = 0; group < bases_.size(); ++group)
    rates.push_back(optimizer_.lr(group));
  return rates;
}
nn::StateDict Scheduler::state_dict() const {
  return {{"step", Tensor::scalar(step_)}};
}
void Scheduler::load_state_dict(const nn::StateDict& state) {
  set_step(static_cast<int64_t>(number_in(state, "step")));
}

StepLR::StepLR(Optimizer& optimizer, int64_t size, double gamma)
    : Scheduler(optimizer), size_(size), gamma_(gamma) {
  require_positive("StepLR", "size", static_cast<double>(size));
  set_step(0);
}
double StepLR::lr_at(int64_t step, double base) const {
  return base * std::pow(gamma_, static_cast<double>(step / size_));
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : Scheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  set_step(0);
}
double MultiStepLR::lr_at(int64_t step, double base) const {
  const auto passed =
      std::ranges::count_if(milestones_, [&](int64_t milestone) { return milestone <= step; });
  return base * std::pow(gamma_, static_cast<double>(passed));
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : Scheduler(optimizer), gamma_(gamma) {
  set_step(0);
}
double ExponentialLR::lr_at(int64_t step, double base) const {
  return base * std::pow(gamma_, static_cast<double>(step));
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t steps, double least)
    : Scheduler(optimizer), steps_(steps), least_(least) {
  require_positive("CosineAnnealingLR", "count of steps", static_cast<double>(steps));
  set_step(0);
}
double CosineAnnealingLR::lr_at(int64_t step, double base) const {
  return annealed(base, least_, static_cast<double>(step) / static_cast<double>(steps_), false);
}

LinearLR::LinearLR(Optimizer& optimizer, double start, double end, int64_t steps)
    : Scheduler(optimizer), start_(start), end_(end), steps_(steps) {
  require_positive("LinearLR", "count of steps", static_cast<double>(steps));
  set_step(0);
}
double LinearLR::lr_at(int64_t step, double base) const {
  const auto share = static_cast<double>(std::min(step, steps_)) / static_cast<double>(steps_);
  return base * annealed(start_, end_, share, true);
}

LambdaLR::LambdaLR(Optimizer& optimizer, std::function<double(int64_t)> factor)
    : Scheduler(optimizer), factor_(std::move(factor)) {
  set_step(0);
}
double LambdaLR::lr_at(int64_t step, double base) const {
  return base * factor_(step);
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, OneCycleOptions options)
    : Scheduler(optimizer), options_(options) {
  require_positive("OneCycleLR", "max_lr", options.max_lr);
  require_positive("OneCycleLR", "count of steps", static_cast<double>(options.total_steps));
  if (!(options.pct_start >= 0 && options.pct_start <= 1)) {
    fail(ErrorCode::kInvalidArgument, "OneCycleLR: expected pct_start within [0, 1], got ",
         options.pct_start);
  }
  set_step(0);
}
double OneCycleLR::lr_at(int64_t step, double) const {
  if (step > options_.total_steps) {
    fail(ErrorCode::kInvalidArgument, "OneCycleLR: step ", step, " of ", options_.total_steps);
  }
  const double start = options_.max_lr / options_.div_factor;
  const double end = start / options_.final_div_factor;
  struct Phase {
    double last_step, from, to;
  };
  const auto total = static_cast<double>(options_.total_steps);
  const double up = options_.pct_start * total - 1;
  std::vector<Phase> phases{{up, start, options_.max_lr}};
  if (options_.three_phase) phases.push_back({2 * up, options_.max_lr, start});
  phases.push_back({total - 1, options_.three_phase ? start : options_.max_lr, end});
  double begin = 0;
  const auto at = static_cast<double>(step);
  for (size_t i = 0; i < phases.size(); ++i) {
    const Phase& phase = phases[i];
    if (at <= phase.last_step || i + 1 == phases.size()) {
      const double length = phase.last_step - begin;
      const double share = length == 0 ? 1 : (at - begin) / length;
      return annealed(phase.from, phase.to, share, options_.linear);
    }
    begin = phase.last_step;
  }
  return end;
}

SequentialLR::SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<Scheduler>> schedulers,
                           std::vector<int64_t> milestones)
    : Scheduler(optimizer), schedulers_(std::move(schedulers)), milestones_(std::move(milestones)) {
  if (schedulers_.empty() || schedulers_.size() != milestones_.size() + 1) {
    fail(ErrorCode::kInvalidArgument,
         "SequentialLR: expected one milestone fewer than schedulers, ", "got ", milestones_.size(),
         " for ", schedulers_.size());
  }
  for (const auto& scheduler : schedulers_) {
    if (!scheduler || &scheduler->optimizer_ != &optimizer)
      fail(ErrorCode::kInvalidArgument, "SequentialLR: expected schedulers of one optimiser");
  }
  // Those that were made before this one have changed the rates; the first saw them unchanged.
  bases_ = schedulers_[0]->bases_;
  set_step(0);
}
double SequentialLR::lr_at(int64_t step, double base) const {
  size_t index = 0;
  while (index < milestones_.size() && step >= milestones_[index])
    ++index;
  const int64_t begin = index == 0 ? 0 : milestones_[index - 1];
  return schedulers_[index]->lr_at(step - begin, base);
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, PlateauOptions options)
    : optimizer_(optimizer),
      options_(options),
      best_(options.maximize ? -std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::infinity()) {
  if (!(options.factor < 1)) {
    fail(ErrorCode::kInvalidArgument, "ReduceLROnPlateau: expected a factor below 1, got ",
         options.factor);
  }
}

bool ReduceLROnPlateau::is_better(double metric) const {
  if (std::isinf(best_)) return options_.maximize ? metric > best_ : metric < best_;
  const double margin = options_.maximize ? options_.threshold : -options_.threshold;
  // As in torch, a share is of the best as it is, sign included.
  const double bound = options_.absolute ? best_ + margin : best_ * (1 + margin);
  return options_.maximize ? metric > bound : metric < bound;
}

void ReduceLROnPlateau::step(double metric) {
  if (is_better(metric)) {
    best_ = metric;
    bad_steps_ = 0;
  } else {
    ++bad_steps_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_steps_ = 0;
  }
  if (bad_steps_ <= options_.patience) return;
  for (size_t group = 0; group < optimizer_.group_count(); ++group) {
    const double before = optimizer_.lr(group);
    const double after = std::max(before * options_.factor, options_.min_lr);
    if (before - after > options_.eps) optimizer_.set_lr(after, group);
  }
  cooling_ = options_.cooldown;
  bad_steps_ = 0;
}

nn::StateDict ReduceLROnPlateau::state_dict() const {
  return {{"best", Tensor::scalar(best_)},
          {"bad_steps", Tensor::scalar(bad_steps_)},
          {"cooling", Tensor::scalar(cooling_)}};
}
void ReduceLROnPlateau::load_state_dict(const nn::StateDict& state) {
  const double best = number_in(state, "best");
  const auto bad_steps = static_cast<int64_t>(number_in(state, "bad_steps"));
  cooling_ = static_cast<int64_t>(number_in(state, "cooling"));
  best_ = best;
  bad_steps_ = bad_steps;
}

}  // namespace sardonyx::eager::optim
