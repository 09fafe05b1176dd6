// Attributes of the pools and the windows that they stand for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/attributes.h"
#include "ir/ops/conv/window.h"

namespace sardonyx::ops {

// Attributes that AveragePool, MaxPool and LpPool share.
struct PoolAttrs {
  std::string auto_pad = "NOTSET";
  bool ceil_mode = false;
  OptionalInts dilations;
  std::vector<int64_t> kernel_shape;
  OptionalInts pads;
  OptionalInts strides;
  static auto fields() {
    return std::tuple{field("auto_pad", &PoolAttrs::auto_pad),
                      field("ceil_mode", &PoolAttrs::ceil_mode),
                      field("dilations", &PoolAttrs::dilations),
                      required("kernel_shape", &PoolAttrs::kernel_shape),
                      field("pads", &PoolAttrs::pads),
                      field("strides", &PoolAttrs::strides)};
  }
};

struct AveragePoolAttrs : PoolAttrs {
  bool count_include_pad = false;
  static auto fields() {
    return std::tuple_cat(
        PoolAttrs::fields(),
        std::tuple{field("count_include_pad", &AveragePoolAttrs::count_include_pad)});
  }
};

struct MaxPoolAttrs : PoolAttrs {
  int64_t storage_order = 0;  // of the indices: 0 row-major, 1 column-major
  static auto fields() {
    return std::tuple_cat(PoolAttrs::fields(),
                          std::tuple{field("storage_order", &MaxPoolAttrs::storage_order)});
  }
};

struct LpPoolAttrs : PoolAttrs {
  int64_t p = 2;
  static auto fields() {
    return std::tuple_cat(PoolAttrs::fields(), std::tuple{field("p", &LpPoolAttrs::p)});
  }
};

struct GlobalLpPoolAttrs {
  int64_t p = 2;
  static auto fields() { return std::tuple{field("p", &GlobalLpPoolAttrs::p)}; }
};

struct MaxUnpoolAttrs {
  std::vector<int64_t> kernel_shape;
  OptionalInts pads;
  OptionalInts strides;
  static auto fields() {
    return std::tuple{required("kernel_shape", &MaxUnpoolAttrs::kernel_shape),
                      field("pads", &MaxUnpoolAttrs::pads),
                      field("strides", &MaxUnpoolAttrs::strides)};
  }
};

struct MaxRoiPoolAttrs {
  std::vector<int64_t> pooled_shape;
  float spatial_scale = 1;
  static auto fields() {
    return std::tuple{required("pooled_shape", &MaxRoiPoolAttrs::pooled_shape),
                      field("spatial_scale", &MaxRoiPoolAttrs::spatial_scale)};
  }
};

struct RoiAlignAttrs {
  std::string coordinate_transformation_mode = "half_pixel";  // half_pixel, output_half_pixel
  std::string mode = "avg";                                   // avg, max
  int64_t output_height = 1;
  int64_t output_width = 1;
  int64_t sampling_ratio = 0;
  float spatial_scale = 1;
  static auto fields() {
    return std::tuple{
        field("coordinate_transformation_mode", &RoiAlignAttrs::coordinate_transformation_mode),
        field("mode", &RoiAlignAttrs::mode),
        field("output_height", &RoiAlignAttrs::output_height),
        field("output_width", &RoiAlignAttrs::output_width),
        field("sampling_ratio", &RoiAlignAttrs::sampling_ratio),
        field("spatial_scale", &RoiAlignAttrs::spatial_scale)};
  }
};

// `op` names the node's op in messages. Refers to `attrs`, which must outlive it.
WindowSpec window_spec(std::string_view op, const PoolAttrs& attrs);

// The windows of a pool over X [N, C, spatial...]; the shape must have passed the row's inference.
Window pool_window(std::string_view op, const PoolAttrs& attrs, std::span<const int64_t> x);
// How many taps of window `output` of `axis` are inside the input, or, `with_pads`, inside the
// input and its padding. Those that ceil_mode puts beyond count for nothing.
int64_t counted_taps(const Window& window, size_t axis, int64_t output, bool with_pads);
// One window over all of X.
Window global_window(std::span<const int64_t> x);
// A window with no tap inside the input has no maximum and no average. Millions of windows that
// begin before the input are not all looked at.
bool may_have_empty_window(const Window& window);

}  // namespace sardonyx::ops
