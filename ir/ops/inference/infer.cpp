#include "ir/ops/inference/infer.h"

#include <algorithm>

#include "ir/core/strides.h"

namespace sardonyx::ops {

void same_as_first(InferContext& c) {
  c.set(0, c.type(0));
}

void same_as_inputs(InferContext& c) {
  for (size_t i = 0; i < c.output_count(); ++i)
    c.set(i, c.type(i));
}

void broadcast_all(InferContext& c) {
  c.set(0, c.dtype(0), broadcast_inputs(c));
}

void broadcast_all_to_bool(InferContext& c) {
  c.set(0, DType::kBool, broadcast_inputs(c));
}

std::optional<Dims> broadcast_inputs(InferContext& c) {
  std::optional<Dims> result = Dims{};
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has(i)) continue;
    const Dims* shape = c.shape(i);
    if (!shape) result.reset();
    if (!result) continue;
    std::optional<Dims> next = try_broadcast(*result, *shape, c.fresh_symbol());
    if (!next) c.fail_input(i, "does not broadcast with ", to_text(*result));
    result = std::move(next);
  }
  return result;
}

Dims unknown_dims(InferContext& c, size_t rank) {
  Dims dims(rank);
  for (Dim& dim : dims)
    dim = c.unknown();
  return dims;
}

std::optional<Dims> shape_of(const InferContext& c, size_t input) {
  const Dims* shape = c.has(input) ? c.shape(input) : nullptr;
  return shape ? std::optional(*shape) : std::nullopt;
}

std::vector<int64_t> normalized_axes(const InferContext& c, const std::vector<int64_t>& axes,
                                     size_t rank) {
  std::vector<bool> seen(rank, false);
  std::vector<int64_t> result;
  result.reserve(axes.size());
  for (const int64_t axis : axes) {
    const int64_t normal = c.normalized_axis(axis, rank, "axes");
    c.require(!seen[static_cast<size_t>(normal)], "axes: axis ", axis, " is given twice");
    seen[static_cast<size_t>(normal)] = true;
    result.push_back(normal);
  }
  return result;
}

void require_vector(const InferContext& c, size_t input, bool or_scalar) {
  const auto rank = rank_of(c, input);
  if (!rank || *rank == 1 || (or_scalar && *rank == 0)) return;
  c.fail_input(input, "expected one dimension", or_scalar ? " or a scalar" : "", ", got ", *rank);
}

void require_single(const InferContext& c, size_t input) {
  const auto rank = rank_of(c, input);
  if (!rank || *rank == 0) return;
  const Dims& shape = *c.shape(input);
  if (*rank > 1 || (shape[0].is_known() && shape[0].value() != 1)) {
    c.fail_input(input, "expected a scalar or one element");
  }
}

DType require_dtype(const InferContext& c, DType dtype, std::string_view constraint,
                    std::string_view attribute) {
  for (const TypeConstraint& types : c.op().types) {
    if (types.name != constraint) continue;
    if (dtype == DType::kUndefined) {
      c.fail(attribute, ": expected one of ", types.types.text(), ", got a number that no element ",
             "type has; TensorProto.DataType counts from 1 to ", kDTypeCount - 1);
    }
    if (!types.types.tensors.has(dtype)) {
      c.fail(attribute, ": expected one of ", types.types.text(), ", got ", dtype);
    }
    return dtype;
  }
  fail(ErrorCode::kInternal, "the row of ", c.op().name, " has no type constraint ", constraint);
}

std::optional<size_t> rank_of(const InferContext& c, size_t input) {
  const Dims* shape = c.has(input) ? c.shape(input) : nullptr;
  return shape ? std::optional(shape->size()) : std::nullopt;
}

}  // namespace sardonyx::ops
