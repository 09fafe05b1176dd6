// Losses of distances and margins, by torch.nn.functional's formulas. Targets of two kinds are 1
// and -1.
#pragma once

#include <functional>

#include "eager/nn/loss/losses.h"

namespace sardonyx::eager::nn {

struct MarginOptions {
  double margin = 0;
  Reduction reduction = Reduction::kMean;
};
// max(0, -target * (a - b) + margin): a is to rank above b where the target is 1, below where -1.
Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                           MarginOptions options = {}, Loc loc = Loc::current());
// input where the target is 1, max(0, margin - input) where it is -1.
struct HingeEmbeddingOptions {
  double margin = 1;
  Reduction reduction = Reduction::kMean;
};
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            HingeEmbeddingOptions options = {}, Loc loc = Loc::current());
// Of rows a, b [N, D] and targets [N]: 1 - cos(a, b) where the target is 1,
// max(0, cos(a, b) - margin) where it is -1.
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                             MarginOptions options = {}, Loc loc = Loc::current());

struct TripletOptions {
  double margin = 1;
  double p = 2;  // of the distance ||a - b + eps||_p of rows
  double eps = 1e-6;
  bool swap = false;  // takes the nearer of anchor and positive to the negative
  Reduction reduction = Reduction::kMean;
};
// max(0, d(anchor, positive) - d(anchor, negative) + margin), of rows [N, D].
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           TripletOptions options = {}, Loc loc = Loc::current());
struct TripletDistanceOptions {
  // Of two batches of rows, one number for each; none: pairwise_distance().
  std::function<Tensor(const Tensor& a, const Tensor& b)> distance_function = {};
  double margin = 1;
  bool swap = false;
  Reduction reduction = Reduction::kMean;
};
// triplet_margin_loss() with a distance of one's own.
Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative,
                                         const TripletDistanceOptions& options = {},
                                         Loc loc = Loc::current());
// ||a - b + eps||_p along the last axis.
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p = 2, double eps = 1e-6,
                         bool keepdim = false, Loc loc = Loc::current());

struct MultiMarginOptions {
  double p = 1;  // 1 or 2
  double margin = 1;
  Tensor weight = {};  // of the classes [C]
  Reduction reduction = Reduction::kMean;
};
// sum over i != y of max(0, margin - x[y] + x[i])^p / C, of scores [N, C] and classes [N].
Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginOptions& options = {}, Loc loc = Loc::current());
// log(1 + exp(-target * input)).
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, LossOptions options = {},
                        Loc loc = Loc::current());
// sum over labels y and classes i that are none of max(0, 1 - (x[y] - x[i])) / C, of scores [N, C]
// or [C] and a target of that shape: integer labels in front, the first -1 ends them.
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, LossOptions options = {},
                              Loc loc = Loc::current());
struct MultilabelSoftMarginOptions {
  Tensor weight = {};  // of the classes [C]
  Reduction reduction = Reduction::kMean;
};
// The mean over classes of the binary cross entropy of logits [N, C] and targets 0 or 1.
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginOptions& options = {},
                                   Loc loc = Loc::current());

}  // namespace sardonyx::eager::nn
