#include "providers/cpu/ml/svm_kernel.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/ml/svm_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// base^degree for a whole degree from 0 on.
HWY_INLINE V whole_power(V base, int degree) {
  V power = set(1);
  for (; degree > 0; degree /= 2) {
    if (degree % 2 == 1) power = hn::Mul(power, base);
    base = hn::Mul(base, base);
  }
  return power;
}

HWY_INLINE V finished(const VectorKernelForm& f, V sum) {
  if (f.kind == VectorKernel::kRadial) return exp_of(hn::Mul(sum, set(-f.gamma)));
  if (f.kind == VectorKernel::kLinear) return sum;
  const V argument = hn::MulAdd(sum, set(f.gamma), set(f.coef0));
  if (f.kind == VectorKernel::kSigmoid) return tanh_of(argument);
  constexpr float kMaxWhole = 64;
  if (f.degree >= 0 && f.degree <= kMaxWhole && f.degree == std::floor(f.degree))
    return whole_power(argument, static_cast<int>(f.degree));
  HWY_ALIGN float values[hn::MaxLanes(D())];
  hn::Store(argument, D(), values);
  for (size_t i = 0; i < hn::Lanes(D()); ++i)
    values[i] = std::pow(values[i], f.degree);
  return hn::Load(D(), values);
}

void VectorKernelRow(const VectorKernelForm& form, const float* x, size_t features,
                     const float* vectors, size_t columns, float* out) {
  constexpr size_t kAccumulators = 4;
  const D d;
  const size_t lanes = hn::Lanes(d);
  for (size_t column = 0; column < columns; column += kAccumulators * lanes) {
    V sums[kAccumulators];
    for (V& sum : sums)
      sum = hn::Zero(d);
    for (size_t feature = 0; feature < features; ++feature) {
      const float* row = vectors + feature * columns + column;
      const V value = set(x[feature]);
      for (size_t k = 0; k < kAccumulators; ++k) {
        const V other = hn::LoadU(d, row + k * lanes);
        if (form.kind == VectorKernel::kRadial) {
          const V difference = hn::Sub(value, other);
          sums[k] = hn::MulAdd(difference, difference, sums[k]);
        } else {
          sums[k] = hn::MulAdd(value, other, sums[k]);
        }
      }
    }
    for (size_t k = 0; k < kAccumulators; ++k)
      hn::StoreU(finished(form, sums[k]), d, out + column + k * lanes);
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(VectorKernelRow);

void vector_kernel_row(const VectorKernelForm& form, const float* x, size_t features,
                       const float* vectors, size_t columns, float* out) {
  HWY_DYNAMIC_DISPATCH(VectorKernelRow)(form, x, features, vectors, columns, out);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
