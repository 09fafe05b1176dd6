#include "providers/cpu/normalization/softmax_f64_kernel.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/normalization/softmax_f64_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "providers/cpu/simd/clamp-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F64 = hn::ScalableTag<double>;
using VF64 = hn::Vec<F64>;

// exp(x) for x that is not above 0, or NaN. Below -746 it is 0 in float64.
HWY_INLINE VF64 weight_of_f64(VF64 x) {
  const F64 d;
  const VF64 value = hn::Exp(d, at_least(x, hn::Set(d, -746)));
  return hn::IfThenElse(hn::IsNaN(x), x, value);
}

struct WholeF64 {
  HWY_INLINE VF64 load(const double* from) const { return hn::LoadU(F64(), from); }
  HWY_INLINE void store(VF64 v, double* to) const { hn::StoreU(v, F64(), to); }
  HWY_INLINE VF64 with(VF64 v, VF64) const { return v; }
};

// Calls visit(place, i) for each vector from i on; of the last one, places beyond `count` are not
// touched.
template <typename Visit>
HWY_INLINE void for_vectors(size_t count, const Visit& visit) {
  const F64 d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    visit(WholeF64(), i);
  if (i < count) visit(PartialVector<F64>(d, count - i), i);
}

double GreatestF64(const double* in, size_t count) {
  const F64 d;
  const size_t lanes = hn::Lanes(d);
  VF64 most = hn::Set(d, in[0]), other = most;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    most = hn::Max(most, hn::LoadU(d, in + i));
    other = hn::Max(other, hn::LoadU(d, in + i + lanes));
  }
  for_vectors(count - i, [&](const auto& place, size_t k) HWY_ATTR {
    most = place.with(hn::Max(most, place.load(in + i + k)), most);
  });
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(most, other)));
}

double ExponentialsF64(const double* in, double greatest, double* out, size_t count) {
  const F64 d;
  const VF64 shift = hn::Set(d, greatest), zero = hn::Zero(d);
  VF64 sum = zero;
  for_vectors(count, [&](const auto& place, size_t i) HWY_ATTR {
    const VF64 value = weight_of_f64(hn::Sub(place.load(in + i), shift));
    sum = hn::Add(sum, place.with(value, zero));
    if (out) place.store(value, out + i);
  });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void ScaleF64(double* out, double factor, size_t count) {
  const VF64 by = hn::Set(F64(), factor);
  for_vectors(count, [&](const auto& place, size_t i)
                         HWY_ATTR { place.store(hn::Mul(place.load(out + i), by), out + i); });
}

void LogSharesF64(const double* in, double greatest, double log_sum, double* out, size_t count) {
  const VF64 shift = hn::Set(F64(), greatest), log = hn::Set(F64(), log_sum);
  for_vectors(count, [&](const auto& place, size_t i) HWY_ATTR {
    place.store(hn::Sub(hn::Sub(place.load(in + i), shift), log), out + i);
  });
}

void TakeGreatestF64(const double* in, double* greatest, size_t count) {
  for_vectors(count, [&](const auto& place, size_t i) HWY_ATTR {
    place.store(hn::Max(place.load(greatest + i), place.load(in + i)), greatest + i);
  });
}

void AddExponentialsF64(const double* in, const double* greatest, double* sums, double* out,
                        size_t count) {
  for_vectors(count, [&](const auto& place, size_t i) HWY_ATTR {
    const VF64 value = weight_of_f64(hn::Sub(place.load(in + i), place.load(greatest + i)));
    place.store(hn::Add(place.load(sums + i), value), sums + i);
    if (out) place.store(value, out + i);
  });
}

void ScaleEachF64(double* out, const double* factors, size_t count) {
  for_vectors(count, [&](const auto& place, size_t i) HWY_ATTR {
    place.store(hn::Mul(place.load(out + i), place.load(factors + i)), out + i);
  });
}

void LogSharesEachF64(const double* in, const double* greatest, const double* log_sums, double* out,
                      size_t count) {
  for_vectors(count, [&](const auto& place, size_t i) HWY_ATTR {
    const VF64 below = hn::Sub(place.load(in + i), place.load(greatest + i));
    place.store(hn::Sub(below, place.load(log_sums + i)), out + i);
  });
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(GreatestF64);
HWY_EXPORT(ExponentialsF64);
HWY_EXPORT(ScaleF64);
HWY_EXPORT(LogSharesF64);
HWY_EXPORT(TakeGreatestF64);
HWY_EXPORT(AddExponentialsF64);
HWY_EXPORT(ScaleEachF64);
HWY_EXPORT(LogSharesEachF64);

double greatest_f64(const double* in, size_t count) {
  return HWY_DYNAMIC_DISPATCH(GreatestF64)(in, count);
}
double exponentials_f64(const double* in, double greatest, double* out, size_t count) {
  return HWY_DYNAMIC_DISPATCH(ExponentialsF64)(in, greatest, out, count);
}
void scale_f64(double* out, double factor, size_t count) {
  HWY_DYNAMIC_DISPATCH(ScaleF64)(out, factor, count);
}
void log_shares_f64(const double* in, double greatest, double log_sum, double* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(LogSharesF64)(in, greatest, log_sum, out, count);
}
void take_greatest_f64(const double* in, double* greatest, size_t count) {
  HWY_DYNAMIC_DISPATCH(TakeGreatestF64)(in, greatest, count);
}
void add_exponentials_f64(const double* in, const double* greatest, double* sums, double* out,
                          size_t count) {
  HWY_DYNAMIC_DISPATCH(AddExponentialsF64)(in, greatest, sums, out, count);
}
void scale_each_f64(double* out, const double* factors, size_t count) {
  HWY_DYNAMIC_DISPATCH(ScaleEachF64)(out, factors, count);
}
void log_shares_each_f64(const double* in, const double* greatest, const double* log_sums,
                         double* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(LogSharesEachF64)(in, greatest, log_sums, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
