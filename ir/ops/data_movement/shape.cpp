// Shape, Size, Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Expand, Identity.
#include "ir/ops/data_movement/shape.h"

#include <algorithm>
#include <numeric>

#include "ir/eval_call.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_elements.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/samples.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {
namespace {

// ---- Shape, Size

// The half-open range of axes that Shape's attributes select.
std::pair<size_t, size_t> shape_range(const ShapeAttrs& attrs, size_t rank) {
  const auto limit = static_cast<int64_t>(rank);
  const auto clamped = [&](int64_t axis) {
    return static_cast<size_t>(std::clamp<int64_t>(axis < 0 ? axis + limit : axis, 0, limit));
  };
  const size_t begin = clamped(std::max(attrs.start, -limit));
  const size_t end = clamped(std::max(attrs.end.value_or(limit), -limit - 1));
  return {begin, std::max(begin, end)};
}

void infer_shape(InferContext& c) {
  const Dims* dims = c.shape(0);
  if (!dims) return c.set(0, DType::kInt64, Dims{c.unknown()});
  const auto [begin, end] = shape_range(c.attrs<ShapeAttrs>(), dims->size());
  c.set(0, DType::kInt64, Dims{static_cast<int64_t>(end - begin)});
  c.set_dims(0, Dims(dims->begin() + static_cast<ptrdiff_t>(begin),
                     dims->begin() + static_cast<ptrdiff_t>(end)));
}

void run_shape(const KernelCall& call) {
  const auto shape = call.inputs[0].shape;
  const auto [begin, end] = shape_range(call.attrs<ShapeAttrs>(), shape.size());
  std::copy(shape.begin() + static_cast<ptrdiff_t>(begin),
            shape.begin() + static_cast<ptrdiff_t>(end), call.outputs[0].data<int64_t>());
}

void infer_size(InferContext& c) {
  c.set(0, DType::kInt64, Dims{});
  if (const Dims* dims = c.shape(0)) c.set_dims(0, {element_count(*dims)});
}

void run_size(const KernelCall& call) {
  *call.outputs[0].data<int64_t>() = call.inputs[0].count();
}

// ---- Ops that give the same elements in the same order

void run_same_elements(const KernelCall& call) {
  const TensorView& from = call.inputs[0];
  copy_run(from.dtype, from.raw, 0, call.outputs[0].raw, 0, from.count());
}

void infer_reshape(InferContext& c) {
  require_vector(c, 1);
  const auto wanted = c.dims(1);
  if (wanted) {
    c.set(0, c.dtype(0), reshaped_dims(c, c.shape(0), *wanted, c.attrs<ReshapeAttrs>().allowzero));
    return propagate_elements(c);
  }
  const Dims* length = c.shape(1);
  const auto rank = length ? (*length)[0].try_value() : std::nullopt;
  if (!rank) return c.set(0, c.dtype(0), std::nullopt);
  c.require(*rank <= kMaxPropagatedElements, "a shape of ", *rank, " dims is not sensible");
  c.set(0, c.dtype(0), unknown_dims(c, static_cast<size_t>(*rank)));
}

void infer_flatten(InferContext& c) {
  const Dims* dims = c.shape(0);
  if (!dims) return c.set(0, c.dtype(0), Dims{c.unknown(), c.unknown()});
  const auto rank = static_cast<int64_t>(dims->size());
  int64_t axis = c.attrs<FlattenAttrs>().axis;
  c.require(axis >= -rank && axis <= rank, "axis ", axis, " is out of range [", -rank, ", ", rank,
            "]");
  if (axis < 0) axis += rank;
  const Dims outer(dims->begin(), dims->begin() + axis), inner(dims->begin() + axis, dims->end());
  c.set(0, c.dtype(0), Dims{element_count(outer), element_count(inner)});
  propagate_elements(c);
}

void infer_squeeze(InferContext& c) {
  const Dims* dims = c.shape(0);
  require_vector(c, 1, /*or_scalar=*/true);
  if (!dims) return c.set(0, c.dtype(0), std::nullopt);
  std::vector<bool> drop(dims->size(), false);
  if (!c.has(1)) {
    for (size_t i = 0; i < dims->size(); ++i) {
      // A symbol may turn out to be 1, so that not even the rank is known.
      if (!(*dims)[i].is_known()) return c.set(0, c.dtype(0), std::nullopt);
      drop[i] = (*dims)[i] == 1;
    }
  } else if (const auto axes = c.int64s(1)) {
    for (const int64_t axis : normalized_axes(c, *axes, dims->size())) {
      const Dim& dim = (*dims)[static_cast<size_t>(axis)];
      c.require(!dim.is_known() || dim == 1, "axis ", axis, " has size ", dim, ", expected 1");
      drop[static_cast<size_t>(axis)] = true;
    }
  } else {
    return c.set(0, c.dtype(0), std::nullopt);
  }
  Dims kept;
  for (size_t i = 0; i < dims->size(); ++i) {
    if (!drop[i]) kept.push_back((*dims)[i]);
  }
  c.set(0, c.dtype(0), std::move(kept));
  propagate_elements(c);
}

void infer_unsqueeze(InferContext& c) {
  const Dims* dims = c.shape(0);
  require_vector(c, 1, /*or_scalar=*/true);
  const auto axes = c.int64s(1);
  if (!dims || !axes) return c.set(0, c.dtype(0), std::nullopt);
  const size_t rank = dims->size() + axes->size();
  std::vector<bool> added(rank, false);
  for (const int64_t axis : normalized_axes(c, *axes, rank))
    added[static_cast<size_t>(axis)] = true;
  Dims result;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i)
    result.push_back(added[i] ? Dim(1) : (*dims)[next++]);
  c.set(0, c.dtype(0), std::move(result));
  propagate_elements(c);
}

