#include "executor/parts.h"

#include "ir/ops/gather.h"
#include "ir/ops/indices.h"
#include "ir/ops/join.h"

namespace sardonyx {
namespace {

using Offsets = std::optional<std::vector<int64_t>>;

bool is_op(const Node& node, std::string_view name) {
  return node.op->name == name && node.op->domain.empty();
}

// Parts of `whole` that follow each other along `axis`, if nothing lies outside of the axis.
template <typename Shapes>
Offsets consecutive(const Shape& whole, size_t axis, const Shapes& parts) {
  const AxisSplit split = split_at(whole, axis);
  if (split.outer != 1) return std::nullopt;
  std::vector<int64_t> offsets;
  int64_t at = 0;
  for (const Shape& part : parts) {
    offsets.push_back(at);
    at += part[axis] * split.inner;
  }
  return offsets;
}

Offsets slice_offset(const Shape& input, std::span<const Tensor* const> constants) {
  DimValues values[4];
  std::optional<std::span<const int64_t>> operands[4];
  for (size_t i = 0; i < 4; ++i) {
    if (i + 1 >= constants.size() || !constants[i + 1]) continue;
    values[i] = ops::indices_of(constants[i + 1]->view()).to_dim_values();
    operands[i] = values[i];
  }
  const ops::SliceRanges ranges =
      ops::slice_ranges(input, *operands[0], *operands[1], operands[2], operands[3]);
  const Strides strides = row_major_strides(input);
  int64_t offset = 0;
  bool is_within = false;  // behind a dim of which more than one index is taken
  for (size_t i = 0; i < ranges.size(); ++i) {
    const ops::SliceRange& range = ranges[i];
    if (range.length > 1 && range.step != 1) return std::nullopt;
    if (is_within && range.length != input[i]) return std::nullopt;
    is_within = is_within || range.length != 1;
    offset += range.start * strides[i];
  }
  return std::vector<int64_t>{offset};
}

Offsets gather_offset(const Node& node, const Shape& input, const Tensor& indices) {
  const size_t axis = axis_of(node.attrs.as<ops::GatherAttrs>().axis, input.size());
  const AxisSplit split = split_at(input, axis);
  if (indices.count() != 1 || split.outer != 1) return std::nullopt;
  const int64_t index = ops::checked_index(ops::indices_of(indices.view())[0], split.size, axis);
  return std::vector<int64_t>{index * split.inner};
}

}  // namespace

Offsets part_offsets(const Node& node, const Shape& input, std::span<const Tensor* const> constants,
                     std::span<const Shape> outputs) {
  if (element_count(input) == 0) return std::nullopt;
  if (is_op(node, "Split")) {
    const int64_t axis = node.attrs.as<ops::SplitAttrs>().axis;
    return consecutive(input, axis_of(axis, input.size()), outputs);
  }
  if (is_op(node, "Slice")) {
    for (size_t slot = 1; slot < node.formal_inputs(); ++slot) {
      if (node.has_input(slot) && !constants[slot]) return std::nullopt;
    }
    return slice_offset(input, constants);
  }
  if (is_op(node, "Gather") && constants[1]) return gather_offset(node, input, *constants[1]);
  return std::nullopt;
}

Offsets concat_offsets(const Node& node, std::span<const Shape> inputs, const Shape& output) {
  if (!is_op(node, "Concat") || element_count(output) == 0) return std::nullopt;
  const int64_t axis = node.attrs.as<ops::ConcatAttrs>().axis;
  return consecutive(output, axis_of(axis, output.size()), inputs);
}

}  // namespace sardonyx
