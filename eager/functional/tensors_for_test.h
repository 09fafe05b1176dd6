// Tensors of numbers that a test writes out.
#pragma once

#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager {

using Numbers = std::vector<double>;

// Of float32, of the shape, or of rank 1 where none is given.
inline Tensor of(const Numbers& values, const Shape& shape = {}) {
  const std::vector<float> floats(values.begin(), values.end());
  const Shape flat{static_cast<int64_t>(values.size())};
  return Tensor::of(floats, shape.empty() ? flat : shape);
}
inline Tensor ints(const std::vector<int64_t>& values, const Shape& shape = {}) {
  const Shape flat{static_cast<int64_t>(values.size())};
  return Tensor::of(values, shape.empty() ? flat : shape);
}
inline Tensor bools(const std::vector<bool>& values, const Shape& shape = {}) {
  const Shape flat{static_cast<int64_t>(values.size())};
  return Tensor::of(values, shape.empty() ? flat : shape);
}
// 0, 1, 2 ...
inline Tensor counting(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape)
    count *= size;
  Numbers values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>(i));
  return of(values, shape);
}

}  // namespace sardonyx::eager