// ---- Transpose, Expand

void infer_transpose(InferContext& c) {
  const auto& attrs = c.attrs<TransposeAttrs>();
  const Dims* dims = c.shape(0);
  const size_t rank = dims ? dims->size() : attrs.perm ? attrs.perm->size() : 0;
  if (attrs.perm) {
    c.require(attrs.perm->size() == rank, "perm has ", attrs.perm->size(), " axes, the input ",
              rank);
    std::vector<bool> seen(rank, false);
    for (const int64_t axis : *attrs.perm) {
      c.require(axis >= 0 && axis < static_cast<int64_t>(rank), "perm: axis ", axis,
                " is out of range for rank ", rank);
      c.require(!seen[static_cast<size_t>(axis)], "perm: axis ", axis, " is given twice");
      seen[static_cast<size_t>(axis)] = true;
    }
  }
  if (!dims) {
    return c.set(0, c.dtype(0),
                 attrs.perm ? std::optional(unknown_dims(c, rank)) : std::optional<Dims>());
  }
  Dims result;
  for (const int64_t axis : permutation(attrs, rank))
    result.push_back((*dims)[static_cast<size_t>(axis)]);
  c.set(0, c.dtype(0), std::move(result));
  propagate_elements(c);
}

void run_transpose(const KernelCall& call) {
  const TensorView& from = call.inputs[0];
  copy_strided(from.dtype, from.raw, call.outputs[0].raw,
               transpose_block(call.attrs<TransposeAttrs>(), from.shape));
}

