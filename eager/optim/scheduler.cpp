#include "eager/optim/scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "eager/create.h"
#include "eager/trace/frame.h"
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

Scheduler::Scheduler(const Optimizer& optimizer) : optimizer_(optimizer) {
  take_bases();
}
void Scheduler::take_bases() {
  bases_ = lrs();
}
void Scheduler::step() {
  if (TraceContext::active()) {
    fail(ErrorCode::kUnsupported,
         "scheduler: step() in a trace is called once, and not in each run; call it behind the "
         "compiled function, which reads the rate anew in each call");
  }
  set_step(step_ + 1);
}
void Scheduler::set_step(int64_t step) {
  if (step < 0)
    fail(ErrorCode::kInvalidArgument, "scheduler: expected a step of at least 0, got ", step);
  std::vector<double> rates;
  for (size_t group = 0; group < bases_.size(); ++group)
    rates.push_back(group_lr_at(step, bases_[group], group));
  // First, as it may be refused.
  for (size_t group = 0; group < rates.size(); ++group) {
    if (const std::optional<double> momentum = momentum_at(step, group))
      optimizer_.set_momentum(*momentum, group);
  }
  for (size_t group = 0; group < rates.size(); ++group)
    optimizer_.set_lr(rates[group], group);
  step_ = step;
}
std::optional<double> Scheduler::momentum_at(int64_t, size_t) const {
  return std::nullopt;
}
void ByGroup::require_count(const char* schedule, const char* what, size_t groups) const {
  if (numbers_.size() == 1 || numbers_.size() == groups) return;
  fail(ErrorCode::kInvalidArgument, schedule, ": ", what,
       ": expected one number or one for each of ", groups, " groups, got ", numbers_.size());
}
void Scheduler::require_momentum(const char* schedule, const ByGroup& base,
                                 const ByGroup& max) const {
  base.require_count(schedule, "base_momentum", group_count());
  max.require_count(schedule, "max_momentum", group_count());
  for (size_t group = 0; group < group_count(); ++group) {
    if (!optimizer_.momentum(group)) {
      fail(ErrorCode::kInvalidArgument, schedule,
           ": expected an optimiser with a momentum or betas, got ", optimizer_.name(),
           "; cycle_momentum = false schedules the rate alone");
    }
    if (base.at(group) >= 0 && max.at(group) >= 0) continue;
    fail(ErrorCode::kInvalidArgument, schedule,
         ": expected a base_momentum and a max_momentum of at least 0, got ", base.at(group),
         " and ", max.at(group));
  }
}
std::vector<double> Scheduler::lrs() const {
  std::vector<double> rates;
  for (size_t group = 0; group < optimizer_.group_count(); ++group)
    rates.push_back(optimizer_.lr(group));
  return rates;
}
nn::StateDict Scheduler::state_dict() const {
  return {{"step", Tensor::scalar(step_)}, {"base_lrs", tensor(bases_)}};
}
void Scheduler::load_state_dict(const nn::StateDict& state) {
  const auto step = static_cast<int64_t>(number_in(state, "step"));
  std::vector<double> bases = bases_;
  if (const auto at = state.find("base_lrs"); at != state.end()) {
    bases = at->second.to(DType::kDouble).to_vector<double>();
    if (bases.size() != bases_.size()) {
      fail(ErrorCode::kInvalidArgument, "load_state_dict of a scheduler: expected 'base_lrs' of ",
           bases_.size(), " groups, got ", bases.size());
    }
  }
  bases_.swap(bases);
  try {
    Scheduler::set_step(step);  // SWALR's own starts from the optimiser's rates
  } catch (...) {
    bases_.swap(bases);
    throw;
  }
}

StepLR::StepLR(const Optimizer& optimizer, int64_t size, double gamma)
    : Scheduler(optimizer), size_(size), gamma_(gamma) {
  require_positive("StepLR", "size", static_cast<double>(size));
  set_step(0);
}
double StepLR::lr_at(int64_t step, double base) const {
  return base * std::pow(gamma_, static_cast<double>(step / size_));
}

MultiStepLR::MultiStepLR(const Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : Scheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  set_step(0);
}
double MultiStepLR::lr_at(int64_t step, double base) const {
  const auto passed =
      std::ranges::count_if(milestones_, [&](int64_t milestone) { return milestone <= step; });
  return base * std::pow(gamma_, static_cast<double>(passed));
}

