#include <limits>

#include "eager/create.h"
#include "eager/dispatch.h"
#include "eager/functional.h"
#include "eager/nn/losses.h"

namespace sardonyx::eager::nn {
namespace {

// Stands for the logarithm of zero: finite, so that no gradient becomes NaN.
constexpr double kLogZero = -1e30;

int64_t known(const Dim& dim, const char* what, const Tensor& x) {
  if (dim.is_known()) return dim.value();
  fail(ErrorCode::kInvalidArgument, "ctc_loss: ", what, " of ", x.type(),
       " must be known in a trace, for the recursion over it is unrolled");
}

void check_types(const Tensor& log_probabilities, const Tensor& targets,
                 const Tensor& input_lengths, const Tensor& target_lengths) {
  if (log_probabilities.rank() != 3 || targets.rank() != 2 || input_lengths.rank() != 1 ||
      target_lengths.rank() != 1) {
    fail(ErrorCode::kInvalidArgument,
         "ctc_loss: expected log-probabilities [T, N, C], targets [N, ", "S] and lengths [N], got ",
         log_probabilities.type(), ", ", targets.type(), ", ", input_lengths.type(), " and ",
         target_lengths.type());
  }
  for (const Tensor* x : {&targets, &input_lengths, &target_lengths}) {
    if (is_integer(x->dtype())) continue;
    fail(ErrorCode::kInvalidArgument, "ctc_loss: expected integer targets and lengths, got ",
         x->type());
  }
}

// Targets with blanks between and around: [N, 2*S + 1].
Tensor with_blanks(const Tensor& targets, int64_t blank, const Loc& loc) {
  const Tensor blanks = full_like(targets, static_cast<double>(blank), loc);
  const Tensor pairs = stack({blanks, targets}, 2, loc).flatten(1, 2, loc);
  const Tensor last =
      full({targets.size(0), 1}, static_cast<double>(blank), {.dtype = targets.dtype()}, loc);
  return cat({pairs, last}, 1, loc);
}

// `count` columns of the logarithm of zero before x, as many of the last ones dropped.
Tensor shifted(const Tensor& x, int64_t count, int64_t columns, const Loc& loc) {
  const int64_t kept = columns - count;
  if (kept <= 0) return full_like(x, kLogZero, loc);
  return pad(x.slice(1, {{}, Dim(kept)}, loc), {0, 0, count, 0}, kLogZero, loc);
}

Tensor log_sum(const std::vector<Tensor>& parts, const Loc& loc) {
  return logsumexp(stack(parts, 0, loc), {0}, false, loc);
}

}  // namespace

// alpha[n][s] is the log-probability of all paths that are at place s of the blanked target.
Tensor ctc_loss(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, CtcOptions options, Loc loc) {
  check_types(log_probabilities, targets, input_lengths, target_lengths);
  const int64_t steps = known(log_probabilities.size(0), "T", log_probabilities);
  const int64_t columns = 2 * known(targets.size(1), "S", targets) + 1;
  const DType dtype = log_probabilities.dtype();
  const Tensor goal = targets.to(DType::kInt64, loc);
  const Tensor lengths = input_lengths.to(DType::kInt64, loc).unsqueeze(1, loc);
  const Tensor sizes = target_lengths.to(DType::kInt64, loc).unsqueeze(1, loc);
  const Tensor places = with_blanks(goal, options.blank, loc);
  const Tensor column = arange(columns, {.dtype = DType::kInt64}, loc).unsqueeze(0, loc);
  // A path may skip a blank between two labels that differ.
  const Tensor two_back = columns > 2 ? pad(places.slice(1, {{}, Dim(columns - 2)}, loc),
                                            {0, 0, 2, 0}, static_cast<double>(options.blank), loc)
                                      : places;
  const Tensor may_skip = (Operand(places, loc) != two_back) && (column >= int64_t{2}) &&
                          (Operand(places, loc) != Operand(options.blank));
  const Tensor none = literal(full({}, kLogZero, {.dtype = dtype}).data());
  const auto scores_at = [&](int64_t step) {
    return gather(log_probabilities.select(0, step, loc), 1, places, loc);
  };
  Tensor alpha;
  for (int64_t step = 0; step < steps; ++step) {
    if (step == 0) {
      alpha = where(column < int64_t{2}, {scores_at(0), loc}, none);
      continue;
    }
    const Tensor skipped = where(may_skip, {shifted(alpha, 2, columns, loc), loc}, none);
    const Tensor reached = log_sum({alpha, shifted(alpha, 1, columns, loc), skipped}, loc);
    const Tensor next = add({reached, loc}, scores_at(step));
    // Beyond a sample's length its paths stand still.
    alpha = where(Operand(lengths, loc) > Operand(step), {next, loc}, alpha);
  }
  if (!alpha.defined()) fail(ErrorCode::kInvalidArgument, "ctc_loss: the input has no steps");
  const Tensor is_end =
      (column == sizes * int64_t{2}) || (column == sizes * int64_t{2} - int64_t{1});
  const Tensor ends = where(is_end, {alpha, loc}, none);
  Tensor losses = neg(logsumexp(ends, {1}, false, loc), loc);
  const Tensor is_impossible = Operand(losses, loc) > -0.5 * kLogZero;
  const double instead = options.zero_infinity ? 0 : std::numeric_limits<double>::infinity();
  losses = where(is_impossible, literal(full({}, instead, {.dtype = dtype}).data()), losses);
  if (options.reduction == Reduction::kNone) return losses;
  if (options.reduction == Reduction::kSum) return losses.sum({}, false, loc);
  const Tensor divisors = clamp(sizes.squeeze({1}, loc), 1, {}, loc).to(dtype, loc);
  return div({losses, loc}, divisors).mean({}, false, loc);
}

}  // namespace sardonyx::eager::nn