void infer_expand(InferContext& c) {
  require_vector(c, 1);
  const Dims* dims = c.shape(0);
  const auto wanted = c.dims(1);
  if (dims && wanted) {
    for (const Dim& dim : *wanted) {
      if (dim.is_known() && dim.value() < 0) {
        c.fail_input(1, "expected sizes of at least 0, got ", dim);
      }
    }
    auto result = try_broadcast(*dims, *wanted, c.fresh_symbol());
    if (!result) c.fail_input(0, "does not broadcast with the shape ", to_text(*wanted));
    c.set(0, c.dtype(0), std::move(result));
    return propagate_elements(c);
  }
  const Dims* length = c.shape(1);
  const auto rank = length ? (*length)[0].try_value() : std::nullopt;
  if (!dims || !rank) return c.set(0, c.dtype(0), std::nullopt);
  c.require(*rank <= kMaxPropagatedElements, "a shape of ", *rank, " dims is not sensible");
  // Dims larger than 1 in the input stay; the rest depends on the shape's value.
  Dims result = unknown_dims(c, std::max(dims->size(), static_cast<size_t>(*rank)));
  for (size_t i = 0; i < dims->size(); ++i) {
    const Dim& dim = (*dims)[dims->size() - 1 - i];
    if (dim.is_known() && dim.value() != 1) result[result.size() - 1 - i] = dim;
  }
  c.set(0, c.dtype(0), std::move(result));
}

void run_expand(const KernelCall& call) {
  const TensorView& from = call.inputs[0];
  const TensorView& to = call.outputs[0];
  copy_strided(from.dtype, from.raw, to.raw, expand_block(from.shape, to.shape));
}

// ---- Identity

void infer_identity(InferContext& c) {
  c.set(0, c.type(0));
  if (auto elements = known_elements(c, 0)) c.set_dims(0, std::move(*elements));
}

void run_identity(const EvalCall& call) {
  call.outputs[0] = call.inputs[0];
}

// ---- Gradients

// The gradient of ops that give the same elements under another shape.
Vals reshape_gradient(Emitter& e, const GradCall& c) {
  return {reshape_like(e, c.d_outputs[0], c.inputs[0])};
}

Vals transpose_gradient(Emitter& e, const GradCall& c) {
  const auto& attrs = c.attrs<TransposeAttrs>();
  if (!attrs.perm) return {e.call("Transpose", {c.d_outputs[0]})};
  std::vector<int64_t> back(attrs.perm->size());
  for (size_t i = 0; i < back.size(); ++i)
    back[static_cast<size_t>((*attrs.perm)[i])] = static_cast<int64_t>(i);
  return {e.call("Transpose", {c.d_outputs[0]}, {{"perm", back}})};
}

Vals expand_gradient(Emitter& e, const GradCall& c) {
  return {sum_to(e, c.d_outputs[0], c.inputs[0])};
}

Vals identity_gradient(Emitter&, const GradCall& c) {
  return {c.d_outputs[0]};
}

}  // namespace

DimValues permutation(const TransposeAttrs& attrs, size_t rank) {
  if (attrs.perm) return DimValues(attrs.perm->begin(), attrs.perm->end());
  DimValues reversed(rank);
  for (size_t i = 0; i < rank; ++i)
    reversed[i] = static_cast<int64_t>(rank - 1 - i);
  return reversed;
}

