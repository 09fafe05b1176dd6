// Attributes and rules of the ops that change a tensor's shape and not its elements.
#pragma once

#include <optional>
#include <vector>

#include "ir/attributes.h"
#include "ir/op_def.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {

struct ShapeAttrs {
  int64_t start = 0;
  std::optional<int64_t> end;
  static auto fields() {
    return std::tuple{field("start", &ShapeAttrs::start), field("end", &ShapeAttrs::end)};
  }
};

struct ReshapeAttrs {
  bool allowzero = false;  // a 0 in the shape is a size, not "as in the input"
  static auto fields() { return std::tuple{field("allowzero", &ReshapeAttrs::allowzero)}; }
};

struct FlattenAttrs {
  int64_t axis = 1;
  static auto fields() { return std::tuple{field("axis", &FlattenAttrs::axis)}; }
};

struct TransposeAttrs {
  std::optional<std::vector<int64_t>> perm;  // absent: the axes reversed
  static auto fields() { return std::tuple{field("perm", &TransposeAttrs::perm)}; }
};

// The permutation of a Transpose of a tensor of this rank, `perm` having been checked.
DimValues permutation(const TransposeAttrs& attrs, size_t rank);

// How Transpose and Expand move the elements of a tensor of shape `from`.
StridedBlock transpose_block(const TransposeAttrs& attrs, std::span<const int64_t> from);
StridedBlock expand_block(std::span<const int64_t> from, std::span<const int64_t> to);

// The dims that Reshape gives a tensor of shape `from` (nullptr: unknown rank) for the elements
// `wanted` of its second input, -1 and 0 resolved. Fails where they do not fit.
Dims reshaped_dims(InferContext& c, const Dims* from, const Dims& wanted, bool allow_zero);

}  // namespace sardonyx::ops
