// Concat, Split, Tile.
#include "ir/ops/data_movement/concat_split.h"

#include <algorithm>

#include "ir/ops/gradient/index_gradient.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_elements.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/indices.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {
namespace {

// ---- Concat

void infer_concat(InferContext& c) {
  std::optional<Dims> result;
  for (size_t i = 0; i < c.input_count() && !result; ++i)
    result = shape_of(c, i);
  if (!result) return c.set(0, c.dtype(0), std::nullopt);
  if (result->empty()) c.fail("expected inputs of rank 1 or more, got scalars; use Unsqueeze");
  const auto axis =
      static_cast<size_t>(c.normalized_axis(c.attrs<ConcatAttrs>().axis, result->size()));
  Dim total = 0;
  bool known = true;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const Dims* dims = c.shape(i);
    if (!dims) {
      known = false;
      continue;
    }
    c.require_rank(i, result->size());
    for (size_t k = 0; k < dims->size(); ++k) {
      if (k != axis && !((*result)[k] == (*dims)[k]))
        (*result)[k] = c.merged((*result)[k], (*dims)[k], text("axis ", k));
    }
    total += (*dims)[axis];
  }
  (*result)[axis] = known ? total : c.unknown();
  c.set(0, c.dtype(0), std::move(result));
  propagate_all_elements(c);
}

void run_concat(const KernelCall& call) {
  const size_t rank = call.outputs[0].rank();
  concat_along(call.inputs, axis_of(call.attrs<ConcatAttrs>().axis, rank), call.outputs[0]);
}

// The offsets of parts that follow each other along `axis`; nullopt where dims before it have
// several indices.
Offsets consecutive(const Shape& whole, int64_t axis, std::span<const Shape> parts) {
  const size_t along = axis_of(axis, whole.size());
  const AxisSplit split = split_at(whole, along);
  if (split.outer != 1) return std::nullopt;
  std::vector<int64_t> offsets;
  int64_t at = 0;
  for (const Shape& part : parts) {
    offsets.push_back(at);
    at += part[along] * split.inner;
  }
  return offsets;
}

Offsets concat_offsets(const OffsetsCall& call) {
  return consecutive(call.whole, call.attrs<ConcatAttrs>().axis, call.parts);
}

// ---- Split

Offsets split_offsets(const OffsetsCall& call) {
  return consecutive(call.whole, call.attrs<SplitAttrs>().axis, call.parts);
}

int64_t equal_part(int64_t size, int64_t parts) {
  return size / parts + (size % parts != 0);
}

// The sizes of equal parts, the last one smaller where `size` is no multiple.
Dims equal_dims(const Dim& size, size_t parts) {
  const auto count = static_cast<int64_t>(parts);
  if (!size.is_known()) {
    const Dim part = ceil_div(size, count);
    Dims sizes(parts, part);
    sizes.back() = size - part * Dim(count - 1);
    return sizes;
  }
  const int64_t part = equal_part(size.value(), count);
  Dims sizes;
  for (int64_t i = 0, rest = size.value(); i < count; ++i) {
    sizes.push_back(std::min(part, rest));
    rest -= std::min(part, rest);
  }
  return sizes;
}

// The sizes in `split`; nullopt where its value is not known.
std::optional<Dims> given_parts(InferContext& c, const Dim& size) {
  c.require(!c.attrs<SplitAttrs>().num_outputs, "both split and num_outputs are given");
  require_vector(c, 1);
  auto parts = c.dims(1);
  if (!parts) return std::nullopt;
  c.require(parts->size() == c.output_count(), "split has ", parts->size(), " sizes for ",
            c.output_count(), " outputs");
  Dim total = 0;
  for (const Dim& part : *parts) {
    c.require(!part.is_known() || part.value() >= 0, "split: expected sizes of at least 0, got ",
              part);
    total += part;
  }
  c.require(!total.is_known() || !size.is_known() || total == size, "split: the sizes add up to ",
            total, ", the axis has ", size);
  return parts;
}

