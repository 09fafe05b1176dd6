// Specialises the nodes of a segment to the sizes that one run has: the types of what they give,
// and the values that follow from sizes and constants alone.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/plan/plan_context.h"

namespace sardonyx {

// Whether the type is a tensor whose every dim is an integer.
bool is_concrete(const Type& type);

// Works on the context's current node.
class ShapeSpecializer {
 public:
  // Records the types of dynamic values as guards of the segment: the plan is for these.
  explicit ShapeSpecializer(PlanContext& context);

  // Whether all outputs can be computed from the sizes of the inputs. Then the node is not planned,
  // and each output is computed when a later node needs it.
  bool can_leave_out() const;
  // Computes `value` where its node was left out.
  void compute_if_left_out(ValueId value);

  // Binds inputs whose values decide shapes to what the run has, with a guard. False where the run
  // does not have them yet: the segment ends before this node. Throws kInvalidArgument where it
  // has their shapes alone.
  bool bind_shape_inputs();
  // Types of the outputs, and their values where these follow from what is known. Valid until the
  // next call.
  const Inference& infer();
  // Makes the outputs constants where they do not depend on the run, and are no larger than shape
  // arithmetic is. False where they are not: then nothing is changed.
  bool fold(const Inference& inference);

 private:
  using Tensors = std::vector<std::shared_ptr<const Tensor>>;
  bool is_read_by_inference(size_t slot) const;
  bool make_key(CacheKey& key, uint32_t& hidden) const;
  HeldByKey held_by_key() const;
  Inference inferred(uint32_t hidden);
  static Tensors values_of_dims(std::span<const InferOutput> outputs);
  Tensors evaluated(const Inference& inference) const;

  PlanContext& context_;
  ComputedValues computed_;
  Inference inference_;  // of the current node, where no cache holds it
  uint64_t unknown_dims_ = 0;
};

}  // namespace sardonyx