ExponentialLR::ExponentialLR(const Optimizer& optimizer, double gamma)
    : Scheduler(optimizer), gamma_(gamma) {
  set_step(0);
}
double ExponentialLR::lr_at(int64_t step, double base) const {
  return base * std::pow(gamma_, static_cast<double>(step));
}

CosineAnnealingLR::CosineAnnealingLR(const Optimizer& optimizer, int64_t steps, double least)
    : Scheduler(optimizer), steps_(steps), least_(least) {
  require_positive("CosineAnnealingLR", "count of steps", static_cast<double>(steps));
  set_step(0);
}
double CosineAnnealingLR::lr_at(int64_t step, double base) const {
  return annealed(base, least_, static_cast<double>(step) / static_cast<double>(steps_), false);
}

LinearLR::LinearLR(const Optimizer& optimizer, double start, double end, int64_t steps)
    : Scheduler(optimizer), start_(start), end_(end), steps_(steps) {
  require_positive("LinearLR", "count of steps", static_cast<double>(steps));
  set_step(0);
}
double LinearLR::lr_at(int64_t step, double base) const {
  const auto share = static_cast<double>(std::min(step, steps_)) / static_cast<double>(steps_);
  return base * annealed(start_, end_, share, true);
}

LambdaLR::LambdaLR(const Optimizer& optimizer, std::function<double(int64_t)> factor)
    : Scheduler(optimizer), factor_(std::move(factor)) {
  set_step(0);
}
double LambdaLR::lr_at(int64_t step, double base) const {
  return base * factor_(step);
}

MultiplicativeLR::MultiplicativeLR(const Optimizer& optimizer,
                                   std::function<double(int64_t)> factor)
    : Scheduler(optimizer), factor_(std::move(factor)) {
  set_step(0);
}
double MultiplicativeLR::lr_at(int64_t step, double base) const {
  if (step < known_step_) known_step_ = 0, known_product_ = 1;
  while (known_step_ < step)
    known_product_ *= factor_(++known_step_);
  return base * known_product_;
}

ConstantLR::ConstantLR(const Optimizer& optimizer, double factor, int64_t steps)
    : Scheduler(optimizer), factor_(factor), steps_(steps) {
  if (!(factor >= 0 && factor <= 1))
    fail(ErrorCode::kInvalidArgument, "ConstantLR: expected a factor within [0, 1], got ", factor);
  set_step(0);
}
double ConstantLR::lr_at(int64_t step, double base) const {
  return step < steps_ ? base * factor_ : base;
}

PolynomialLR::PolynomialLR(const Optimizer& optimizer, int64_t steps, double power)
    : Scheduler(optimizer), steps_(steps), power_(power) {
  require_positive("PolynomialLR", "count of steps", static_cast<double>(steps));
  require_positive("PolynomialLR", "power", power);
  set_step(0);
}
double PolynomialLR::lr_at(int64_t step, double base) const {
  const auto share = static_cast<double>(std::min(step, steps_)) / static_cast<double>(steps_);
  return base * std::pow(1 - share, power_);
}

OneCycleLR::OneCycleLR(const Optimizer& optimizer, OneCycleOptions options)
    : Scheduler(optimizer), options_(options) {
  options.max_lr.require_count("OneCycleLR", "max_lr", group_count());
  for (size_t group = 0; group < group_count(); ++group)
    require_positive("OneCycleLR", "max_lr", options.max_lr.at(group));
  require_positive("OneCycleLR", "count of steps", static_cast<double>(options.total_steps));
  if (!(options.pct_start >= 0 && options.pct_start <= 1)) {
    fail(ErrorCode::kInvalidArgument, "OneCycleLR: expected pct_start within [0, 1], got ",
         options.pct_start);
  }
  if (options.cycle_momentum)
    require_momentum("OneCycleLR", options.base_momentum, options.max_momentum);
  set_step(0);
}
double OneCycleLR::group_lr_at(int64_t step, double, size_t group) const {
  if (step > options_.total_steps) {
    fail(ErrorCode::kInvalidArgument, "OneCycleLR: step ", step, " of ", options_.total_steps);
  }
  const double max = options_.max_lr.at(group), start = max / options_.div_factor;
  // A line goes on behind the last step, below 0.
  return std::max(0.0, along(step, start, max, start / options_.final_div_factor));
}
std::optional<double> OneCycleLR::momentum_at(int64_t step, size_t group) const {
  if (!options_.cycle_momentum) return std::nullopt;
  const double max = options_.max_momentum.at(group);
  return along(step, max, options_.base_momentum.at(group), max);
}
double OneCycleLR::along(int64_t step, double low, double high, double last) const {
  struct SchedulePhase {
    double last_step, from, to;
  };
  const auto total = static_cast<double>(options_.total_steps);
  const double up = options_.pct_start * total - 1;
  std::vector<SchedulePhase> phases{{up, low, high}};
  if (options_.three_phase) phases.push_back({2 * up, high, low});
  phases.push_back({total - 1, options_.three_phase ? low : high, last});
  double begin = 0;
  const auto at = static_cast<double>(step);
  for (size_t i = 0; i < phases.size(); ++i) {
    const SchedulePhase& phase = phases[i];
    if (at <= phase.last_step || i + 1 == phases.size()) {
      const double length = phase.last_step - begin;
      const double share = length == 0 ? 1 : (at - begin) / length;
      return annealed(phase.from, phase.to, share, options_.linear);
    }
    begin = phase.last_step;
  }
  return last;
}

