// Sample sets that many rows share: plain shapes, rank 0, empty tensors, broadcasting and extreme
// values.
#pragma once

#include <utility>
#include <vector>

#include "ir/op_def.h"

namespace sardonyx::ops {

// One input of values in [low, high], in several shapes.
std::vector<Sample> unary_samples(double low = -2, double high = 2);
// The same, and one sample of zeros, infinities, NaN, the largest and the smallest numbers.
std::vector<Sample> unary_float_samples(double low = -2, double high = 2);
// Two inputs of values in the given ranges, in shapes that broadcast either way.
std::vector<Sample> binary_samples(double low = -2, double high = 2, double low2 = -2,
                                   double high2 = 2);
// One to three inputs for variadic rows.
std::vector<Sample> variadic_samples();

// An input of these very values, in one dimension if no shape is given.
SampleInput given(Tensor value);
SampleInput given(const std::vector<int64_t>& values);
template <typename T = int64_t>
SampleInput given(const std::vector<T>& values, Shape shape) {
  return given(Tensor::of(values, std::move(shape)));
}

// Zeros of both signs, ones, infinities, NaN, the largest, smallest normal and smallest numbers of
// float or double.
Tensor extreme_floats(DType dtype);
// The least, the greatest and the numbers around zero of an integer type of up to 64 bits.
Tensor extreme_integers(DType dtype);

// All samples with these attributes as well.
std::vector<Sample> with_attributes(std::vector<Sample> samples, const AttrMap& attributes);
std::vector<Sample> joined(std::vector<Sample> first, std::vector<Sample> second);

}  // namespace sardonyx::ops
