// sardonyx::FusedElementwise: connected elementwise ops as one, so that a kernel can compute them
// tile by tile without tensors in between. Its body is the ops themselves.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/emitter/emitter.h"
#include "ir/op_def.h"

namespace sardonyx::ops {

// Values are numbered: first the inputs of the group, then one for each op.
struct FusedElementwiseAttrs {
  std::vector<std::string> ops;   // names, see find_grouped_op
  std::vector<int64_t> operands;  // value numbers: those of the first op, of the second ...
  std::vector<float> params;      // in the same order
  std::vector<int64_t> results;   // value numbers of the outputs
  static auto fields() {
    return std::tuple{required("ops", &FusedElementwiseAttrs::ops),
                      required("operands", &FusedElementwiseAttrs::operands),
                      field("params", &FusedElementwiseAttrs::params),
                      required("results", &FusedElementwiseAttrs::results)};
  }
};

// An op of a group, or the activation at the end of a fused op: a kFusable row of ai.onnx by its
// name, or GeluTanh, which is Gelu's approximation by tanh. Parameters are the row's float
// attributes in its order; those of Clip are its bounds, that of Cast is the element type.
struct GroupedOp {
  std::string_view name;
  size_t operands;
  size_t params = 0;
  const OpDef* row = nullptr;
  Attrs defaults{};  // of the row where none is required: float parameters decide no type
};
// nullptr where no group may hold such an op.
const GroupedOp* find_grouped_op(std::string_view name);
// The name in groups of a kFusable row with these attributes, and the values of its float
// attributes.
std::string_view grouped_name(const OpDef& op, const Attrs& attrs);
std::vector<float> float_params(const OpDef& op, const Attrs& attrs);
// The names of these attributes.
std::vector<std::string> float_param_names(const OpDef& op);

struct GroupStep {
  const GroupedOp* op;
  std::span<const int64_t> operands;  // value numbers, all smaller than the step's own
  std::span<const float> params;
};
// The steps that the attributes describe, which they must outlive; throws kInvalidModel where they
// do not fit each other or the count of inputs.
std::vector<GroupStep> group_steps(const FusedElementwiseAttrs& attrs, size_t inputs);

}  // namespace sardonyx::ops
