#include "executor/plan/view_offsets.h"

#include "ir/core/strides.h"

namespace sardonyx {

Offsets part_offsets(const Node& node, const Shape& input, std::span<const Tensor* const> constants,
                     std::span<const Shape> outputs) {
  if (!node.op->part_offsets || element_count(input) == 0) return std::nullopt;
  bool knows_constants = true;
  for (size_t slot = 1; slot < node.formal_inputs(); ++slot)
    knows_constants = knows_constants && (!node.has_input(slot) || constants[slot]);
  return node.op->part_offsets({node.attrs, input, outputs, constants, knows_constants});
}

Offsets concat_offsets(const Node& node, std::span<const Shape> inputs, const Shape& output) {
  if (!node.op->join_offsets || element_count(output) == 0) return std::nullopt;
  return node.op->join_offsets({node.attrs, output, inputs});
}

}  // namespace sardonyx
