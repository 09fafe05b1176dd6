// Slices that are collected one by one and become a tensor in the end: scan outputs.
#pragma once

#include <vector>

#include "ir/tensor.h"
#include "ir/type.h"

namespace sardonyx::ops {

class TensorStack {
 public:
  // Throws kInvalidArgument unless dtype and shape are those of the slices before.
  void add(const Tensor& slice);
  // All slices, one behind the other along a new axis (negative: counted from the end), the last
  // first if `reversed`. Where there are none, `type` tells what they would have been; unknown dims
  // count as 0. The slices are given up.
  Tensor stacked(int64_t axis, bool reversed, const Type& type);

 private:
  std::vector<Tensor> slices_;
};

// Elements [index, index + 1) of `axis`, without that axis. Packed types as well.
Tensor slice_of(const Tensor& tensor, size_t axis, int64_t index);

}  // namespace sardonyx::ops
