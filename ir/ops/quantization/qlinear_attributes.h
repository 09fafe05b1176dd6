// Attributes of com.microsoft's ops on 8-bit integers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ir/attributes.h"
#include "ir/ops/conv/conv.h"

namespace sardonyx::ops {

// Inputs of MatMulIntegerToFloat, in order.
struct MatMulIntegerToFloatInput {
  enum : size_t { kA, kB, kAScale, kBScale, kAZero, kBZero, kBias };
};

struct QLeakyReluAttrs {
  float alpha = 0.01f;
  static auto fields() { return std::tuple{field("alpha", &QLeakyReluAttrs::alpha)}; }
};

struct QSoftmaxAttrs {
  std::optional<int64_t> axis;  // none: the last from opset 13 on, 1 before
  int64_t opset = 13;
  static auto fields() {
    return std::tuple{field("axis", &QSoftmaxAttrs::axis),
                      required("opset", &QSoftmaxAttrs::opset)};
  }
};

struct QReduceAttrs {
  std::vector<int64_t> axes;
  int64_t keepdims = 1;
  static auto fields() {
    return std::tuple{required("axes", &QReduceAttrs::axes),
                      required("keepdims", &QReduceAttrs::keepdims)};
  }
};

struct QAveragePoolAttrs {
  std::string auto_pad = "NOTSET";
  int64_t ceil_mode = 0, channels_last = 0, count_include_pad = 0;
  std::vector<int64_t> kernel_shape;
  std::optional<std::vector<int64_t>> pads, strides;
  static auto fields() {
    using A = QAveragePoolAttrs;
    return std::tuple{field("auto_pad", &A::auto_pad),
                      field("ceil_mode", &A::ceil_mode),
                      field("channels_last", &A::channels_last),
                      field("count_include_pad", &A::count_include_pad),
                      required("kernel_shape", &A::kernel_shape),
                      field("pads", &A::pads),
                      field("strides", &A::strides)};
  }
};

struct QConvAttrs : ConvAttrs {
  int64_t channels_last = 0;
  static auto fields() {
    return std::tuple_cat(ConvAttrs::fields(),
                          std::tuple{field("channels_last", &QConvAttrs::channels_last)});
  }
};

struct QGlobalAveragePoolAttrs {
  int64_t channels_last = 0;
  static auto fields() {
    return std::tuple{field("channels_last", &QGlobalAveragePoolAttrs::channels_last)};
  }
};

struct QConcatAttrs {
  int64_t axis = 0;
  static auto fields() { return std::tuple{required("axis", &QConcatAttrs::axis)}; }
};

struct QGemmAttrs {
  float alpha = 1;
  bool transA = false, transB = false;
  static auto fields() {
    using A = QGemmAttrs;
    return std::tuple{field("alpha", &A::alpha), field("transA", &A::transA),
                      field("transB", &A::transB)};
  }
};

}  // namespace sardonyx::ops
