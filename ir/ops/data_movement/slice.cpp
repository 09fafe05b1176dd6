// Slice.
#include <algorithm>
#include <limits>

#include "ir/ops/data_movement/concat_split.h"
#include "ir/ops/gradient/index_gradient.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_elements.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/indices.h"
#include "ir/ops/reference/samples.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {
namespace {

// Exporters write "to the end" as the largest int32 or int64. No symbolic size is taken to reach
// it.
constexpr int64_t kFar = std::numeric_limits<int32_t>::max();

// `bound` counted from the front and cut to [0, size], for positive steps.
Dim clamped_bound(const Dim& bound, const Dim& size) {
  if (!bound.is_known()) {
    if (is_nonnegative(bound)) return min(bound, size);
    // A negative one counts from the end, which of size - 1 and size - 2 leaves nothing.
    const Dim below = size - bound;
    if (below == 1 || below == 2) return max(bound, 0);
    const Dim is_negative = min(max(Dim(0) - bound, 0), 1);
    return max(min(bound, size) + size * is_negative, 0);
  }
  const int64_t value = bound.value();
  if (value >= kFar) return size;
  if (value <= -kFar) return 0;
  return value < 0 ? max(size + bound, 0) : min(bound, size);
}

// The operands of a call, read from infer's or the kernel's inputs.
DimValues axes_or_all(const std::optional<std::span<const int64_t>>& axes, size_t count,
                      size_t rank) {
  DimValues result, seen(rank);
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    const auto limit = static_cast<int64_t>(rank);
    if (axis < -limit || axis >= limit) {
      fail(ErrorCode::kInvalidArgument, "axis ", axis, " is out of range for rank ", rank);
    }
    const size_t normal = axis_of(axis, rank);
    if (seen[normal]) fail(ErrorCode::kInvalidArgument, "axis ", axis, " is given twice");
    seen[normal] = 1;
    result.push_back(static_cast<int64_t>(normal));
  }
  return result;
}

void check_slice_step(int64_t step) {
  if (step == 0) fail(ErrorCode::kInvalidArgument, "steps: expected a step other than 0");
}

void check_slice_counts(size_t starts, size_t ends,
                        const std::optional<std::span<const int64_t>>& axes,
                        const std::optional<std::span<const int64_t>>& steps) {
  const auto check = [&](size_t count, const char* what) {
    if (count != starts) {
      fail(ErrorCode::kInvalidArgument, what, " has ", count, " elements, starts has ", starts);
    }
  };
  check(ends, "ends");
  if (axes) check(axes->size(), "axes");
  if (steps) check(steps->size(), "steps");
}

// The axes that an inference context names; nullopt where they are not known.
std::optional<DimValues> sliced_axes(const InferContext& c, size_t rank) {
  if (c.has(3)) {
    const auto axes = c.int64s(3);
    return axes ? std::optional(axes_or_all(*axes, axes->size(), rank)) : std::nullopt;
  }
  const Dims* count = c.shape(1);
  const auto known = count && !count->empty() ? (*count)[0].try_value() : std::nullopt;
  if (!known) return std::nullopt;
  c.require(*known <= static_cast<int64_t>(rank), "starts has ", *known,
            " elements for an input of rank ", rank);
  return axes_or_all(std::nullopt, static_cast<size_t>(*known), rank);
}

void infer_slice(InferContext& c) {
  for (size_t i = 1; i < c.input_count(); ++i)
    require_vector(c, i);
  const Dims* dims = c.shape(0);
  if (!dims) return c.set(0, c.dtype(0), std::nullopt);
  const auto axes = sliced_axes(c, dims->size());
  if (!axes) return c.set(0, c.dtype(0), unknown_dims(c, dims->size()));
  Dims result = *dims;
  const auto starts = c.dims(1), ends = c.dims(2);
  const auto steps = c.has(4) ? c.int64s(4) : std::vector<int64_t>(axes->size(), 1);
  if (starts && ends) check_slice_counts(starts->size(), ends->size(), axes, steps);
  if (steps) std::for_each(steps->begin(), steps->end(), check_slice_step);
  for (size_t i = 0; i < axes->size(); ++i) {
    Dim& dim = result[static_cast<size_t>((*axes)[i])];
    const bool known = starts && ends && steps;
    dim = known ? sliced_size(dim, (*starts)[i], (*ends)[i], (*steps)[i], c.fresh_symbol())
                : c.unknown();
  }
  c.set(0, c.dtype(0), std::move(result));
  propagate_elements(c);
}

DimValues values_of(const KernelCall& call, size_t input) {
  return call.has(input) ? indices_of(call.inputs[input]).to_dim_values() : DimValues();
}

void run_slice(const KernelCall& call) {
  const TensorView& from = call.inputs[0];
  const TensorView& to = call.outputs[0];
  const DimValues axes = values_of(call, 3), steps = values_of(call, 4);
  using Values = std::optional<std::span<const int64_t>>;
  const SliceRanges ranges = slice_ranges(from.shape, values_of(call, 1), values_of(call, 2),
                                          call.has(3) ? Values(axes) : std::nullopt,
                                          call.has(4) ? Values(steps) : std::nullopt);
  StridedBlock block = slice_block(from.shape, ranges);
  SARDONYX_CHECK(std::ranges::equal(block.sizes, to.shape));
  copy_strided(from.dtype, from.raw, to.raw, std::move(block));
}

}  // namespace

