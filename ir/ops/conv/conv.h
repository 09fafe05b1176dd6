// Attributes of the convolutions and the windows that they stand for.
#pragma once

#include <string>
#include <tuple>

#include "ir/attributes.h"
#include "ir/core/tensor.h"
#include "ir/ops/conv/window.h"

namespace sardonyx::ops {

// Conv, ConvInteger and QLinearConv.
struct ConvAttrs {
  std::string auto_pad = "NOTSET";
  OptionalInts dilations;
  int64_t group = 1;
  OptionalInts kernel_shape;
  OptionalInts pads;
  OptionalInts strides;
  static auto fields() {
    return std::tuple{
        field("auto_pad", &ConvAttrs::auto_pad), field("dilations", &ConvAttrs::dilations),
        field("group", &ConvAttrs::group),       field("kernel_shape", &ConvAttrs::kernel_shape),
        field("pads", &ConvAttrs::pads),         field("strides", &ConvAttrs::strides)};
  }
};

struct ConvTransposeAttrs {
  std::string auto_pad = "NOTSET";
  OptionalInts dilations;
  int64_t group = 1;
  OptionalInts kernel_shape;
  OptionalInts output_padding;
  OptionalInts output_shape;
  OptionalInts pads;
  OptionalInts strides;
  static auto fields() {
    return std::tuple{field("auto_pad", &ConvTransposeAttrs::auto_pad),
                      field("dilations", &ConvTransposeAttrs::dilations),
                      field("group", &ConvTransposeAttrs::group),
                      field("kernel_shape", &ConvTransposeAttrs::kernel_shape),
                      field("output_padding", &ConvTransposeAttrs::output_padding),
                      field("output_shape", &ConvTransposeAttrs::output_shape),
                      field("pads", &ConvTransposeAttrs::pads),
                      field("strides", &ConvTransposeAttrs::strides)};
  }
};

struct DeformConvAttrs {
  OptionalInts dilations;
  int64_t group = 1;
  OptionalInts kernel_shape;
  int64_t offset_group = 1;
  OptionalInts pads;
  OptionalInts strides;
  static auto fields() {
    return std::tuple{field("dilations", &DeformConvAttrs::dilations),
                      field("group", &DeformConvAttrs::group),
                      field("kernel_shape", &DeformConvAttrs::kernel_shape),
                      field("offset_group", &DeformConvAttrs::offset_group),
                      field("pads", &DeformConvAttrs::pads),
                      field("strides", &DeformConvAttrs::strides)};
  }
};

struct Col2ImAttrs {
  OptionalInts dilations;
  OptionalInts pads;
  OptionalInts strides;
  static auto fields() {
    return std::tuple{field("dilations", &Col2ImAttrs::dilations),
                      field("pads", &Col2ImAttrs::pads), field("strides", &Col2ImAttrs::strides)};
  }
};

struct CausalConvAttrs {
  std::string activation = "none";  // none, silu, swish
  static auto fields() { return std::tuple{field("activation", &CausalConvAttrs::activation)}; }
};

// `op` names the node's op in messages. They refer to `attrs`, which must outlive them.
WindowSpec window_spec(std::string_view op, const ConvAttrs& attrs);
WindowSpec window_spec(std::string_view op, const ConvTransposeAttrs& attrs);
WindowSpec window_spec(std::string_view op, const DeformConvAttrs& attrs);
WindowSpec window_spec(std::string_view op, const Col2ImAttrs& attrs);

// The windows of a call with inputs of these shapes: X [N, C, spatial...], W [M, C/group,
// kernel...] (for ConvTranspose [C, M/group, kernel...]). The shapes must have passed the row's
// inference.
Window conv_window(std::string_view op, const ConvAttrs& attrs, std::span<const int64_t> x,
                   std::span<const int64_t> w);
Window conv_transpose_window(std::string_view op, const ConvTransposeAttrs& attrs,
                             std::span<const int64_t> x, std::span<const int64_t> w);

}  // namespace sardonyx::ops
