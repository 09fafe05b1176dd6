// Watches over calls: the search for the first NaN, and which tracked tensors a function reads.
#pragma once

#include <span>
#include <vector>

#include "eager/tensor_impl.h"

namespace sardonyx::eager {

bool detects_anomalies();
void set_detects_anomalies(bool enabled);
// Throws kInvalidArgument where an output has a NaN that no input has.
void check_for_nan(const OpDef& op, std::span<const Tensor> inputs,
                   std::span<const Tensor> outputs);

// Collects the tracked tensors that calls on this thread read, until the scope ends; each once.
class LeafCollector {
 public:
  LeafCollector();
  ~LeafCollector();
  LeafCollector(const LeafCollector&) = delete;
  LeafCollector& operator=(const LeafCollector&) = delete;
  std::vector<Tensor> found;

 private:
  LeafCollector* previous_;
};
void note_leaves(std::span<const Tensor> inputs);

}  // namespace sardonyx::eager
