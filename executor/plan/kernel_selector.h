// Chooses the kernel that runs a node, and the layouts in which it reads and writes.
#pragma once

#include <memory>
#include <vector>

#include "executor/plan/buffer_assigner.h"
#include "executor/plan/plan_context.h"

namespace sardonyx {

// Whether a convolution, or an op that keeps layouts for one, reads an output of `node`, directly
// or through a few elementwise ops. Such an output is better left in the provider's layout.
bool feeds_layout(const Node& node);

// Selects the kernel for the context's current node.
class KernelSelector {
 public:
  KernelSelector(PlanContext& context, const BufferAssigner& buffers)
      : context_(context), buffers_(buffers) {}

  // The kernel for inputs as they are and outputs as inferred, which must be concrete; nodes that
  // are alike share one. Where no kernel computes the node, the step has none and tells why each
  // refused, or is null where the session keeps no refusals.
  std::shared_ptr<const PreparedStep> select(const Inference& inference);

  // The kernel that brings `value` from the layout it was made in to `to` (null: row-major).
  // Throws kInternal where no provider has one.
  std::shared_ptr<const PreparedStep> select_reorder(ValueId value, const LayoutPtr& to);

 private:
  bool make_key(CacheKey& key) const;
  bool sees_constant(size_t slot) const;
  bool takes_layouts() const;
  bool has_layout_readers() const;
  PreparedStep prepare(const Inference& inference);

  PlanContext& context_;
  const BufferAssigner& buffers_;
  std::vector<KernelTensor> tensors_;  // of a request: inputs, then outputs
};

}  // namespace sardonyx
