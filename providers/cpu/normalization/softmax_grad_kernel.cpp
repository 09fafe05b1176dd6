#include "providers/cpu/normalization/softmax_grad_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/normalization/softmax_grad_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "providers/cpu/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The sum of d * y of whole vectors and of what is left beside them.
HWY_INLINE float product_sum(const float* d, const float* y, size_t count) {
  const D tag;
  const size_t lanes = hn::Lanes(tag);
  V even = hn::Zero(tag), odd = even;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(tag, d + i), hn::LoadU(tag, y + i), even);
    odd = hn::MulAdd(hn::LoadU(tag, d + i + lanes), hn::LoadU(tag, y + i + lanes), odd);
  }
  float rest = 0;
  for (; i < count; ++i)
    rest += d[i] * y[i];
  return hn::GetLane(hn::SumOfLanes(tag, hn::Add(even, odd))) + rest;
}

void SoftmaxGradRow(const float* d, const float* y, float* out, size_t count) {
  constexpr size_t kBlock = 2048;  // elements summed in single precision
  double total = 0;
  for (size_t begin = 0; begin < count; begin += kBlock)
    total += double{product_sum(d + begin, y + begin, std::min(kBlock, count - begin))};
  const auto sum = static_cast<float>(total);
  const D tag;
  const size_t lanes = hn::Lanes(tag);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V part = hn::Sub(hn::LoadU(tag, d + i), set(sum));
    hn::StoreU(hn::Mul(hn::LoadU(tag, y + i), part), tag, out + i);
  }
  for (; i < count; ++i)
    out[i] = y[i] * (d[i] - sum);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(SoftmaxGradRow);

void softmax_grad_row(const float* d, const float* y, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(SoftmaxGradRow)(d, y, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
