#include "ir/ops/convolution.h"

#include "ir/ops/tables.h"

namespace sardonyx::ops {

namespace {

Shape spatial(std::span<const int64_t> shape) {
  SARDONYX_CHECK(shape.size() >= 2);
  return Shape(shape.begin() + 2, shape.end());
}

}  // namespace

WindowSpec window_spec(std::string_view op, const ConvAttrs& attrs) {
  return {.op = op,
          .auto_pad = attrs.auto_pad,
          .strides = given(attrs.strides),
          .dilations = given(attrs.dilations),
          .pads = given(attrs.pads)};
}

WindowSpec window_spec(std::string_view op, const ConvTransposeAttrs& attrs) {
  return {.op = op,
          .auto_pad = attrs.auto_pad,
          .strides = given(attrs.strides),
          .dilations = given(attrs.dilations),
          .pads = given(attrs.pads),
          .output_padding = given(attrs.output_padding),
          .output_shape = given(attrs.output_shape)};
}

WindowSpec window_spec(std::string_view op, const DeformConvAttrs& attrs) {
  return {.op = op,
          .strides = given(attrs.strides),
          .dilations = given(attrs.dilations),
          .pads = given(attrs.pads)};
}

Window conv_window(std::string_view op, const ConvAttrs& attrs, std::span<const int64_t> x,
                   std::span<const int64_t> w) {
  return make_window(window_spec(op, attrs), spatial(x), spatial(w));
}

Window conv_transpose_window(std::string_view op, const ConvTransposeAttrs& attrs,
                             std::span<const int64_t> x, std::span<const int64_t> w) {
  return make_transposed_window(window_spec(op, attrs), spatial(x), spatial(w));
}

std::span<const OpDef> convolution_ops() {
  return {};
}

}  // namespace sardonyx::ops
