#include "eager/optim/adaptive.h"

#include <cmath>

#include "eager/optim/update_terms.h"

namespace sardonyx::eager::optim {
namespace {

// The gradient of an update; decay that is decoupled from it moves the parameter at once.
template <typename Update, typename Options>
Tensor decayed(Update& u, const Options& o) {
  const bool decoupled = o.decoupled_weight_decay;
  const Tensor gradient =
      effective_gradient(u.parameter, u.gradient, decoupled ? 0 : o.weight_decay, o.maximize);
  if (decoupled && o.weight_decay != 0)
    u.parameter = u.parameter * as_factor(1 - u.exact_lr() * o.weight_decay, gradient);
  return gradient;
}

}  // namespace

Adadelta::Adadelta(const Groups& groups) : Optimizer("Adadelta") {
  require_groups(groups.size());
  for (const auto& [parameters, options] : groups) {
    require_within("rho", options.rho, 0, std::nextafter(1, 2));
    require_within("eps", options.eps, 0, HUGE_VAL);
    require_within("weight_decay", options.weight_decay, 0, HUGE_VAL);
    add_group(parameters, options.lr, {{"square_avg"}, {"acc_delta"}});
    options_.push_back(options);
  }
}

void Adadelta::update(Update& u) {
  const AdadeltaOptions& o = options_[u.group];
  Tensor &square = u.state("square_avg"), &moves = u.state("acc_delta");
  const Tensor gradient = effective_gradient(u.parameter, u.gradient, o.weight_decay, o.maximize);
  square = moved_square(square, gradient, o.rho);
  const Tensor move = sqrt(moves + o.eps) / sqrt(square + o.eps) * gradient;
  moves = moved_square(moves, move, o.rho);
  u.parameter = u.parameter - u.lr() * move;
}

Adamax::Adamax(const Groups& groups) : Optimizer("Adamax") {
  require_groups(groups.size());
  for (const auto& [parameters, options] : groups) {
    require_moments(options.beta1, options.beta2, options.eps, options.weight_decay);
    add_group(parameters, options.lr,
              {{.name = "step", .kind = StateSpec::Kind::kCount}, {"exp_avg"}, {"exp_inf"}});
    cycle_momentum(options.beta1);
    options_.push_back(options);
  }
}

void Adamax::update(Update& u) {
  const AdamaxOptions& o = options_[u.group];
  const Tensor& beta1 = u.exact_momentum();
  Tensor &step = u.state("step"), &mean = u.state("exp_avg"), &greatest = u.state("exp_inf");
  const Tensor gradient = effective_gradient(u.parameter, u.gradient, o.weight_decay, o.maximize);
  step = step + 1;
  mean = moved(mean, gradient, 1 - beta1);
  greatest = maximum(o.beta2 * greatest, abs(gradient) + o.eps);
  const Tensor rate = u.exact_lr() / (1 - power(beta1, step));
  u.parameter = u.parameter - as_factor(rate, mean) * mean / greatest;
}

NAdam::NAdam(const Groups& groups) : Optimizer("NAdam") {
  require_groups(groups.size());
  for (const auto& [parameters, options] : groups) {
    require_moments(options.beta1, options.beta2, options.eps, options.weight_decay);
    require_within("momentum_decay", options.momentum_decay, 0, HUGE_VAL);
    add_group(parameters, options.lr,
              {{.name = "step", .kind = StateSpec::Kind::kCount},
               {.name = "mu_product", .initial = 1, .kind = StateSpec::Kind::kNumber},
               {"exp_avg"},
               {"exp_avg_sq"}});
    cycle_momentum(options.beta1);
    options_.push_back(options);
  }
}

void NAdam::update(Update& u) {
  const NAdamOptions& o = options_[u.group];
  const Tensor& beta1 = u.exact_momentum();
  Tensor &step = u.state("step"), &product = u.state("mu_product");
  Tensor &mean = u.state("exp_avg"), &square = u.state("exp_avg_sq");
  const Tensor gradient = decayed(u, o);
  step = step + 1;
  const auto momentum_at = [&](const Tensor& count) {
    return beta1 * (1 - 0.5 * pow(0.96, count.to(DType::kDouble) * o.momentum_decay));
  };
  const Tensor momentum = momentum_at(step), next = momentum_at(step + 1);
  product = product * momentum;
  mean = moved(mean, gradient, 1 - beta1);
  square = moved_square(square, gradient, o.beta2);
  const Tensor correction = as_factor(1 - power(o.beta2, step), gradient);
  const Tensor divisor = sqrt(square / correction) + o.eps;
  const Tensor of_gradient = u.exact_lr() * (1 - momentum) / (1 - product);
  const Tensor of_mean = u.exact_lr() * next / (1 - product * next);
  u.parameter = u.parameter - as_factor(of_gradient, gradient) * gradient / divisor -
                as_factor(of_mean, gradient) * mean / divisor;
}

RAdam::RAdam(const Groups& groups) : Optimizer("RAdam") {
  require_groups(groups.size());
  for (const auto& [parameters, options] : groups) {
    require_moments(options.beta1, options.beta2, options.eps, options.weight_decay);
    add_group(parameters, options.lr,
              {{.name = "step", .kind = StateSpec::Kind::kCount}, {"exp_avg"}, {"exp_avg_sq"}});
    cycle_momentum(options.beta1);
    options_.push_back(options);
  }
}

namespace {

// How far the second moment can be trusted after so many steps; 0: not at all. The length of the
// averages that it rests on must exceed `kMin` for its variance to be finite.
Tensor rectification(double beta2, const Tensor& step, const Tensor& correction) {
  constexpr double kMin = 5;
  const double limit = 2 / (1 - beta2) - 1;
  const Tensor length = limit - 2 * step.to(DType::kDouble) * power(beta2, step) / correction;
  const Tensor share = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length);
  return where(length > kMin, sqrt(maximum(share, 0.0)), 0.0);
}

}  // namespace

void RAdam::update(Update& u) {
  const RAdamOptions& o = options_[u.group];
  const Tensor& beta1 = u.exact_momentum();
  Tensor &step = u.state("step"), &mean = u.state("exp_avg"), &square = u.state("exp_avg_sq");
  const Tensor gradient = decayed(u, o);
  step = step + 1;
  mean = moved(mean, gradient, 1 - beta1);
  square = moved_square(square, gradient, o.beta2);
  const Tensor correction = 1 - power(o.beta2, step);
  const Tensor rectified = rectification(o.beta2, step, correction);
  const Tensor rate = u.exact_lr() / (1 - power(beta1, step));
  const Tensor adapted = as_factor(rectified * sqrt(correction), mean) / (sqrt(square) + o.eps);
  const Tensor scale = where(as_factor(rectified, mean) > 0.0, adapted, 1.0);
  u.parameter = u.parameter - as_factor(rate, mean) * mean * scale;
}

}  // namespace sardonyx::eager::optim
