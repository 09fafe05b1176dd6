#include "providers/cpu/reduction/radix_sort.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/reduction/radix_sort.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Keys of vectors of floats: integers that rise in the order wanted.
struct KeyMaker {
  static constexpr hn::ScalableTag<float> d{};
  static constexpr hn::ScalableTag<uint32_t> du{};
  bool largest;

  HWY_INLINE hn::Vec<hn::ScalableTag<uint32_t>> of(hn::Vec<hn::ScalableTag<float>> x) const {
    const hn::RebindToSigned<decltype(du)> di;
    const auto bits = hn::BitCast(di, hn::Add(x, hn::Zero(d)));  // the zeros are equal
    const auto flips = hn::Or(hn::BroadcastSignBit(bits), hn::Set(di, INT32_MIN));
    const auto nan = hn::RebindMask(di, hn::IsNaN(x));
    const auto rising = hn::IfThenElse(nan, hn::Set(di, -1), hn::Xor(bits, flips));
    return hn::BitCast(du, largest ? hn::Not(rising) : rising);
  }
};

// keys[i] = that of row[i * step], for i < count.
void MakeKeys(const float* row, size_t step, size_t count, bool largest, uint32_t* keys) {
  const KeyMaker maker{largest};
  for (size_t i = 0; i < count; ++i)
    keys[i] = hn::GetLane(maker.of(hn::Set(maker.d, row[i * step])));
}

// Writes the keys up to `limit` and their positions, in the order of the row; returns the number.
// Both arrays have capacity for one vector more.
size_t CollectKeys(const float* row, size_t count, bool largest, uint32_t limit, uint32_t* keys,
                   uint32_t* positions) {
  const KeyMaker maker{largest};
  const auto du = maker.du;
  const size_t lanes = hn::Lanes(du);
  const auto most = hn::Set(du, limit);
  size_t found = 0, i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto key = maker.of(hn::LoadU(maker.d, row + i));
    const auto is_taken = hn::Not(hn::Gt(key, most));
    if (hn::AllFalse(du, is_taken)) continue;
    hn::CompressStore(key, is_taken, du, keys + found);
    found +=
        hn::CompressStore(hn::Iota(du, static_cast<uint32_t>(i)), is_taken, du, positions + found);
  }
  for (; i < count; ++i) {
    keys[found] = hn::GetLane(maker.of(hn::Set(maker.d, row[i])));
    positions[found] = static_cast<uint32_t>(i);
    found += keys[found] <= limit;
  }
  return found;
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(MakeKeys);
HWY_EXPORT(CollectKeys);

namespace {

constexpr size_t kSamples = 512;

// The capacity of an array of `count` elements and one vector more.
size_t padded_count(size_t count) {
  constexpr size_t kPadding = 64;
  return (count / kPadding + 2) * kPadding;
}

// A key that at least the wanted number of elements do not exceed, and not many more.
uint32_t guessed_limit(const float* row, size_t count, size_t wanted, bool largest) {
  const double rank = static_cast<double>(wanted) * kSamples / static_cast<double>(count);
  const auto safe = static_cast<size_t>(rank + 3 * std::sqrt(rank) + 4);
  if (count < 4 * kSamples || safe >= kSamples / 2) return UINT32_MAX;
  std::array<uint32_t, kSamples> samples;
  HWY_DYNAMIC_DISPATCH(MakeKeys)(row, count / kSamples, kSamples, largest, samples.data());
  std::nth_element(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(safe), samples.end());
  return samples[safe];
}

// Stable sort by the upper half. Returns the array with the result; the other one was its
// buffer.
const uint64_t* sort_pairs(uint64_t* pairs, uint64_t* buffer, size_t count) {
  constexpr size_t kFew = 64;  // counting takes longer
  if (count < kFew) {
    std::sort(pairs, pairs + count);  // the lower half rises
    return pairs;
  }
  std::array<std::array<uint32_t, 256>, 4> counts{};
  for (size_t i = 0; i < count; ++i) {
    for (size_t digit = 0; digit < 4; ++digit)
      ++counts[digit][pairs[i] >> (32 + 8 * digit) & 255];
  }
  for (size_t digit = 0; digit < 4; ++digit) {
    auto& places = counts[digit];
    const size_t shift = 32 + 8 * digit;
    if (places[pairs[0] >> shift & 255] == count) continue;  // all have this byte
    uint32_t begin = 0;
    for (uint32_t& place : places)
      begin += std::exchange(place, begin);
    for (size_t i = 0; i < count; ++i)
      buffer[places[pairs[i] >> shift & 255]++] = pairs[i];
    std::swap(pairs, buffer);
  }
  return pairs;
}

}  // namespace

size_t key_order_scratch(size_t count) {
  return padded_count(count) * 2 * (sizeof(uint64_t) + sizeof(uint32_t));
}

void order_by_keys(const float* row, size_t count, size_t wanted, bool largest, std::byte* scratch,
                   int64_t* positions) {
  const size_t buffer = padded_count(count);
  auto* pairs = reinterpret_cast<uint64_t*>(scratch);
  auto* keys = reinterpret_cast<uint32_t*>(pairs + 2 * buffer);
  auto* places = keys + buffer;
  const auto collect = HWY_DYNAMIC_DISPATCH(CollectKeys);
  const uint32_t limit = guessed_limit(row, count, wanted, largest);
  size_t found = collect(row, count, largest, limit, keys, places);
  if (found < wanted) found = collect(row, count, largest, UINT32_MAX, keys, places);
  for (size_t i = 0; i < found; ++i)
    pairs[i] = uint64_t{keys[i]} << 32 | places[i];
  const uint64_t* sorted = sort_pairs(pairs, pairs + buffer, found);
  for (size_t i = 0; i < wanted; ++i)
    positions[i] = static_cast<int64_t>(sorted[i] & UINT32_MAX);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