SliceRange slice_range(int64_t size, int64_t start, int64_t end, int64_t step) {
  SARDONYX_CHECK(step != 0 && size >= 0);
  if (size == 0) return {0, step, 0};
  if (start < 0) start += size;
  if (end < 0) end += size;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, size);
    end = std::clamp<int64_t>(end, 0, size);
    return {start, step, start < end ? (end - start - 1) / step + 1 : 0};
  }
  start = std::clamp<int64_t>(start, 0, size - 1);
  end = std::clamp<int64_t>(end, -1, size - 1);
  if (start <= end) return {start, step, 0};
  const uint64_t distance = static_cast<uint64_t>(start - end - 1);
  const uint64_t magnitude = 0 - static_cast<uint64_t>(step);
  return {start, step, static_cast<int64_t>(distance / magnitude) + 1};
}

Dim sliced_size(const Dim& size, const Dim& start, const Dim& end, int64_t step,
                const std::function<Dim()>& unknown) {
  if (size.is_known() && start.is_known() && end.is_known()) {
    return slice_range(size.value(), start.value(), end.value(), step).length;
  }
  if (step < 0) {
    const bool whole = start.is_known() && (start == -1 || start.value() >= kFar) &&
                       end.is_known() && end.value() <= -kFar;
    return whole && step > -kFar ? ceil_div(size, -step) : unknown();
  }
  const Dim last = clamped_bound(end, size);
  Dim length;
  if (last == size && start.is_known() && start.value() < 0 && start.value() > -kFar) {
    length = min(size, -start.value());
  } else if (last == size && is_nonnegative(start) &&
             !(start.is_known() && start.value() >= kFar)) {
    length = max(size - start, 0);
  } else {
    length = max(last - clamped_bound(start, size), 0);
  }
  return step == 1 ? length : ceil_div(length, step);
}

SliceRanges slice_ranges(std::span<const int64_t> shape, std::span<const int64_t> starts,
                         std::span<const int64_t> ends,
                         const std::optional<std::span<const int64_t>>& axes,
                         const std::optional<std::span<const int64_t>>& steps) {
  SARDONYX_CHECK(ends.size() == starts.size() && (!axes || axes->size() == starts.size()) &&
                 (!steps || steps->size() == starts.size()));
  SliceRanges ranges;
  for (const int64_t size : shape)
    ranges.push_back({0, 1, size});
  const DimValues named = axes_or_all(axes, starts.size(), shape.size());
  for (size_t i = 0; i < named.size(); ++i) {
    const int64_t step = steps ? (*steps)[i] : 1;
    const auto axis = static_cast<size_t>(named[i]);
    ranges[axis] = slice_range(shape[axis], starts[i], ends[i], step);
  }
  return ranges;
}

StridedBlock slice_block(std::span<const int64_t> from, std::span<const SliceRange> ranges) {
  StridedBlock block{{}, row_major_strides(from), {}};
  for (size_t i = 0; i < ranges.size(); ++i) {
    block.sizes.push_back(ranges[i].length);
    block.from_offset += ranges[i].start * block.from_strides[i];
    // The step of a single element is not followed, and may be too large to be multiplied.
    block.from_strides[i] *= ranges[i].length > 1 ? ranges[i].step : 1;
  }
  block.to_strides = row_major_strides(block.sizes);
  return block;
}

namespace {

std::vector<Sample> slice_samples() {
  return {
      {{{.shape = {4, 5}}, given({1, -3}), given({3, kFar})}},
      {{{.shape = {4, 5}},
        given({-1}),
        given({std::numeric_limits<int64_t>::min()}),
        given({1}),
        given({-2})}},
      {{{.shape = {4, 7, 3}},
        given({1, -2, -9}),
        given({99, 3, 6}),
        given({2, 0, 1}),
        given({1, 1, 3})}},
      {{{.shape = {3, 4}}, given({-3, 9}), given({-1, 9}), given({-1, 0})}},
  };
}

Offsets slice_offset(const OffsetsCall& call) {
  if (!call.knows_constants) return std::nullopt;
  DimValues values[4];
  std::optional<std::span<const int64_t>> operands[4];
  for (size_t i = 0; i < 4; ++i) {
    if (i + 1 >= call.constants.size() || !call.constants[i + 1]) continue;
    values[i] = indices_of(call.constants[i + 1]->view()).to_dim_values();
    operands[i] = values[i];
  }
  const SliceRanges ranges =
      slice_ranges(call.whole, *operands[0], *operands[1], operands[2], operands[3]);
  const Strides strides = row_major_strides(call.whole);
  int64_t offset = 0;
  bool is_within = false;  // behind a dim of which more than one index is taken
  for (size_t i = 0; i < ranges.size(); ++i) {
    const SliceRange& range = ranges[i];
    if (range.length > 1 && range.step != 1) return std::nullopt;
    if (is_within && range.length != call.whole[i]) return std::nullopt;
    is_within = is_within || range.length != 1;
    offset += range.start * strides[i];
  }
  return std::vector<int64_t>{offset};
}

const OpDef kSliceOps[] = {
    {.name = "Slice",
     .doc = "Every `steps`-th element from `starts` to `ends`, for `axes`; negative counts from "
            "the end.",
     .since = 13,
     .signature = "(data: T, starts: Tind, ends: Tind, axes?: Tind, steps?: Tind) -> (output: T)",
     .types = {{"T", kClassicTypes | DType::kBFloat16}, {"Tind", kIndexTypes}},
     .infer = infer_slice,
     .reference = run_slice,
     .grad = slice_gradient,
     .facts = kPassesValues | kBFloat16Between,
     .shape_inputs = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4,
     .layout = LayoutRole::kFollows,
     .part_offsets = slice_offset,
     .samples = slice_samples},
};

}  // namespace

std::span<const OpDef> slice_ops() {
  return kSliceOps;
}

}  // namespace sardonyx::ops
