#include "ir/ops/conv/conv_inference.h"

#include "ir/ops/inference/infer.h"

namespace sardonyx::ops {

namespace {

void require_spatial(const InferContext& c, size_t input) {
  const auto rank = rank_of(c, input);
  if (rank && *rank < 3) {
    c.fail_input(input, "expected at least rank 3: two channel dims and spatial ones");
  }
}

Dims kernel_of(const InferContext& c, const Dims& w, const OptionalInts& kernel_shape) {
  Dims kernel = spatial_dims(w);
  const auto given_shape = given_ints(kernel_shape);
  if (given_shape.empty()) return kernel;
  c.require(given_shape.size() == kernel.size(), "kernel_shape: expected ", kernel.size(),
            " sizes, got ", given_shape.size());
  for (size_t i = 0; i < kernel.size(); ++i) {
    kernel[i] = c.merged(kernel[i], given_shape[i], "kernel_shape and the weight's spatial size");
  }
  return kernel;
}

}  // namespace

Dims spatial_dims(const Dims& dims) {
  SARDONYX_CHECK(dims.size() >= 2);
  return Dims(dims.begin() + 2, dims.end());
}

Shape spatial_shape(std::span<const int64_t> shape) {
  SARDONYX_CHECK(shape.size() >= 2);
  return Shape(shape.begin() + 2, shape.end());
}

Dims joined(const Dim& batch, const Dim& channels, const Dims& spatial) {
  Dims dims{batch, channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

std::optional<ConvShapes> conv_shapes(InferContext& c, size_t x, size_t w, int64_t group,
                                      const OptionalInts& kernel_shape) {
  c.require(group >= 1, "group: expected at least 1, got ", group);
  require_spatial(c, x);
  require_spatial(c, w);
  const auto x_rank = rank_of(c, x), w_rank = rank_of(c, w);
  if (!x_rank && !w_rank) return std::nullopt;
  const size_t rank = x_rank ? *x_rank : *w_rank;
  if (x_rank && w_rank && *x_rank != *w_rank) {
    c.fail_input(w, "expected the rank of ", c.input_label(x), ", ", *x_rank);
  }
  ConvShapes shapes;
  shapes.x = x_rank ? *c.shape(x) : unknown_dims(c, rank);
  shapes.w = w_rank ? *c.shape(w) : unknown_dims(c, rank);
  shapes.kernel = kernel_of(c, shapes.w, kernel_shape);
  return shapes;
}

void require_length(const InferContext& c, size_t input, const Dim& length, std::string_view of,
                    bool or_single) {
  if (!c.has(input)) return;
  const Dims* shape = c.shape(input);
  if (!shape) return;
  if (or_single && element_count(*shape) == 1) return;
  if (shape->size() != 1) {
    if (or_single && shape->empty()) return;
    c.fail_input(input, "expected one dim, ", length, " ", of);
  }
  const Dim& got = (*shape)[0];
  if (got.is_known() && length.is_known() && got.value() != length.value()) {
    c.fail_input(input, "expected ", length, " ", of, ", got ", got);
  }
}

std::optional<Dims> sized_dims(const InferContext& c, size_t input, size_t count) {
  std::optional<Dims> dims = c.dims(input);
  if (dims && dims->size() != count) {
    c.fail_input(input, "expected ", count, " values, got ", dims->size());
  }
  return dims;
}

void require_divides(const InferContext& c, const Dim& parts, const Dim& whole,
                     std::string_view parts_name, std::string_view whole_name) {
  if (!parts.is_known() || !whole.is_known()) return;
  if (parts.value() != 0 && whole.value() % parts.value() == 0) return;
  c.fail(parts_name, ": ", parts, " does not divide the ", whole, " ", whole_name);
}

}  // namespace sardonyx::ops
