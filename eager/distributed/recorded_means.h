// Means of gradients as ops of a compiled step.
#pragma once

#include <memory>
#include <vector>

#include "eager/distributed/gradient_buckets.h"

namespace sardonyx::eager::distributed {

// A mean is begun where the gradients of its bucket have come, and ended where those of all others
// have too: what the graph computes in between runs beside it.
class RecordedMeans {
 public:
  // The graph refers to the buckets by a number; they must be there when it runs.
  explicit RecordedMeans(const std::shared_ptr<GradientBuckets>& buckets);

  // Gradients by parameter. Gives what finish() takes.
  Tensor start(size_t bucket, const std::vector<Tensor>& gradients) const;
  // Between the last start() and the first finish(): which parameters some rank has a gradient for,
  // as bools, from those that this one has.
  Tensor used_anywhere(const std::vector<Tensor>& started,
                       const std::vector<bool>& used_here) const;
  // The means of the bucket's parameters, in its order.
  std::vector<Tensor> finish(size_t bucket, const Tensor& started,
                             const nn::NamedTensors& parameters) const;

 private:
  std::shared_ptr<GradientBuckets> buckets_;
  int64_t number_;
};

}  // namespace sardonyx::eager::distributed
