#include "eager/optim/cycles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ir/type.h"

namespace sardonyx::eager::optim {
namespace {

double along_cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

void require_count(const char* name, const char* what, int64_t count, int64_t least) {
  if (count >= least) return;
  fail(ErrorCode::kInvalidArgument, name, ": expected ", what, " of at least ", least, ", got ",
       count);
}

}  // namespace

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(const Optimizer& optimizer, int64_t steps,
                                                         int64_t growth, double least)
    : Scheduler(optimizer), steps_(steps), growth_(growth), least_(least) {
  require_count("CosineAnnealingWarmRestarts", "steps", steps, 1);
  require_count("CosineAnnealingWarmRestarts", "growth", growth, 1);
  set_step(0);
}

double CosineAnnealingWarmRestarts::lr_at(int64_t step, double base) const {
  // As numbers with a fraction: a length that keeps growing leaves the integers.
  double at = static_cast<double>(step), length = static_cast<double>(steps_);
  if (growth_ == 1) at = static_cast<double>(step % steps_);
  while (at >= length) {
    at -= length;
    length *= static_cast<double>(growth_);
  }
  return along_cosine(base, least_, at / length);
}

CyclicLR::CyclicLR(const Optimizer& optimizer, CyclicOptions options)
    : Scheduler(optimizer), options_(std::move(options)) {
  require_count("CyclicLR", "step_size_up", options_.step_size_up, 1);
  require_count("CyclicLR", "step_size_down", options_.step_size_down.value_or(1), 1);
  options_.base_lr.require_count("CyclicLR", "base_lr", group_count());
  options_.max_lr.require_count("CyclicLR", "max_lr", group_count());
  for (size_t group = 0; group < group_count(); ++group) {
    const double base = options_.base_lr.at(group), max = options_.max_lr.at(group);
    if (base >= 0 && base <= max) continue;
    fail(ErrorCode::kInvalidArgument, "CyclicLR: expected 0 <= base_lr <= max_lr, got ", base,
         " and ", max);
  }
  if (options_.cycle_momentum)
    require_momentum("CyclicLR", options_.base_momentum, options_.max_momentum);
  set_step(0);
}

double CyclicLR::height_at(int64_t step, double cycle) const {
  const auto at = static_cast<double>(step);
  if (options_.scale) return options_.scale(options_.scale_by_step ? at : cycle);
  if (options_.mode == CyclicOptions::Mode::kTriangular2) return std::pow(2, 1 - cycle);
  return options_.mode == CyclicOptions::Mode::kExpRange ? std::pow(options_.gamma, at) : 1;
}

double CyclicLR::share_at(int64_t step) const {
  const auto up = static_cast<double>(options_.step_size_up);
  const auto down = static_cast<double>(options_.step_size_down.value_or(options_.step_size_up));
  const double cycle = std::floor(static_cast<double>(step) / (up + down));
  const double at = static_cast<double>(step) - cycle * (up + down);
  const double share = at <= up ? at / up : (up + down - at) / down;
  return share * height_at(step, cycle + 1);
}

double CyclicLR::group_lr_at(int64_t step, double, size_t group) const {
  const double base = options_.base_lr.at(group), max = options_.max_lr.at(group);
  return base + (max - base) * share_at(step);
}

std::optional<double> CyclicLR::momentum_at(int64_t step, size_t group) const {
  if (!options_.cycle_momentum) return std::nullopt;
  const double base = options_.base_momentum.at(group), max = options_.max_momentum.at(group);
  return max - (max - base) * share_at(step);
}

SWALR::SWALR(const Optimizer& optimizer, double swa_lr, int64_t steps, bool linear)
    : Scheduler(optimizer), swa_lr_(swa_lr), steps_(steps), linear_(linear) {
  require_count("SWALR", "steps", steps, 0);
  if (!(swa_lr >= 0))
    fail(ErrorCode::kInvalidArgument, "SWALR: expected a rate of at least 0, got ", swa_lr);
}

void SWALR::set_step(int64_t step) {
  // Until it is stepped, another scheduler has the rates.
  if (steps() == 0) take_bases();
  Scheduler::set_step(step);
}

double SWALR::lr_at(int64_t step, double base) const {
  if (step == 0) return base;
  const double share =
      steps_ == 0 ? 1 : static_cast<double>(std::min(step, steps_)) / static_cast<double>(steps_);
  return linear_ ? base + (swa_lr_ - base) * share : along_cosine(base, swa_lr_, share);
}

}  // namespace sardonyx::eager::optim
