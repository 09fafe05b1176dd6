#include "eager/dispatch/part_views.h"

#include "ir/core/strides.h"
#include "ir/ops/data_movement/concat_split.h"

namespace sardonyx::eager {
namespace {

using Offsets = std::vector<size_t>;

// A block of `part` is in one piece of `whole` if all dims behind its first dim of several
// elements are whole.
bool is_one_piece(const Shape& whole, const Shape& part) {
  size_t dim = 0;
  while (dim < part.size() && part[dim] == 1)
    ++dim;
  for (++dim; dim < part.size(); ++dim) {
    if (part[dim] != whole[dim]) return false;
  }
  return true;
}

std::optional<Offsets> parts_of_split(const Attrs& attrs, const Shape& whole,
                                      std::span<const KernelTensor> outputs, size_t width) {
  const size_t axis = axis_of(attrs.as<ops::SplitAttrs>().axis, whole.size());
  const auto step = static_cast<size_t>(row_major_strides(whole)[axis]);
  Offsets offsets;
  size_t begin = 0;
  for (const KernelTensor& output : outputs) {
    if (!is_one_piece(whole, output.shape)) return std::nullopt;
    offsets.push_back(begin * step * width);
    begin += static_cast<size_t>(output.shape[axis]);
  }
  return offsets;
}

std::optional<Offsets> part_of_slice(const Shape& whole, std::span<const KernelTensor> inputs,
                                     const Shape& part, size_t width) {
  std::vector<std::vector<int64_t>> lists;
  for (const KernelTensor& input : inputs.subspan(1)) {
    if (input && !input.constant) return std::nullopt;
    lists.push_back(input ? input.constant->to_int64s() : std::vector<int64_t>());
  }
  if (lists.size() < 2 || !is_one_piece(whole, part)) return std::nullopt;
  const auto list = [&](size_t index) {
    const bool is_given = index < lists.size() && inputs[index + 1];
    return is_given ? std::optional<std::span<const int64_t>>(lists[index]) : std::nullopt;
  };
  const ops::SliceRanges ranges = ops::slice_ranges(whole, lists[0], lists[1], list(2), list(3));
  const Strides strides = row_major_strides(whole);
  size_t offset = 0;
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    if (ranges[axis].step != 1 && ranges[axis].length > 1) return std::nullopt;
    offset += static_cast<size_t>(ranges[axis].start * strides[axis]);
  }
  return Offsets{offset * width};
}

}  // namespace

std::optional<Offsets> offsets_of_parts(const OpDef& op, const Attrs& attrs,
                                        std::span<const KernelTensor> inputs,
                                        std::span<const KernelTensor> outputs) {
  const bool is_split = op.name == "Split", is_slice = op.name == "Slice";
  if (!op.domain.empty() || (!is_split && !is_slice)) return std::nullopt;
  const KernelTensor& whole = inputs[0];
  if (whole.dtype == DType::kString || bits_of(whole.dtype) < 8) return std::nullopt;
  for (const KernelTensor& output : outputs) {
    if (element_count(output.shape) == 0) return std::nullopt;
  }
  const auto width = static_cast<size_t>(bits_of(whole.dtype) / 8);
  return is_split ? parts_of_split(attrs, whole.shape, outputs, width)
                  : part_of_slice(whole.shape, inputs, outputs[0].shape, width);
}

}  // namespace sardonyx::eager