SequentialLR::SequentialLR(const Optimizer& optimizer,
                           std::vector<std::shared_ptr<Scheduler>> schedulers,
                           std::vector<int64_t> milestones)
    : Scheduler(optimizer), schedulers_(std::move(schedulers)), milestones_(std::move(milestones)) {
  if (schedulers_.empty() || schedulers_.size() != milestones_.size() + 1) {
    fail(ErrorCode::kInvalidArgument,
         "SequentialLR: expected one milestone fewer than schedulers, ", "got ", milestones_.size(),
         " for ", schedulers_.size());
  }
  for (const auto& scheduler : schedulers_) {
    if (!scheduler || !scheduler->optimizer_.is_same(optimizer))
      fail(ErrorCode::kInvalidArgument, "SequentialLR: expected schedulers of one optimiser");
  }
  // Those that were made before this one have changed the rates; the first saw them unchanged.
  bases_ = schedulers_[0]->bases_;
  set_step(0);
}
std::pair<size_t, int64_t> SequentialLR::milestone_at(int64_t step) const {
  size_t index = 0;
  while (index < milestones_.size() && step >= milestones_[index])
    ++index;
  return {index, index == 0 ? 0 : milestones_[index - 1]};
}
double SequentialLR::group_lr_at(int64_t step, double base, size_t group) const {
  const auto [index, begin] = milestone_at(step);
  return schedulers_[index]->group_lr_at(step - begin, base, group);
}
std::optional<double> SequentialLR::momentum_at(int64_t step, size_t group) const {
  const auto [index, begin] = milestone_at(step);
  return schedulers_[index]->momentum_at(step - begin, group);
}

namespace {

const Scheduler& first_of(const std::vector<std::shared_ptr<Scheduler>>& schedulers) {
  if (!schedulers.empty() && schedulers[0]) return *schedulers[0];
  fail(ErrorCode::kInvalidArgument, "ChainedScheduler: expected schedulers, got none");
}

}  // namespace

ChainedScheduler::ChainedScheduler(std::vector<std::shared_ptr<Scheduler>> schedulers)
    : Scheduler(first_of(schedulers).optimizer_), schedulers_(std::move(schedulers)) {
  for (const auto& scheduler : schedulers_) {
    if (!scheduler || !scheduler->optimizer_.is_same(schedulers_[0]->optimizer_))
      fail(ErrorCode::kInvalidArgument, "ChainedScheduler: expected schedulers of one optimiser");
  }
  // Each one that was made before this has changed the rates; the first saw them unchanged.
  bases_ = schedulers_[0]->bases_;
  set_step(0);
}
double ChainedScheduler::group_lr_at(int64_t step, double base, size_t group) const {
  double rate = base;
  for (const auto& scheduler : schedulers_)
    rate *= base == 0 ? 1 : scheduler->group_lr_at(step, base, group) / base;
  return rate;
}
std::optional<double> ChainedScheduler::momentum_at(int64_t step, size_t group) const {
  std::optional<double> last;
  for (const auto& scheduler : schedulers_) {
    if (const std::optional<double> momentum = scheduler->momentum_at(step, group)) last = momentum;
  }
  return last;
}

ReduceLROnPlateau::ReduceLROnPlateau(const Optimizer& optimizer, PlateauOptions options)
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