void infer_split(InferContext& c) {
  const auto& attrs = c.attrs<SplitAttrs>();
  const size_t parts = c.output_count();
  c.require(!attrs.num_outputs || *attrs.num_outputs == static_cast<int64_t>(parts),
            "num_outputs is ", attrs.num_outputs.value_or(0), ", but there are ", parts,
            " outputs");
  const Dims* dims = c.shape(0);
  if (!dims) {
    if (c.has(1)) given_parts(c, c.unknown());
    for (size_t i = 0; i < parts; ++i)
      c.set(i, c.dtype(0), std::nullopt);
    return;
  }
  const auto axis = static_cast<size_t>(c.normalized_axis(attrs.axis, dims->size()));
  const Dim size = (*dims)[axis];
  const auto sizes = c.has(1) ? given_parts(c, size) : std::optional(equal_dims(size, parts));
  for (size_t i = 0; i < parts; ++i) {
    Dims part = *dims;
    part[axis] = sizes ? (*sizes)[i] : c.unknown();
    c.set(i, c.dtype(0), std::move(part));
  }
  propagate_elements(c);
}

void run_split(const KernelCall& call) {
  const size_t axis = axis_of(call.attrs<SplitAttrs>().axis, call.inputs[0].rank());
  const size_t parts = call.outputs.size();
  const int64_t size = call.inputs[0].shape[axis];
  const int64_t equal = equal_part(size, static_cast<int64_t>(parts));
  int64_t begin = 0;
  for (size_t i = 0; i < parts; ++i) {
    if (call.wants(i)) copy_part(call.inputs[0], axis, begin, call.outputs[i]);
    begin += call.has(1) ? indices_of(call.inputs[1])[i] : std::min(equal, size - begin);
  }
}

// ---- Tile

void infer_tile(InferContext& c) {
  require_vector(c, 1);
  const Dims* dims = c.shape(0);
  const auto repeats = c.dims(1);
  if (!dims && !repeats) return c.set(0, c.dtype(0), std::nullopt);
  const size_t rank = dims ? dims->size() : repeats->size();
  Dims result = unknown_dims(c, rank);
  if (repeats) {
    c.require(repeats->size() == rank, "repeats has ", repeats->size(), " elements, the input ",
              rank, " dims");
    for (size_t i = 0; i < rank; ++i) {
      const Dim& repeat = (*repeats)[i];
      c.require(!repeat.is_known() || repeat.value() >= 0, "repeats: expected at least 0, got ",
                repeat);
      if (dims) result[i] = (*dims)[i] * repeat;
    }
  }
  c.set(0, c.dtype(0), std::move(result));
  propagate_elements(c);
}

void run_tile(const KernelCall& call) {
  const TensorView& from = call.inputs[0];
  const TensorView& to = call.outputs[0];
  if (to.count() == 0) return;
  copy_strided(from.dtype, from.raw, to.raw, tile_block(from.shape, to.shape));
}

}  // namespace

std::vector<int64_t> equal_parts(int64_t size, size_t parts) {
  return *known_shape(equal_dims(Dim(size), parts));
}

// Each dim becomes two: one that repeats the input, one that walks along it.
StridedBlock tile_block(std::span<const int64_t> from, std::span<const int64_t> to) {
  const Strides from_strides = row_major_strides(from);
  const Strides to_strides = row_major_strides(to);
  StridedBlock block;
  for (size_t i = 0; i < from.size(); ++i) {
    block.sizes.push_back(to[i] / from[i]);
    block.from_strides.push_back(0);
    block.to_strides.push_back(to_strides[i] * from[i]);
    block.sizes.push_back(from[i]);
    block.from_strides.push_back(from_strides[i]);
    block.to_strides.push_back(to_strides[i]);
  }
  return block;
}

StridedBlock block_into(std::span<const int64_t> whole, size_t axis, int64_t begin,
                        std::span<const int64_t> part) {
  const AxisSplit to = split_at(whole, axis);
  const int64_t run = part[axis] * to.inner;
  return {{to.outer, run}, {run, 1}, {to.size * to.inner, 1}, 0, begin * to.inner};
}

