// com.microsoft CropAndResize: its attributes, and where its crops are.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "ir/op_def.h"

namespace sardonyx::ops {

struct CropAttrs {
  float extrapolation_value = 0;
  std::string mode = "bilinear";  // or "nearest"
  static auto fields() {
    return std::tuple{field("extrapolation_value", &CropAttrs::extrapolation_value),
                      field("mode", &CropAttrs::mode)};
  }
};

// The elements of an axis that one row (or column) of a crop is between, and how far it is from
// the first to the second.
struct CropPlace {
  int64_t low, high;
  double ratio;
  bool is_inside;
};
// The place in the image of row `i` of a crop of `size` rows, where the image has `length` rows and
// the box is from `begin` to `end`; columns likewise.
CropPlace crop_place(double begin, double end, int64_t i, int64_t size, int64_t length,
                     bool nearest);
// Throws kInvalidArgument for a crop of no image.
void checked_crop_batch(int64_t index, int64_t batch);

}  // namespace sardonyx::ops
