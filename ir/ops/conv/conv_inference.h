// Inference that the convolutions share.
#pragma once

#include <optional>

#include "ir/op_def.h"
#include "ir/ops/conv/window.h"

namespace sardonyx::ops {

// The shapes that a convolution's inference knows; they are given only where the number of spatial
// axes is known.
struct ConvShapes {
  Dims x;       // [N, C, spatial...]
  Dims w;       // [M, C/group, kernel...]; ConvTranspose: [C, M/group, kernel...]
  Dims kernel;  // w's spatial dims, or kernel_shape where it says more
};

// Reads the shapes of inputs `x` and `w`; where one of them has no known rank, its dims are unknown
// ones. nullopt where neither has. Fails on a group below 1, ranks below 3 or different, and a
// kernel_shape that is not w's.
std::optional<ConvShapes> conv_shapes(InferContext& c, size_t x, size_t w, int64_t group,
                                      const OptionalInts& kernel_shape);

// Input `input` must be 1-D with `length` elements, or (`or_single`) hold a single one, as far as
// its shape is known.
void require_length(const InferContext& c, size_t input, const Dim& length, std::string_view of,
                    bool or_single = false);

// The elements of the 1-D integer input `input` as far as they are known, which must be `count`.
std::optional<Dims> sized_dims(const InferContext& c, size_t input, size_t count);

// `parts` must divide `whole`, where both are known.
void require_divides(const InferContext& c, const Dim& parts, const Dim& whole,
                     std::string_view parts_name, std::string_view whole_name);

// The dims from the third on.
Dims spatial_dims(const Dims& dims);
Shape spatial_shape(std::span<const int64_t> shape);

// `batch`, `channels`, then `spatial`.
Dims joined(const Dim& batch, const Dim& channels, const Dims& spatial);

}  // namespace sardonyx::ops