StridedBlock block_out_of(std::span<const int64_t> whole, size_t axis, int64_t begin,
                          std::span<const int64_t> part) {
  StridedBlock block = block_into(whole, axis, begin, part);
  std::swap(block.from_strides, block.to_strides);
  std::swap(block.from_offset, block.to_offset);
  return block;
}

void concat_along(std::span<const TensorView> parts, size_t axis, const TensorView& whole) {
  int64_t begin = 0;
  for (const TensorView& part : parts) {
    copy_strided(whole.dtype, part.raw, whole.raw,
                 block_into(whole.shape, axis, begin, part.shape));
    begin += part.shape[axis];
  }
}

void copy_part(const TensorView& whole, size_t axis, int64_t begin, const TensorView& part) {
  copy_strided(whole.dtype, whole.raw, part.raw,
               block_out_of(whole.shape, axis, begin, part.shape));
}

namespace {

std::vector<Sample> concat_samples() {
  return {{{{.shape = {2, 3}}, {.shape = {2, 1}}}, {{"axis", int64_t{-1}}}},
          {{{.shape = {2, 3}}, {.shape = {0, 3}}, {.shape = {1, 3}}}, {{"axis", int64_t{0}}}}};
}
std::vector<Sample> split_samples() {
  const Tensor sizes = Tensor::vector(std::vector<int64_t>{1, 0, 4});
  return {{.inputs = {{.shape = {2, 5}}, {.value = sizes}},
           .attrs = {{"axis", int64_t{1}}},
           .outputs = 3},
          {.inputs = {{.shape = {7}}}, .attrs = {{"num_outputs", int64_t{3}}}, .outputs = 3}};
}
std::vector<Sample> tile_samples() {
  const Tensor repeats = Tensor::vector(std::vector<int64_t>{2, 1, 3});
  return {{{{.shape = {2, 3, 2}}, {.value = repeats}}}};
}

constexpr DTypeSet kJoinedTypes = kClassicTypes | DType::kBFloat16;

const OpDef kJoinOps[] = {
    {.name = "Concat",
     .doc = "The tensors one behind another along `axis`; their other sizes must agree.",
     .since = 13,
     .signature = "(inputs...: T) -> (concat_result: T)",
     .types = {{"T", kJoinedTypes}},
     .attrs = attr_schema<ConcatAttrs>(),
     .infer = infer_concat,
     .reference = run_concat,
     .grad = concat_gradient,
     .facts = kPassesValues | kBFloat16Between,
     .layout = LayoutRole::kKeeps,
     .join_offsets = concat_offsets,
     .samples = concat_samples},
    {.name = "Split",
     .doc = "Parts along `axis`: of the sizes that are listed, or num_outputs of equal ones with a "
            "smaller last.",
     .since = 18,
     .signature = "(input: T, split?: int64) -> (outputs...: T)",
     .types = {{"T", kJoinedTypes}},
     .attrs = attr_schema<SplitAttrs>(),
     .infer = infer_split,
     .reference = run_split,
     .grad = split_gradient,
     .facts = kPassesValues | kBFloat16Between,
     .shape_inputs = 1 << 1,
     .layout = LayoutRole::kFollows,
     .part_offsets = split_offsets,
     .samples = split_samples},
    {.name = "Tile",
     .doc = "The input repeated as often along each axis as `repeats` lists.",
     .since = 13,
     .signature = "(input: T, repeats: T1) -> (output: T)",
     .types = {{"T", kJoinedTypes}, {"T1", DType::kInt64}},
     .infer = infer_tile,
     .reference = run_tile,
     .grad = tile_gradient,
     .facts = kPassesValues,
     .shape_inputs = 1 << 1,
     .samples = tile_samples},
};

}  // namespace

std::span<const OpDef> join_ops() {
  return kJoinOps;
}

}  // namespace sardonyx::ops
