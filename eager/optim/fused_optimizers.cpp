// The optimisers as rows of the op table (ir/ops/training/optimizer.h) with their states.
#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/optim/optimizer.h"
#include "eager/tensor_impl.h"
#include "ir/ops/training/optimizer.h"

namespace sardonyx::eager::optim {
namespace {

using ops::number_parts;

template <typename S>
std::shared_ptr<const Attrs> shared(S attrs) {
  return std::make_shared<const Attrs>(std::move(attrs));
}

}  // namespace

SGD::SGD(const Groups& groups) : Optimizer("SGD") {
  require_groups(groups.size());
  for (const auto& [parameters, options] : groups) {
    require_within("momentum", options.momentum, 0, HUGE_VAL);
    require_within("weight_decay", options.weight_decay, 0, HUGE_VAL);
    if (options.nesterov && (options.momentum <= 0 || options.dampening != 0)) {
      fail(ErrorCode::kInvalidArgument,
           "SGD: nesterov needs a momentum above 0 and no dampening, got ", options.momentum,
           " and ", options.dampening);
    }
    Rule rule{.op = "sardonyx::SgdStep",
              .attrs = shared(ops::SgdStepAttrs{.dampening = number_parts(options.dampening),
                                                .weight_decay = number_parts(options.weight_decay),
                                                .nesterov = options.nesterov,
                                                .maximize = options.maximize}),
              .momentum = options.momentum,
              .momentum_states = {"step", "momentum_buffer"}};
    if (options.momentum != 0) rule.states = rule.momentum_states;
    add_rule_group(parameters, options.lr, std::move(rule));
  }
}

Adam::Adam(const char* name, const Groups& groups, bool is_decoupled) : Optimizer(name) {
  require_groups(groups.size());
  for (const auto& [parameters, options] : groups) {
    require_moments(options.beta1, options.beta2, options.eps, options.weight_decay);
    Rule rule{.op = "sardonyx::AdamStep",
              .attrs = shared(ops::AdamStepAttrs{.beta2 = number_parts(options.beta2),
                                                 .epsilon = number_parts(options.eps),
                                                 .weight_decay = number_parts(options.weight_decay),
                                                 .decoupled = is_decoupled,
                                                 .maximize = options.maximize}),
              .states = {"step", "exp_avg", "exp_avg_sq"},
              .momentum = options.beta1};
    if (options.amsgrad) rule.states.push_back("max_exp_avg_sq");
    add_rule_group(parameters, options.lr, std::move(rule));
  }
}

namespace {

Adam::Groups as_adam(const AdamW::Groups& groups) {
  Adam::Groups converted;
  for (const auto& [parameters, options] : groups) {
    converted.push_back({parameters,
                         {.lr = options.lr,
                          .beta1 = options.beta1,
                          .beta2 = options.beta2,
                          .eps = options.eps,
                          .weight_decay = options.weight_decay,
                          .amsgrad = options.amsgrad,
                          .maximize = options.maximize}});
  }
  return converted;
}

}  // namespace

AdamW::AdamW(const Groups& groups) : Adam("AdamW", as_adam(groups), true) {}

RMSprop::RMSprop(const Groups& groups) : Optimizer("RMSprop") {
  require_groups(groups.size());
  for (const auto& [parameters, options] : groups) {
    require_within("alpha", options.alpha, 0, HUGE_VAL);
    require_within("eps", options.eps, 0, HUGE_VAL);
    require_within("momentum", options.momentum, 0, HUGE_VAL);
    require_within("weight_decay", options.weight_decay, 0, HUGE_VAL);
    Rule rule{
        .op = "sardonyx::RmspropStep",
        .attrs = shared(ops::RmspropStepAttrs{.alpha = number_parts(options.alpha),
                                              .epsilon = number_parts(options.eps),
                                              .weight_decay = number_parts(options.weight_decay),
                                              .maximize = options.maximize}),
        .states = {"square_avg"},
        .momentum = options.momentum,
        .momentum_states = {"momentum_buffer"}};
    if (options.momentum != 0 || options.centered) rule.states.push_back("momentum_buffer");
    if (options.centered) rule.states.push_back("grad_avg");
    add_rule_group(parameters, options.lr, std::move(rule));
  }
}

Adagrad::Adagrad(const Groups& groups) : Optimizer("Adagrad") {
  require_groups(groups.size());
  for (const auto& [parameters, options] : groups) {
    require_within("lr_decay", options.lr_decay, 0, HUGE_VAL);
    require_within("eps", options.eps, 0, HUGE_VAL);
    require_within("initial_accumulator", options.initial_accumulator, 0, HUGE_VAL);
    require_within("weight_decay", options.weight_decay, 0, HUGE_VAL);
    add_rule_group(
        parameters, options.lr,
        {.op = "sardonyx::AdagradStep",
         .attrs = shared(ops::AdagradStepAttrs{.rate_decay = number_parts(options.lr_decay),
                                               .weight_decay = number_parts(options.weight_decay),
                                               .epsilon = number_parts(options.eps),
                                               .maximize = options.maximize}),
         .states = {"step", "sum"},
         .initial = options.initial_accumulator});
  }
}

namespace {

std::vector<Tensor> with_gradients(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> found;
  for (const Tensor& parameter : parameters) {
    if (parameter.defined() && parameter.grad().defined()) found.push_back(parameter);
  }
  return found;
}

// The p-norm of all gradients together, as one number.
Tensor norm_of(const std::vector<Tensor>& parameters, double p, const Loc& loc) {
  std::vector<Tensor> parts;
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    const Tensor part = p == 2          ? square(norm(gradient, loc), loc)
                        : std::isinf(p) ? abs(gradient, loc).amax({}, false, loc)
                                        : pow({abs(gradient, loc), loc}, p).sum({}, false, loc);
    parts.push_back(part.to(parameters[0].grad().dtype(), loc));
  }
  const Tensor all = stack(parts, 0, loc);
  if (std::isinf(p)) return all.amax({}, false, loc);
  const Tensor sum = all.sum({}, false, loc);
  return p == 2 ? sqrt(sum, loc) : pow({sum, loc}, 1 / p);
}

}  // namespace

Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double p, Loc loc) {
  if (!(max_norm > 0) || !(p > 0)) {
    fail(ErrorCode::kInvalidArgument, "clip_grad_norm: expected a positive norm and p, got ",
         max_norm, " and ", p);
  }
  const NoGrad no_grad;
  const std::vector<Tensor> kept = with_gradients(parameters);
  if (kept.empty()) return Tensor::scalar(0.0f);
  const Tensor total = norm_of(kept, p, loc);
  // torch's small number in the divisor.
  const Tensor factor = clamp(div({max_norm, loc}, add({total, loc}, 1e-6)), {}, 1, loc);
  for (const Tensor& parameter : kept) {
    const Tensor gradient = parameter.grad();
    const Tensor clipped = mul({gradient, loc}, factor.to(gradient.dtype(), loc));
    eager::detail::rescale_gradient(parameter, clipped);
  }
  return total;
}

void clip_grad_value(const std::vector<Tensor>& parameters, double limit, Loc loc) {
  if (!(limit > 0))
    fail(ErrorCode::kInvalidArgument, "clip_grad_value: expected a positive limit, got ", limit);
  const NoGrad no_grad;
  for (const Tensor& parameter : with_gradients(parameters))
    eager::detail::rescale_gradient(parameter, clamp(parameter.grad(), -limit, limit, loc));
}

}  // namespace sardonyx::eager::optim
