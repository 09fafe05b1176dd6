#include "providers/cpu/moe/expert_rows_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/moe/expert_rows_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 0.5 x (1 + tanh(u)) = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3)
HWY_INLINE V gelu_by_tanh(V x) {
  const V cubic = hn::MulAdd(hn::Mul(hn::Mul(x, x), set(0.044715f)), x, x);
  return hn::Mul(x, sigmoid(hn::Mul(cubic, set(2 * 0.7978845608f))));
}

template <typename F>
HWY_INLINE void map_expert_row(const float* in, float* out, size_t count, const F& f) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(f(hn::LoadU(d, in + i)), d, out + i);
  if (i < count) store_part(f(load_part(d, in + i, count - i)), d, out + i, count - i);
}

void ExpertActivationRow(ExpertActivation f, const float* in, float* out, size_t count) {
  switch (f) {
    case ExpertActivation::kRelu:
      return map_expert_row(in, out, count, [](V x) HWY_ATTR { return at_least(x, set(0)); });
    case ExpertActivation::kGelu:
      return map_expert_row(in, out, count, [](V x) HWY_ATTR { return gelu_by_tanh(x); });
    case ExpertActivation::kSilu:
      return map_expert_row(in, out, count, [](V x) HWY_ATTR { return hn::Mul(x, sigmoid(x)); });
    case ExpertActivation::kIdentity:
      if (out != in) std::copy_n(in, count, out);
  }
}

HWY_INLINE V swiglu(const ops::SwiGlu& p, V gate, V linear) {
  const V limit = set(p.limit);
  const V g = clipped(gate, set(-HUGE_VALF), limit), l = clipped(linear, hn::Neg(limit), limit);
  return hn::Mul(hn::Mul(g, sigmoid(hn::Mul(set(p.alpha), g))), hn::Add(l, set(p.beta)));
}

void SwigluRow(const ops::SwiGlu& p, const float* gate, const float* linear, float* out,
               size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(swiglu(p, hn::LoadU(d, gate + i), hn::LoadU(d, linear + i)), d, out + i);
  if (i == count) return;
  const V g = load_part(d, gate + i, count - i), l = load_part(d, linear + i, count - i);
  store_part(swiglu(p, g, l), d, out + i, count - i);
}

// Results are written where pairs have been read.
void SwigluPairsRow(const ops::SwiGlu& p, const float* pairs, float* out, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + lanes <= count; i += lanes) {
    V gate, linear;
    hn::LoadInterleaved2(d, pairs + 2 * i, gate, linear);
    hn::StoreU(swiglu(p, gate, linear), d, out + i);
  }
#endif
  HWY_ALIGN float gates[hn::MaxLanes(d)] = {};
  HWY_ALIGN float linears[hn::MaxLanes(d)] = {};
  for (; i < count; i += lanes) {
    const size_t rest = std::min(lanes, count - i);
    for (size_t r = 0; r < rest; ++r) {
      gates[r] = pairs[2 * (i + r)];
      linears[r] = pairs[2 * (i + r) + 1];
    }
    store_part(swiglu(p, hn::Load(d, gates), hn::Load(d, linears)), d, out + i, rest);
  }
}

template <bool kAdds>
void scale_into(float share, const float* in, float* out, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V factor = set(share);
  const auto result = [&](V x, V before) HWY_ATTR {
    return kAdds ? hn::MulAdd(factor, x, before) : hn::Mul(factor, x);
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V before = kAdds ? hn::LoadU(d, out + i) : hn::Zero(d);
    hn::StoreU(result(hn::LoadU(d, in + i), before), d, out + i);
  }
  if (i == count) return;
  const V before = kAdds ? load_part(d, out + i, count - i) : hn::Zero(d);
  store_part(result(load_part(d, in + i, count - i), before), d, out + i, count - i);
}

void SetScaledRow(float share, const float* in, float* out, size_t count) {
  scale_into<false>(share, in, out, count);
}
void AddScaledRow(float share, const float* in, float* out, size_t count) {
  scale_into<true>(share, in, out, count);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(ExpertActivationRow);
HWY_EXPORT(SwigluRow);
HWY_EXPORT(SwigluPairsRow);
HWY_EXPORT(SetScaledRow);
HWY_EXPORT(AddScaledRow);

void expert_activation_row(ExpertActivation f, const float* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(ExpertActivationRow)(f, in, out, count);
}
void swiglu_row(const ops::SwiGlu& params, const float* gate, const float* linear, float* out,
                size_t count) {
  HWY_DYNAMIC_DISPATCH(SwigluRow)(params, gate, linear, out, count);
}
void swiglu_pairs_row(const ops::SwiGlu& params, const float* pairs, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(SwigluPairsRow)(params, pairs, out, count);
}
void set_scaled_row(float share, const float* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(SetScaledRow)(share, in, out, count);
}
void add_scaled_row(float share, const float* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(AddScaledRow)(share, in, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
