// Type and shape inference that many rows share. None of it asks for a known rank: where a rank is
// not known, the output's is not either, unless the op says more.
#pragma once

#include <optional>
#include <vector>

#include "ir/op_def.h"

namespace sardonyx::ops {

// Output 0 has the type of input 0. Carries no `dims`.
void same_as_first(InferContext& c);
// Every output has the type of the input of the same index.
void same_as_inputs(InferContext& c);
// Output 0 has the dtype of input 0 and the shape that all formal inputs broadcast to.
void broadcast_all(InferContext& c);
// Like broadcast_all(), with outputs of bool.
void broadcast_all_to_bool(InferContext& c);

// The shape that all present formal inputs broadcast to; nullopt where a rank is unknown. Fails
// where they do not fit.
std::optional<Dims> broadcast_inputs(InferContext& c);
// `rank` dims that nothing is known of.
Dims unknown_dims(InferContext& c, size_t rank);
// The shape of an input as Type::shape wants it.
std::optional<Dims> shape_of(const InferContext& c, size_t input);

// Each axis in [-rank, rank) made non-negative; fails on one out of range or given twice. The order
// is kept.
std::vector<int64_t> normalized_axes(const InferContext& c, const std::vector<int64_t>& axes,
                                     size_t rank);
// Input `input` must have a shape of one dim (or be a scalar, with `or_scalar`), where its rank is
// known.
void require_vector(const InferContext& c, size_t input, bool or_scalar = false);
// Input `input` must hold exactly one element, as a scalar or of shape [1], as far as its shape is
// known.
void require_single(const InferContext& c, size_t input);

// `dtype`, which attribute `attribute` gives, must be one that the row's type constraint
// `constraint` allows.
DType require_dtype(const InferContext& c, DType dtype, std::string_view constraint,
                    std::string_view attribute);

// The known rank of an input; nullopt where it is omitted or not known.
std::optional<size_t> rank_of(const InferContext& c, size_t input);

}  // namespace sardonyx::ops
