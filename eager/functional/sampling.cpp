#include "eager/functional/sampling.h"

#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/functional/reduce.h"
#include "eager/trace/frame.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

// -log(-log(u)): added to logits, their greatest is a sample of the categories.
Tensor gumbel_noise(const Tensor& like, const Loc& loc) {
  const Tensor exponential = neg(log(rand_like(like, loc), loc), loc);
  return neg(log(exponential, loc), loc);
}

void check_weights(const Tensor& weights, int64_t count, bool replacement, const Loc& loc) {
  if ((weights.rank() != 1 && weights.rank() != 2) || !is_floating(weights.dtype())) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": multinomial: expected floating weights [n] or [rows, n], got ", weights.type());
  }
  if (count < 1) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": multinomial: expected a count of at least 1, got ", count);
  }
  if (weights.is_symbolic()) return;
  const Tensor invalid = !(Operand(weights, loc) >= 0) || isinf(weights, loc);
  if (any(invalid, {}, false, loc).item<bool>()) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": multinomial: expected finite weights of at least 0");
  }
  const int64_t wanted = replacement ? 1 : count;
  const Tensor most = (Operand(weights, loc) > 0).sum({-1}, false, loc).amin({}, false, loc);
  if (const int64_t available = most.item<int64_t>(); available < wanted) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": multinomial: expected ", wanted,
         " weights above 0 in each row, a row has ", available,
         replacement ? "" : "; with replacement, an index may come again");
  }
}

}  // namespace

Tensor bernoulli(const Tensor& p, Loc loc) {
  require_defined(p, "bernoulli", "p", loc);
  if (!p.is_symbolic()) {
    const Tensor fixed = p.detach();
    const Tensor within = Operand(fixed, loc) >= 0 && Operand(fixed, loc) <= 1;
    if (!all(within, {}, false, loc).item<bool>())
      fail_at(loc, "bernoulli: expected probabilities within [0, 1]");
  }
  return (Operand(rand_like(p, loc), loc) < p.detach()).to(p.dtype(), loc);
}
// The greatest of logits with Gumbel noise are samples without replacement (Kool et al., 2019).
Tensor multinomial(const Tensor& weights, int64_t count, bool replacement, Loc loc) {
  require_defined(weights, "multinomial", "the weights", loc);
  const Tensor fixed = weights.detach();
  check_weights(fixed, count, replacement, loc);
  const Tensor logits = log(fixed, loc);
  if (!replacement)
    return topk(add({logits, loc}, gumbel_noise(logits, loc)), count, -1, true, loc).second;
  static const OpDef& op = op_named("Multinomial");
  const Tensor rows = logits.rank() == 1 ? logits.unsqueeze(0, loc) : logits;
  const Tensor found = apply(
      op, {rows}, {{"sample_size", count}, {"dtype", static_cast<int64_t>(DType::kInt64)}}, loc);
  return logits.rank() == 1 ? found.squeeze({0}, loc) : found;
}

Tensor normal(const Tensor& mean, const Operand& std) {
  const Loc& loc = std.loc;
  const Tensor spread = mul(std, {ones_like(mean, loc), loc});
  return add({mean, loc}, mul({randn_like(spread, loc), loc}, spread));
}
Tensor normal(double mean, double std, const Dims& shape, CreateOptions options, Loc loc) {
  if (!(std >= 0)) fail_at(loc, "normal: expected a deviation of at least 0, got ", std);
  const bool requires_grad = std::exchange(options.requires_grad, false);
  Tensor made = add(mul({randn(shape, options, loc), loc}, std), mean);
  if (requires_grad) made.set_requires_grad();
  return made;
}
Tensor uniform(double low, double high, const Dims& shape, CreateOptions options, Loc loc) {
  if (!(low <= high)) fail_at(loc, "uniform: expected low <= high, got ", low, " and ", high);
  const bool requires_grad = std::exchange(options.requires_grad, false);
  Tensor made = add(mul({rand(shape, options, loc), loc}, high - low), low);
  if (requires_grad) made.set_requires_grad();
  return made;
}
Tensor exponential(double rate, const Dims& shape, CreateOptions options, Loc loc) {
  if (!(rate > 0)) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": exponential: expected a rate above 0, got ",
         rate);
  }
  const bool requires_grad = std::exchange(options.requires_grad, false);
  // 1 - u is never 0.
  const Tensor draws = sub({1, loc}, rand(shape, options, loc));
  Tensor made = mul({log(draws, loc), loc}, -1 / rate);
  if (requires_grad) made.set_requires_grad();
  return made;
}

Tensor gumbel_softmax(const Tensor& logits, GumbelSoftmaxOptions options, Loc loc) {
  if (!(options.tau > 0)) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": gumbel_softmax: expected tau above 0, got ",
         options.tau);
  }
  const Tensor noisy = add({logits, loc}, gumbel_noise(logits, loc));
  const Tensor soft = softmax(div({noisy, loc}, options.tau), options.axis, loc);
  if (!options.hard) return soft;
  static const OpDef& hardmax = op_named("Hardmax");
  const Tensor choice = apply(hardmax, {soft.detach()}, {{"axis", options.axis}}, loc);
  return add({sub({choice, loc}, soft.detach()), loc}, soft);
}

}  // namespace sardonyx::eager
