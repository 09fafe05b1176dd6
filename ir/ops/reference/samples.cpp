#include "ir/ops/reference/samples.h"

#include <limits>

#include "ir/core/dtype_dispatch.h"

namespace sardonyx::ops {
namespace {

template <typename T>
std::vector<T> extremes() {
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity();
  return {0,
          -T{0},
          1,
          -1,
          inf,
          -inf,
          0.5,
          -2.5,
          T(1e10),
          Limits::max(),
          Limits::min(),
          Limits::denorm_min(),
          Limits::lowest(),
          Limits::quiet_NaN()};
}

}  // namespace

SampleInput given(Tensor value) {
  SampleInput input;
  input.value = std::move(value);
  return input;
}

SampleInput given(const std::vector<int64_t>& values) {
  return given(Tensor::vector(values));
}

std::vector<Sample> unary_samples(double low, double high) {
  std::vector<Sample> samples;
  for (const Shape& shape : {Shape{2, 3, 4}, Shape{}, Shape{67}, Shape{3, 0, 2}}) {
    samples.push_back({.inputs = {{.shape = shape, .low = low, .high = high}}});
  }
  return samples;
}

std::vector<Sample> unary_float_samples(double low, double high) {
  std::vector<Sample> samples = unary_samples(low, high);
  for (const DType dtype : {DType::kFloat, DType::kDouble}) {
    samples.push_back({.inputs = {{.value = extreme_floats(dtype)}}, .only = dtype});
  }
  return samples;
}

std::vector<Sample> binary_samples(double low, double high, double low2, double high2) {
  const std::pair<Shape, Shape> shapes[] = {
      {{2, 3, 4}, {2, 3, 4}}, {{2, 3, 4}, {}},  {{}, {3}},        {{}, {}},
      {{2, 1, 4}, {3, 1}},    {{4}, {2, 3, 1}}, {{2, 0}, {2, 1}}, {{1}, {0}},
  };
  std::vector<Sample> samples;
  for (const auto& [a, b] : shapes) {
    samples.push_back({.inputs = {{.shape = a, .low = low, .high = high},
                                  {.shape = b, .low = low2, .high = high2}}});
  }
  return samples;
}

std::vector<Sample> variadic_samples() {
  return {
      {.inputs = {{.shape = {2, 3}}}},
      {.inputs = {{.shape = {2, 3}}, {.shape = {3}}}},
      {.inputs = {{.shape = {}}, {.shape = {2, 1}}, {.shape = {1, 3}}}},
      {.inputs = {{.shape = {2, 3}}, {.shape = {2, 3}}, {.shape = {2, 3}}}},
      {.inputs = {{.shape = {0, 3}}, {.shape = {3}}, {.shape = {1, 1}}}},
  };
}

Tensor extreme_floats(DType dtype) {
  if (dtype == DType::kDouble) return Tensor::vector(extremes<double>());
  return Tensor::vector(extremes<float>());
}

Tensor extreme_integers(DType dtype) {
  return dispatch_ints(dtype, []<typename T>() {
    using Limits = std::numeric_limits<T>;
    return Tensor::vector(std::vector<T>{Limits::min(), static_cast<T>(Limits::min() + 1),
                                         static_cast<T>(-1), 0, 1, 2, Limits::max()});
  });
}

std::vector<Sample> with_attributes(std::vector<Sample> samples, const AttrMap& attributes) {
  for (Sample& sample : samples)
    sample.attrs.insert(attributes.begin(), attributes.end());
  return samples;
}

std::vector<Sample> joined(std::vector<Sample> first, std::vector<Sample> second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace sardonyx::ops
