// Losses, by torch.nn.functional's formulas. Each gives a tensor of rank 0 (or the single losses
// for Reduction::kNone).
#pragma once

#include <optional>

#include "eager/tensor.h"

namespace sardonyx::eager::nn {

// What becomes of the single losses: their mean, their sum, or themselves.
enum class Reduction { kMean, kSum, kNone };

struct LossOptions {
  Reduction reduction = Reduction::kMean;
};
// (input - target)^2; both of one shape.
Tensor mse_loss(const Tensor& input, const Tensor& target, LossOptions options = {},
                Loc loc = Loc::current());
// |input - target|.
Tensor l1_loss(const Tensor& input, const Tensor& target, LossOptions options = {},
               Loc loc = Loc::current());
struct SmoothL1Options {
  double beta = 1;  // where the square ends; 0: l1_loss
  Reduction reduction = Reduction::kMean;
};
// 0.5 d^2 / beta where d = |input - target| is below beta, else d - 0.5 beta.
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, SmoothL1Options options = {},
                      Loc loc = Loc::current());
struct HuberOptions {
  double delta = 1;
  Reduction reduction = Reduction::kMean;
};
// 0.5 d^2 where d = |input - target| is below delta, else delta (d - 0.5 delta).
Tensor huber_loss(const Tensor& input, const Tensor& target, HuberOptions options = {},
                  Loc loc = Loc::current());

struct CrossEntropyOptions {
  Tensor weight = {};           // of the classes [C]
  int64_t ignore_index = -100;  // targets that do not count
  double label_smoothing = 0;   // within [0, 1]
  Reduction reduction = Reduction::kMean;
};
// Of scores [N, C, d...] and targets: integer classes [N, d...], or probabilities of the input's
// shape. The mean is weighted by the classes' weights for the former, over N*d... for the latter.
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyOptions& options = {}, Loc loc = Loc::current());
struct NllOptions {
  Tensor weight = {};
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::kMean;
};
// The same of log-probabilities.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const NllOptions& options = {}, Loc loc = Loc::current());

struct BceOptions {
  Tensor weight = {};      // of the elements; broadcast
  Tensor pos_weight = {};  // of positive targets; broadcast
  Reduction reduction = Reduction::kMean;
};
// Binary cross entropy of sigmoid(logits), without its overflow; targets within [0, 1], of the same
// shape.
Tensor bce_with_logits(const Tensor& logits, const Tensor& target, const BceOptions& options = {},
                       Loc loc = Loc::current());
// Of probabilities; logarithms are cut at -100. pos_weight is not used.
Tensor binary_cross_entropy(const Tensor& probabilities, const Tensor& target,
                            const BceOptions& options = {}, Loc loc = Loc::current());

struct KlOptions {
  bool log_target = false;  // the target is log-probabilities too
  bool batch_mean = false;  // the sum divided by the first dim: what the mathematics says
  Reduction reduction = Reduction::kMean;
};
// target * (log target - input), input being log-probabilities.
Tensor kl_div(const Tensor& input, const Tensor& target, KlOptions options = {},
              Loc loc = Loc::current());

struct CtcOptions {
  int64_t blank = 0;
  bool zero_infinity = false;  // samples whose target does not fit their input count as 0
  Reduction reduction = Reduction::kMean;  // mean: each loss by its target's length, then over N
};
// Connectionist temporal classification (Graves et al., 2006). log_probabilities [T, N, C], targets
// [N, S] (integers; padding is not looked at), lengths [N]. T and S must be known in a trace.
Tensor ctc_loss(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, CtcOptions options = {}, Loc loc = Loc::current());

struct CosineOptions {
  int64_t axis = 1;
  double eps = 1e-8;
};
// a b / max(|a| |b|, eps) along an axis, which the result lacks.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, CosineOptions options = {},
                         Loc loc = Loc::current());

}  // namespace sardonyx::eager::nn
