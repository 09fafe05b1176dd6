#include "providers/cpu/reduction/top_k_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/reduction/top_k_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;

int64_t FindInRow(const float* row, size_t count, float wanted, bool last) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V sought = hn::Set(d, wanted);
  const bool is_nan = wanted != wanted;
  const auto found = [&](V x) HWY_ATTR { return is_nan ? hn::IsNaN(x) : hn::Eq(x, sought); };
  const auto is_it = [&](size_t i) { return is_nan ? row[i] != row[i] : row[i] == wanted; };
  const size_t whole = count / lanes * lanes;
  if (last) {
    for (size_t i = count; i-- > whole;) {
      if (is_it(i)) return static_cast<int64_t>(i);
    }
    for (size_t i = whole; i > 0; i -= lanes) {
      if (hn::AllFalse(d, found(hn::LoadU(d, row + i - lanes)))) continue;
      for (size_t at = i; at-- > i - lanes;) {
        if (is_it(at)) return static_cast<int64_t>(at);
      }
    }
    return -1;
  }
  for (size_t i = 0; i < whole; i += lanes) {
    const intptr_t first = hn::FindFirstTrue(d, found(hn::LoadU(d, row + i)));
    if (first >= 0) return static_cast<int64_t>(i) + first;
  }
  for (size_t i = whole; i < count; ++i) {
    if (is_it(i)) return static_cast<int64_t>(i);
  }
  return -1;
}

// The order of candidates: NaN precedes every number; of NaNs and of equal numbers the first (or
// the last) one wins.
template <bool kIsMax, bool kLast>
HWY_INLINE hn::Mask<D> comes_before(V x, V best) {
  const auto nan = hn::IsNaN(x), held = hn::IsNaN(best);
  if constexpr (kLast) {
    const auto better = kIsMax ? hn::Ge(x, best) : hn::Le(x, best);
    return hn::Or(nan, better);
  }
  const auto better = kIsMax ? hn::Gt(x, best) : hn::Lt(x, best);
  return hn::Or(better, hn::AndNot(held, nan));
}

template <bool kIsMax, bool kLast>
HWY_INLINE void columns(const float* in, size_t rows, size_t step, size_t width,
                        int64_t* positions) {
  const D d;
  const DI di;
  const size_t lanes = hn::Lanes(d);
  alignas(64) std::array<float, kMaxColumns> best;
  alignas(64) std::array<int32_t, kMaxColumns> at{};
  std::copy_n(in, width, best.begin());
  for (size_t row = 1; row < rows; ++row) {
    const float* from = in + row * step;
    const auto here = hn::Set(di, static_cast<int32_t>(row));
    size_t i = 0;
    for (; i + lanes <= width; i += lanes) {
      const V x = hn::LoadU(d, from + i), held = hn::LoadU(d, best.data() + i);
      const auto before = comes_before<kIsMax, kLast>(x, held);
      hn::StoreU(hn::IfThenElse(before, x, held), d, best.data() + i);
      hn::StoreU(hn::IfThenElse(hn::RebindMask(di, before), here, hn::LoadU(di, at.data() + i)), di,
                 at.data() + i);
    }
    for (; i < width; ++i) {
      const auto before = comes_before<kIsMax, kLast>(hn::Set(d, from[i]), hn::Set(d, best[i]));
      if (hn::AllFalse(d, before)) continue;
      best[i] = from[i];
      at[i] = static_cast<int32_t>(row);
    }
  }
  std::copy_n(at.begin(), width, positions);
}

void FindInColumns(bool is_max, const float* in, size_t rows, size_t step, size_t width, bool last,
                   int64_t* positions) {
  if (is_max) {
    last ? columns<true, true>(in, rows, step, width, positions)
         : columns<true, false>(in, rows, step, width, positions);
  } else {
    last ? columns<false, true>(in, rows, step, width, positions)
         : columns<false, false>(in, rows, step, width, positions);
  }
}

// Inserts an element into the sorted list of candidates, whose last one is dropped.
template <bool kLargest>
HWY_INLINE void put(float x, int64_t position, size_t held, float* values, int64_t* positions) {
  size_t at = held;
  while (at > 0 && (kLargest ? x > values[at - 1] : x < values[at - 1])) {
    values[at] = values[at - 1];
    positions[at] = positions[at - 1];
    --at;
  }
  values[at] = x;
  positions[at] = position;
}

template <bool kLargest>
HWY_INLINE bool top(const float* row, size_t count, size_t wanted, float* values,
                    int64_t* positions) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i < wanted; ++i) {
    if (row[i] != row[i]) return false;
    put<kLargest>(row[i], static_cast<int64_t>(i), i, values, positions);
  }
  const auto take = [&](size_t at) {
    const float x = row[at], least = values[wanted - 1];
    if (kLargest ? x > least : x < least)
      put<kLargest>(x, static_cast<int64_t>(at), wanted - 1, values, positions);
  };
  auto nans = hn::IsNaN(hn::Zero(d));
  for (; i + lanes <= count; i += lanes) {
    const V x = hn::LoadU(d, row + i), least = hn::Set(d, values[wanted - 1]);
    nans = hn::Or(nans, hn::IsNaN(x));
    if (hn::AllFalse(d, kLargest ? hn::Gt(x, least) : hn::Lt(x, least))) continue;
    for (size_t lane = 0; lane < lanes; ++lane)
      take(i + lane);
  }
  for (; i < count; ++i) {
    if (row[i] != row[i]) return false;
    take(i);
  }
  return hn::AllFalse(d, nans);
}

bool TakeTop(const float* row, size_t count, size_t wanted, bool largest, float* values,
             int64_t* positions) {
  return largest ? top<true>(row, count, wanted, values, positions)
                 : top<false>(row, count, wanted, values, positions);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(FindInRow);
HWY_EXPORT(FindInColumns);
HWY_EXPORT(TakeTop);

int64_t find_in_row(const float* row, size_t count, float wanted, bool last) {
  return HWY_DYNAMIC_DISPATCH(FindInRow)(row, count, wanted, last);
}

void find_in_columns(bool is_max, const float* in, size_t rows, size_t step, size_t width,
                     bool last, int64_t* positions) {
  HWY_DYNAMIC_DISPATCH(FindInColumns)(is_max, in, rows, step, width, last, positions);
}

bool take_top(const float* row, size_t count, size_t wanted, bool largest, float* values,
              int64_t* positions) {
  return HWY_DYNAMIC_DISPATCH(TakeTop)(row, count, wanted, largest, values, positions);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
