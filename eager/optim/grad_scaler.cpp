#include "eager/optim/grad_scaler.h"

#include <limits>
#include <utility>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/functional/functional.h"
#include "eager/nn/state_dict.h"
#include "eager/tensor_impl.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::optim {
namespace {

void require(const char* what, const char* wanted, double value, bool holds) {
  if (holds) return;
  fail(ErrorCode::kInvalidArgument, "GradScaler: ", what, ": expected ", wanted, ", got ", value);
}

DType wide_dtype(DType dtype) {
  return dtype == DType::kDouble ? dtype : DType::kFloat;
}

}  // namespace

GradScaler::GradScaler(GradScalerOptions options) : options_(options) {
  require("init_scale", "a positive number", options.init_scale, options.init_scale > 0);
  require("growth_factor", "more than 1", options.growth_factor, options.growth_factor > 1);
  require("backoff_factor", "a number within (0, 1)", options.backoff_factor,
          options.backoff_factor > 0 && options.backoff_factor < 1);
  require("growth_interval", "at least 1", static_cast<double>(options.growth_interval),
          options.growth_interval >= 1);
  state_->scale = full({}, options.init_scale);
  state_->tracker = zeros({}, {.dtype = DType::kInt64});
}

Tensor GradScaler::scale(const Tensor& loss, Loc loc) const {
  if (!options_.enabled) return loss;
  const DType dtype = wide_dtype(loss.dtype());
  return mul({loss.to(dtype, loc), loc}, state_->scale.to(dtype, loc));
}

const Tensor* GradScaler::overflow_of(const Optimizer& optimizer) const {
  for (const auto& [known, overflow] : state_->overflows) {
    if (known.is_same(optimizer)) return &overflow;
  }
  return nullptr;
}

void GradScaler::unscale(const Optimizer& optimizer, Loc loc) {
  if (!options_.enabled) return;
  if (overflow_of(optimizer)) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": the gradients of ", optimizer.name(),
         " were unscaled since the last update(); call that after each step()");
  }
  const NoGrad no_grad;
  const Autocast off(DType::kBFloat16, false);
  Tensor total = zeros({});
  for (const Tensor& parameter : optimizer.parameters()) {
    const Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    const DType dtype = wide_dtype(gradient.dtype());
    const Tensor wide = gradient.to(dtype, loc);
    // 0 for finite numbers, else NaN.
    const Tensor check = mul({wide, loc}, 0.0).sum({}, false, loc);
    total = add({total, loc}, check.to(DType::kFloat, loc));
    const Tensor inverse = reciprocal(state_->scale.to(dtype, loc), loc);
    eager::detail::rescale_gradient(parameter, mul({wide, loc}, inverse));
  }
  state_->overflows.emplace_back(optimizer, isnan(total, loc));
}

void GradScaler::step(Optimizer& optimizer, Loc loc) {
  if (!options_.enabled) return optimizer.step(loc);
  if (!overflow_of(optimizer)) unscale(optimizer, loc);
  const Tensor& overflow = *overflow_of(optimizer);
  if (TraceContext::active()) return optimizer.step_where(!overflow, loc);
  if (!overflow.item<bool>()) optimizer.step(loc);
}

void GradScaler::update(Loc loc) {
  if (!options_.enabled) return;
  if (state_->overflows.empty()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": GradScaler: update() follows a step() (or unscale()) of its own");
  }
  const NoGrad no_grad;
  const auto overflows = std::exchange(state_->overflows, {});
  Tensor overflow = overflows[0].second;
  for (size_t i = 1; i < overflows.size(); ++i)
    overflow = overflow || overflows[i].second;
  const Tensor &scale = state_->scale, &tracker = state_->tracker;
  const Tensor count = add({tracker, loc}, int64_t{1});
  const Tensor is_due = count >= options_.growth_interval;
  const double most = std::numeric_limits<float>::max() / options_.growth_factor;
  const Tensor grown = where(is_due && scale < most, scale * options_.growth_factor, scale);
  scale.assign(where(overflow, scale * options_.backoff_factor, grown), loc);
  tracker.assign(where(overflow || is_due, int64_t{0}, count), loc);
}

double GradScaler::scale() const {
  return state_->scale.item<double>();
}

nn::StateDict GradScaler::state_dict() const {
  return {{"scale", state_->scale.detach()}, {"_growth_tracker", state_->tracker.detach()}};
}

void GradScaler::load_state_dict(const nn::StateDict& state) const {
  const nn::NamedTensors own{{"scale", state_->scale}, {"_growth_tracker", state_->tracker}};
  const std::string problems = nn::state_problems(own, state, {.same_dtypes = true});
  if (!problems.empty())
    fail(ErrorCode::kInvalidArgument, "load_state_dict of GradScaler: ", problems);
  for (const auto& [name, tensor] : own)
    tensor.assign(state.at(name));
}

}  // namespace sardonyx::eager::optim