StridedBlock transpose_block(const TransposeAttrs& attrs, std::span<const int64_t> from) {
  const Strides strides = row_major_strides(from);
  StridedBlock block;
  for (const int64_t axis : permutation(attrs, from.size())) {
    block.sizes.push_back(from[static_cast<size_t>(axis)]);
    block.from_strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  block.to_strides = row_major_strides(block.sizes);
  return block;
}

StridedBlock expand_block(std::span<const int64_t> from, std::span<const int64_t> to) {
  return {DimValues(to.begin(), to.end()), broadcast_strides(from, to), row_major_strides(to)};
}

Dims reshaped_dims(InferContext& c, const Dims* from, const Dims& wanted, bool allow_zero) {
  Dims result = wanted;
  std::optional<size_t> open;  // where -1 stands
  std::vector<bool> copied(from ? from->size() : 0, false);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].is_known()) continue;
    const int64_t size = wanted[i].value();
    c.require(size >= -1, "shape: expected sizes of at least -1, got ", size);
    if (size == -1) {
      c.require(!open, "shape: -1 is given twice");
      open = i;
    } else if (size == 0 && !allow_zero) {
      c.require(!from || i < from->size(), "shape: 0 at ", i,
                " copies a dim that the input of rank ", from ? from->size() : 0, " does not have");
      result[i] = from ? (*from)[i] : c.unknown();
      if (from) copied[i] = true;
    }
  }
  const auto is_zero = [](const Dim& dim) { return dim == 0; };
  c.require(!open || !allow_zero || std::none_of(wanted.begin(), wanted.end(), is_zero),
            "shape: with allowzero, 0 and -1 together leave the size open");
  // Copied dims stand on both sides: leaving them out keeps -1 defined where they are 0.
  Dim count = 1, rest = 1;
  for (size_t i = 0; from && i < from->size(); ++i)
    if (!copied[i]) count *= (*from)[i];
  for (size_t i = 0; i < result.size(); ++i)
    if (i != open && !(i < copied.size() && copied[i])) rest *= result[i];
  if (!from) {
    if (open) result[*open] = c.unknown();
    return result;
  }
  const bool known = count.is_known() && rest.is_known();
  if (!open) {
    bool nothing = false;  // a copied 0 makes both sides empty, whatever the other dims are
    for (size_t i = 0; i < copied.size(); ++i)
      nothing |= copied[i] && (*from)[i] == 0;
    c.require(!known || nothing || count.value() == rest.value(), "cannot reshape ", to_text(*from),
              " to ", to_text(result), ": they differ in elements");
    return result;
  }
  if (known) {
    const bool divides = rest.value() != 0 && count.value() % rest.value() == 0;
    c.require(divides, "cannot reshape ", to_text(*from), " to ", to_text(wanted),
              ": -1 stands for no size");
  }
  if (rest == 0) {
    result[*open] = c.unknown();
  } else {
    result[*open] = floor_div(count, rest);
  }
  return result;
}

