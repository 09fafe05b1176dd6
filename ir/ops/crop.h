// Attributes of com.microsoft CropAndResize.
#pragma once

#include <string>
#include <tuple>

#include "ir/op.h"

namespace sardonyx::ops {

struct CropAttrs {
  float extrapolation_value = 0;
  std::string mode = "bilinear";  // or "nearest"
  static auto fields() {
    return std::tuple{field("extrapolation_value", &CropAttrs::extrapolation_value),
                      field("mode", &CropAttrs::mode)};
  }
};

}  // namespace sardonyx::ops
