#include <algorithm>

#include "ir/core/bools.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ir/core/bools_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<uint8_t>;

// The bits that any of the bytes has.
uint8_t bits_of(const uint8_t* from, size_t count) {
  constexpr size_t kVectors = 4;  // that do not wait for one another
  const Bytes d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  size_t i = 0;
  for (; i + kVectors * lanes <= count; i += kVectors * lanes) {
    a = hn::Or(a, hn::LoadU(d, from + i));
    b = hn::Or(b, hn::LoadU(d, from + i + lanes));
    c = hn::Or(c, hn::LoadU(d, from + i + 2 * lanes));
    e = hn::Or(e, hn::LoadU(d, from + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes)
    a = hn::Or(a, hn::LoadU(d, from + i));
  HWY_ALIGN uint8_t lane_bits[hn::MaxLanes(d)];
  hn::Store(hn::Or(hn::Or(a, b), hn::Or(c, e)), d, lane_bits);
  uint8_t bits = 0;
  for (size_t lane = 0; lane < lanes; ++lane)
    bits |= lane_bits[lane];
  for (; i < count; ++i)
    bits |= from[i];
  return bits;
}

bool AreNormalBools(const uint8_t* from, size_t count) {
  constexpr size_t kPart = 1 << 14;  // a byte that is odd ends the search behind its part
  for (size_t begin = 0; begin < count; begin += kPart) {
    if (bits_of(from + begin, std::min(count - begin, kPart)) > 1) return false;
  }
  return true;
}

void NormalizeBools(const uint8_t* from, uint8_t* to, size_t count) {
  const Bytes d;
  const size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, 1);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Min(hn::LoadU(d, from + i), one), d, to + i);
  for (; i < count; ++i)
    to[i] = from[i] != 0;
}

}  // namespace sardonyx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx {

HWY_EXPORT(AreNormalBools);
HWY_EXPORT(NormalizeBools);

bool are_normal_bools(const void* bytes, size_t count) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  return !from || HWY_DYNAMIC_DISPATCH(AreNormalBools)(from, count);
}

void normalize_bools(const void* from, void* to, size_t count) {
  HWY_DYNAMIC_DISPATCH(NormalizeBools)
  (static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to), count);
}

}  // namespace sardonyx
#endif  // HWY_ONCE