namespace {

std::vector<Sample> shape_samples() {
  return {{{{.shape = {2, 3, 4}}}}, {{{.shape = {2, 3, 4}}}, {{"start", int64_t{-2}}}}};
}
std::vector<Sample> size_samples() {
  return {{{{.shape = {2, 3}}}}, {{{.shape = {}}}}, {{{.shape = {0, 3}}}}};
}
std::vector<Sample> reshape_samples() {
  return {{{{.shape = {2, 3, 4}}, given({0, -1})}},
          {{{.shape = {2, 3, 4}}, given({4, 6})}},
          {{{.shape = {0, 3}}, given({3, 0})}, {{"allowzero", int64_t{1}}}}};
}
std::vector<Sample> flatten_samples() {
  return {{{{.shape = {2, 3, 4}}}}, {{{.shape = {2, 3, 4}}}, {{"axis", int64_t{-1}}}}};
}
std::vector<Sample> squeeze_samples() {
  return {{{{.shape = {1, 3, 1}}}}, {{{.shape = {1, 3, 1}}, given({-1})}}};
}
std::vector<Sample> unsqueeze_samples() {
  return {{{{.shape = {3, 2}}, given({0, -1})}}};
}
std::vector<Sample> transpose_samples() {
  return {{{{.shape = {2, 3, 4}}}},
          {{{.shape = {2, 3, 4}}}, {{"perm", std::vector<int64_t>{1, 0, 2}}}},
          {{{.shape = {5, 40, 37}}}, {{"perm", std::vector<int64_t>{2, 0, 1}}}}};
}
std::vector<Sample> expand_samples() {
  return {{{{.shape = {3, 1}}, given({2, 1, 4})}}, {{{.shape = {3}}, given({1})}}};
}
std::vector<Sample> identity_samples() {
  return {{{{.shape = {2, 3}}}}};
}

constexpr DTypeSet kExpandTypes = kClassicTypes | DType::kBFloat16;

const OpDef kShapeOps[] = {
    {.name = "Shape",
     .doc = "The sizes of the axes from `start` to `end`: int64, rank 1.",
     .since = 25,
     .signature = "(data: T) -> (shape: T1)",
     .types = {{"T", kAnyDType}, {"T1", DType::kInt64}},
     .attrs = attr_schema<ShapeAttrs>(),
     .infer = infer_shape,
     .reference = run_shape,
     .facts = kPassesValues,
     .samples = shape_samples},
    {.name = "Size",
     .doc = "The number of elements: int64, rank 0.",
     .since = 25,
     .signature = "(data: T) -> (size: T1)",
     .types = {{"T", kAnyDType}, {"T1", DType::kInt64}},
     .infer = infer_size,
     .reference = run_size,
     .facts = kPassesValues,
     .samples = size_samples},
    {.name = "Reshape",
     .doc = "The elements in another shape: 0 keeps an axis's size (unless allowzero), one -1 is "
            "what is left.",
     .since = 25,
     .signature = "(data: T, shape: int64) -> (reshaped: T)",
     .types = {{"T", kAnyDType}},
     .attrs = attr_schema<ReshapeAttrs>(),
     .infer = infer_reshape,
     .reference = run_same_elements,
     .grad = reshape_gradient,
     .facts = kView | kPassesValues | kBFloat16Between,
     .shape_inputs = 1 << 1,
     .samples = reshape_samples},
    {.name = "Flatten",
     .doc = "A matrix: the axes before `axis` as rows, those from it on as columns.",
     .since = 25,
     .signature = "(input: T) -> (output: T)",
     .types = {{"T", kAnyDType}},
     .attrs = attr_schema<FlattenAttrs>(),
     .infer = infer_flatten,
     .reference = run_same_elements,
     .grad = reshape_gradient,
     .facts = kView | kPassesValues | kBFloat16Between,
     .samples = flatten_samples},
    {.name = "Squeeze",
     .doc = "Without the axes of size 1 that are listed, or all such.",
     .since = 25,
     .signature = "(data: T, axes?: int64) -> (squeezed: T)",
     .types = {{"T", kAnyDType}},
     .infer = infer_squeeze,
     .reference = run_same_elements,
     .grad = reshape_gradient,
     .facts = kView | kPassesValues | kBFloat16Between,
     .shape_inputs = 1 << 1,
     .samples = squeeze_samples},
    {.name = "Unsqueeze",
     .doc = "With axes of size 1 at the places of the result that are listed.",
     .since = 25,
     .signature = "(data: T, axes: int64) -> (expanded: T)",
     .types = {{"T", kAnyDType}},
     .infer = infer_unsqueeze,
     .reference = run_same_elements,
     .grad = reshape_gradient,
     .facts = kView | kPassesValues | kBFloat16Between,
     .shape_inputs = 1 << 1,
     .samples = unsqueeze_samples},
    {.name = "Transpose",
     .doc = "The axes in the order `perm`, reversed where none is given.",
     .since = 25,
     .signature = "(data: T) -> (transposed: T)",
     .types = {{"T", kAnyDType}},
     .attrs = attr_schema<TransposeAttrs>(),
     .infer = infer_transpose,
     .reference = run_transpose,
     .grad = transpose_gradient,
     .facts = kPassesValues | kBFloat16Between,
     .layout = LayoutRole::kPermutes,
     .samples = transpose_samples},
    {.name = "Expand",
     .doc = "Broadcast to the shape that is the common one of the input's and the given.",
     .since = 13,
     .signature = "(input: T, shape: int64) -> (output: T)",
     .types = {{"T", kExpandTypes}},
     .infer = infer_expand,
     .reference = run_expand,
     .grad = expand_gradient,
     .facts = kPassesValues | kBFloat16Between,
     .shape_inputs = 1 << 1,
     .samples = expand_samples},
    {.name = "Identity",
     .doc = "The input itself.",
     .since = 25,
     .signature = "(input: V) -> (output: V)",
     .types = {{"V", {kAnyDType, kClassicTypes, kClassicTypes, kClassicTypes}}},
     .infer = infer_identity,
     .evaluate = run_identity,
     .grad = identity_gradient,
     .facts = kView | kPassesValues | kBFloat16Between,
     .samples = identity_samples},
};

}  // namespace

std::span<const OpDef> shape_ops() {
  return kShapeOps;
}

}  // namespace sardonyx::ops
