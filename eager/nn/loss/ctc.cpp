#include <limits>
#include <memory>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/loss/ctc_paths.h"
#include "eager/nn/loss/losses.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager::nn {
namespace {

// Stands for the logarithm of zero: finite, so that no gradient becomes NaN.
constexpr double kLogZero = -1e30;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

int64_t known(const Dim& dim, const char* what, const Tensor& x) {
  if (dim.is_known()) return dim.value();
  fail_at(dim.asked(), "ctc_loss: ", what, " of ", x.type(),
          " must be known in a trace, for the recursion over it is unrolled");
}

void check_types(const Tensor& log_probabilities, const Tensor& targets,
                 const Tensor& input_lengths, const Tensor& target_lengths, const Loc& loc) {
  for (const Tensor* x : {&log_probabilities, &targets, &input_lengths, &target_lengths})
    require_defined(*x, "ctc_loss", "an argument", loc);
  if (log_probabilities.rank() != 3 || targets.rank() != 2 || input_lengths.rank() != 1 ||
      target_lengths.rank() != 1) {
    fail_at(loc, "ctc_loss: expected log-probabilities [T, N, C], targets [N, S] and lengths [N], ",
            "got ", log_probabilities.type(), ", ", targets.type(), ", ", input_lengths.type(),
            " and ", target_lengths.type());
  }
  for (const Tensor* x : {&targets, &input_lengths, &target_lengths}) {
    if (is_integer(x->dtype())) continue;
    fail_at(loc, "ctc_loss: expected integer targets and lengths, got ", x->type());
  }
}

// Targets with blanks between and around: [N, 2*S + 1].
Tensor with_blanks(const Tensor& targets, int64_t blank, const Loc& loc) {
  const Tensor blanks = full_like(targets, static_cast<double>(blank), loc);
  const Tensor pairs = stack({blanks, targets}, 2, loc).flatten(1, 2, loc);
  const Tensor last =
      full({targets.size(0, loc), 1}, static_cast<double>(blank), {.dtype = targets.dtype()}, loc);
  return cat({pairs, last}, 1, loc);
}

// `count` columns of the logarithm of zero before x, as many of the last ones dropped.
Tensor shifted(const Tensor& x, int64_t count, int64_t columns, const Loc& loc) {
  const int64_t kept = columns - count;
  if (kept <= 0) return full_like(x, kLogZero, loc);
  return pad(x.slice(1, {{}, Dim(kept)}, loc), {count, 0}, kLogZero, loc);
}

Tensor log_sum(const std::vector<Tensor>& parts, const Loc& loc) {
  return logsumexp(stack(parts, 0, loc), {0}, false, loc);
}

// alpha[n][s] is the log-probability of all paths that are at place s of the blanked target.
// Infinity where no path makes the target.
Tensor losses_by_ops(const Tensor& log_probabilities, const Tensor& targets,
                     const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank,
                     const Loc& loc) {
  const int64_t steps = known(log_probabilities.size(0, loc), "T", log_probabilities);
  const int64_t columns = 2 * known(targets.size(1, loc), "S", targets) + 1;
  const DType dtype = log_probabilities.dtype();
  const Tensor goal = targets.to(DType::kInt64, loc);
  const Tensor lengths = input_lengths.to(DType::kInt64, loc).unsqueeze(1, loc);
  const Tensor sizes = target_lengths.to(DType::kInt64, loc).unsqueeze(1, loc);
  const Tensor places = with_blanks(goal, blank, loc);
  const Tensor column = arange(columns, {.dtype = DType::kInt64}, loc).unsqueeze(0, loc);
  // A path may skip a blank between two labels that differ.
  const Tensor two_back = columns > 2 ? pad(places.slice(1, {{}, Dim(columns - 2)}, loc), {2, 0},
                                            static_cast<double>(blank), loc)
                                      : places;
  const Tensor differs = Operand(places, loc) != two_back;
  const Tensor is_label = Operand(places, loc) != Operand(blank);
  const Tensor has_two = Operand(column, loc) >= int64_t{2};
  const Tensor may_skip = Operand(Operand(differs, loc) && has_two, loc) && is_label;
  const Tensor none = literal(full({}, kLogZero, {.dtype = dtype}).data());
  const auto scores_at = [&](int64_t step) {
    return gather(log_probabilities.select(0, step, loc), 1, places, loc);
  };
  Tensor alpha;
  for (int64_t step = 0; step < steps; ++step) {
    if (step == 0) {
      alpha = where(Operand(column, loc) < int64_t{2}, {scores_at(0), loc}, none);
      continue;
    }
    const Tensor skipped = where(may_skip, {shifted(alpha, 2, columns, loc), loc}, none);
    const Tensor reached = log_sum({alpha, shifted(alpha, 1, columns, loc), skipped}, loc);
    const Tensor next = add({reached, loc}, scores_at(step));
    // Beyond a sample's length its paths stand still.
    alpha = where(Operand(lengths, loc) > Operand(step), {next, loc}, alpha);
  }
  if (!alpha.defined()) fail_at(loc, "ctc_loss: the input has no steps");
  const Tensor last = mul({sizes, loc}, int64_t{2});
  const Tensor is_last = Operand(column, loc) == last;
  const Tensor is_before = Operand(column, loc) == sub({last, loc}, int64_t{1});
  const Tensor is_end = Operand(is_last, loc) || is_before;
  const Tensor ends = where(is_end, {alpha, loc}, none);
  Tensor losses = neg(logsumexp(ends, {1}, false, loc), loc);
  const Tensor is_impossible = Operand(losses, loc) > -0.5 * kLogZero;
  const Tensor infinite = literal(full({}, kInfinity, {.dtype = dtype}).data());
  return where(is_impossible, {infinite, loc}, losses);
}

// The same at once, for tensors in memory; nullopt where the ops have to do it: in a trace, for
// other element types, and for labels that are none. The ops also serve gradients of gradients.
std::optional<Tensor> losses_by_paths(const Tensor& log_probabilities, const Tensor& targets,
                                      const Tensor& input_lengths, const Tensor& target_lengths,
                                      int64_t blank, const Loc& loc) {
  if (TraceContext::active()) return std::nullopt;
  const auto whole = [&](const Tensor& x) { return x.to(DType::kInt64, loc).data(); };
  const auto arguments = ctc_arguments(log_probabilities.data(), whole(targets),
                                       whole(input_lengths), whole(target_lengths), blank);
  if (!arguments) return std::nullopt;
  using Tensors = std::vector<Tensor>;
  const auto kept = std::make_shared<CtcReached>();
  const bool is_kept = is_grad_enabled() && log_probabilities.requires_grad();
  const auto forward = [=](const Tensors&) -> Tensors {
    return {Tensor(ctc_losses(*arguments, is_kept ? kept.get() : nullptr))};
  };
  const auto backward = [=](const Tensors& in, const Tensors&, const Tensors& d) -> Tensors {
    const bool create_graph = is_grad_enabled();
    if (!create_graph && !TraceContext::active())
      return {Tensor(ctc_gradient(*arguments, d[0].data(), *kept))};
    const EnableGrad recorded;
    const Tensor losses = losses_by_ops(in[0], targets, input_lengths, target_lengths, blank, loc);
    return grad({losses}, {in[0]}, {.grad_outputs = {d[0]}, .create_graph = create_graph}, loc);
  };
  return apply(CustomFunction{forward, backward}, {log_probabilities}, loc)[0];
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, CtcOptions options, Loc loc) {
  check_types(log_probabilities, targets, input_lengths, target_lengths, loc);
  const auto at_once = losses_by_paths(log_probabilities, targets, input_lengths, target_lengths,
                                       options.blank, loc);
  Tensor losses = at_once ? *at_once
                          : losses_by_ops(log_probabilities, targets, input_lengths, target_lengths,
                                          options.blank, loc);
  if (options.zero_infinity) losses = where(Operand(losses, loc) == kInfinity, {0, loc}, losses);
  if (options.reduction == Reduction::kNone) return losses;
  if (options.reduction == Reduction::kSum) return losses.sum({}, false, loc);
  const Tensor sizes = target_lengths.to(DType::kInt64, loc);
  const Tensor divisors = clamp(sizes, 1, {}, loc).to(log_probabilities.dtype(), loc);
  return div({losses, loc}, divisors).mean({}, false, loc);
}

}  // namespace sardonyx::eager::nn
