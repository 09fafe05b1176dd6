#include "providers/cpu/gemm/gemv_f32.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/gemm/gemv_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/register_hint-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `weights` as float.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* weights) {
  return hn::LoadU(d, weights);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const BFloat16* weights) {
  const hn::RebindToUnsigned<D> wide;
  const hn::Rebind<uint16_t, D> narrow;
  const auto bits = hn::LoadU(narrow, reinterpret_cast<const uint16_t*>(weights));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, bits)));
}

// The first `count`, less than a vector, and zeros behind them.
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const float* weights, size_t count) {
  return load_part(d, weights, count);
}
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const BFloat16* weights, size_t count) {
  BFloat16 values[hn::MaxLanes(D())] = {};
  std::copy_n(weights, count, values);
  return load(d, values);
}

// Rows of `a` in one pass over b; further rows find b in the caches.
constexpr size_t kRowsAtOnce = 4;
// Rows of b that are read in parallel, a vector of each in turn, for this many rows of `a`: as many
// streams as the hardware prefetcher follows and as an L1 cache has ways. The elements of `a` stay
// in registers, besides one vector of b and one sum for each row.
constexpr size_t depth_at_once(size_t rows) {
  return std::min<size_t>(8, (kRegisters - 2 - rows) / rows);
}
// The outputs of this many columns stay in an L2 cache until the next rows of b are read.
constexpr size_t kSumsAtOnce = size_t{1} << 16;
// From this size on b is likely to be in memory, not in a cache, and the rows that are read next
// need a software prefetch: the hardware prefetches the rest of a row, but no other row. Below this
// size only the beginnings of rows are prefetched.
constexpr size_t kMinFetched = size_t{1} << 19;
constexpr size_t kFetchedBeginning = 128;
// The next rows of wider matrices do not fit that cache.
constexpr size_t kMaxFetched = 8192;

// Adds a[row + r][k] * b[k][column] for first <= k < first + kDepth to the sums in `out`, which
// begin with k = 0, for columns from `column` on as far as whole vectors reach. Returns where they
// end. With `fetches` the same columns of the rows that are read next are prefetched.
template <size_t kRows, size_t kDepth, bool fetches, class D, typename Weight>
HWY_INLINE size_t add_products(D d, const GemvArgs<Weight>& p, size_t row, size_t first,
                               size_t column, size_t end) {
  // Few sums start anew each time, so that a chain of additions need not wait for the last one.
  constexpr bool kAnew = kRows <= 2;
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(d);
  if (column + lanes > end) return column;
  const float* a = p.a + row * p.a_step + first;
  V x[kRows * kDepth];
#pragma GCC unroll 32  // or they are elements of an array in memory
  for (size_t i = 0; i < kRows * kDepth; ++i) {
    x[i] = in_register(hn::Set(d, a[i / kDepth * p.a_step + i % kDepth]));
  }
  const Weight* b = p.b + first * p.b_step;
  float* out = p.out + row * p.out_step;
  const bool is_begun = first > 0;
  for (; column + lanes <= end; column += lanes) {
    float* to[kRows];
    V sums[kRows];
    for (size_t r = 0; r < kRows; ++r) {
      to[r] = out + r * p.out_step + column;
      sums[r] = is_begun && !kAnew ? hn::LoadU(d, to[r]) : hn::Zero(d);
    }
    for (size_t k = 0; k < kDepth; ++k) {
      if constexpr (fetches) __builtin_prefetch(b + (kDepth + k) * p.b_step + column, 0, 2);
      V weights = load(d, b + k * p.b_step + column);
      if constexpr (kRows > 1) weights = in_register(weights);
      // Written out, since gcc leaves arrays in memory that loops within loops go through.
      sums[0] = hn::MulAdd(x[k], weights, sums[0]);
      if constexpr (kRows > 1) sums[1] = hn::MulAdd(x[kDepth + k], weights, sums[1]);
      if constexpr (kRows > 2) sums[2] = hn::MulAdd(x[2 * kDepth + k], weights, sums[2]);
      if constexpr (kRows > 3) sums[3] = hn::MulAdd(x[3 * kDepth + k], weights, sums[3]);
    }
    for (size_t r = 0; r < kRows; ++r) {
      if (is_begun && kAnew) sums[r] = hn::Add(hn::LoadU(d, to[r]), sums[r]);
      hn::StoreU(sums[r], d, to[r]);
    }
  }
  return column;
}

// Adds for all columns, the remainder included.
template <size_t kRows, size_t kDepth, typename Weight>
HWY_INLINE void add_rows(const GemvArgs<Weight>& p, size_t row, size_t first, size_t column,
                         size_t end, size_t fetched) {
  const hn::ScalableTag<float> whole;
  const hn::CappedTag<float, 8> half;
  const hn::CappedTag<float, 4> small;
  const hn::CappedTag<float, 1> single;
  if constexpr (kDepth > 1) {
    column =
        add_products<kRows, kDepth, true>(whole, p, row, first, column, std::min(end, fetched));
  }
  column = add_products<kRows, kDepth, false>(whole, p, row, first, column, end);
  column = add_products<kRows, kDepth, false>(half, p, row, first, column, end);
  column = add_products<kRows, kDepth, false>(small, p, row, first, column, end);
  add_products<kRows, kDepth, false>(single, p, row, first, column, end);
}

// Calls group(number of rows, first row) for all rows.
template <typename Group>
HWY_INLINE void in_groups(size_t rows, const Group& group) {
  size_t row = 0;
  for (; row + kRowsAtOnce <= rows; row += kRowsAtOnce)
    group(std::integral_constant<size_t, kRowsAtOnce>(), row);
  switch (rows - row) {
    case 3:
      return group(std::integral_constant<size_t, 3>(), row);
    case 2:
      return group(std::integral_constant<size_t, 2>(), row);
    case 1:
      return group(std::integral_constant<size_t, 1>(), row);
    default:
      return;
  }
}

// For kRows rows of `a`, or at least as many if they are kRowsAtOnce: all of them go through the
// same rows of b before others are read.
template <size_t kRows, typename Weight>
HWY_INLINE void multiply_rows(const GemvArgs<Weight>& p) {
  constexpr size_t kDepthPerPass = depth_at_once(kRows);
  const size_t wide = std::max<size_t>(1, kSumsAtOnce / p.rows);
  const bool fetches = p.depth * p.columns >= kMinFetched && p.columns <= kMaxFetched;
  for (size_t begin = 0; begin < p.columns; begin += wide) {
    const size_t end = std::min(p.columns, begin + wide);
    const size_t fetched = fetches ? end : begin + kFetchedBeginning;
    for (size_t k = 0; k < p.depth;) {
      const bool is_whole = k + kDepthPerPass <= p.depth;
      const auto add = [&](auto rows, size_t row) HWY_ATTR {
        constexpr size_t kGroup = decltype(rows)::value;
        if (is_whole)
          add_rows<kGroup, kDepthPerPass>(p, row, k, begin, end, row == 0 ? fetched : 0);
        else
          add_rows<kGroup, 1>(p, row, k, begin, end, 0);
      };
      if constexpr (kRows < kRowsAtOnce)
        add(std::integral_constant<size_t, kRows>(), 0);
      else
        in_groups(p.rows, add);
      k += is_whole ? kDepthPerPass : 1;
    }
  }
}

// True if reading row after row is fastest, as on AMD's CPUs with an early prefetch (Zen 5: 20 %
// more bandwidth than rows in parallel).
#if HWY_ARCH_X86
const bool kReadsRowByRow = __builtin_cpu_is("amd");
#else
constexpr bool kReadsRowByRow = false;
#endif
// The prefetch distance in elements; sums of more columns do not fit an L1 cache.
constexpr size_t kElementsAhead = 2048, kMaxColumns = 8192;

// x * b[i] + from[i], plus before[i] where given, for i < count as far as whole vectors reach;
// `from` may be null. Returns the end.
template <class D, typename Weight>
HWY_INLINE size_t scale_row(D d, float x, const Weight* b, const float* from, const float* before,
                            float* to, size_t i, size_t count) {
  const size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, x);
  for (; i + lanes <= count; i += lanes) {
    __builtin_prefetch(b + kElementsAhead + i, 0, 3);
    auto sum = hn::MulAdd(factor, load(d, b + i), from ? hn::LoadU(d, from + i) : hn::Zero(d));
    if (before) sum = hn::Add(hn::LoadU(d, before + i), sum);
    hn::StoreU(sum, d, to + i);
  }
  return i;
}

// For one row of `a` and contiguous rows of b: bit for bit the sums of multiply_rows over as many
// rows of b.
template <typename Weight>
void multiply_row(const GemvArgs<Weight>& p) {
  constexpr size_t kDepthPerPass = depth_at_once(1);
  const hn::ScalableTag<float> whole;
  const hn::CappedTag<float, 4> small;
  const hn::CappedTag<float, 1> single;
  HWY_ALIGN float sums[kMaxColumns];
  for (size_t first = 0; first < p.depth;) {
    const size_t rows = first + kDepthPerPass <= p.depth ? kDepthPerPass : 1;
    for (size_t k = first; k < first + rows; ++k) {
      const Weight* b = p.b + k * p.columns;
      const bool is_last = k + 1 == first + rows;
      const float* from = k > first ? sums : nullptr;
      const float* before = is_last && first > 0 ? p.out : nullptr;
      float* to = is_last ? p.out : sums;
      size_t i = scale_row(whole, p.a[k], b, from, before, to, 0, p.columns);
      i = scale_row(small, p.a[k], b, from, before, to, i, p.columns);
      scale_row(single, p.a[k], b, from, before, to, i, p.columns);
    }
    first += rows;
  }
}

template <typename Weight>
void multiply(const GemvArgs<Weight>& p) {
  switch (p.rows) {
    case 1:
      if (kReadsRowByRow && p.columns == p.b_step && p.columns <= kMaxColumns &&
          p.depth * p.columns >= kMinFetched)
        return multiply_row(p);
      return multiply_rows<1>(p);
    case 2:
      return multiply_rows<2>(p);
    case 3:
      return multiply_rows<3>(p);
    default:
      return multiply_rows<kRowsAtOnce>(p);
  }
}

#if HWY_TARGET == HWY_SCALAR
template <size_t kCount, class D>
HWY_INLINE void store_sums_of_lanes(D, const hn::Vec<D>* sums, float* to) {
  for (size_t i = 0; i < kCount; ++i)
    to[i] = hn::GetLane(sums[i]);
}
#else
// The sums of the blocks of 4 lanes that `v` has.
template <class D>
HWY_INLINE auto sum_of_blocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// to[i] = the sum of the lanes of sums[i], in the same order for each: as they are exchanged all of
// them take hardly longer than one.
template <size_t kCount, class D>
HWY_INLINE void store_sums_of_lanes(D d, const hn::Vec<D>* sums, float* to) {
  static_assert(kCount <= 4);
  const hn::CappedTag<float, 4> block;
  const hn::Repartition<uint64_t, D> pairs;
  const auto folded = [&](size_t i) HWY_ATTR {
    const auto first = i < kCount ? sums[i] : hn::Zero(d);
    const auto second = i + 1 < kCount ? sums[i + 1] : hn::Zero(d);
    const auto both =
        hn::Add(hn::InterleaveLower(d, first, second), hn::InterleaveUpper(d, first, second));
    return hn::BitCast(pairs, both);
  };
  const auto left = folded(0), right = folded(2);
  const auto of_blocks = hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, left, right)),
                                 hn::BitCast(d, hn::InterleaveUpper(pairs, left, right)));
  const auto totals = sum_of_blocks(d, of_blocks);
  if constexpr (kCount == 4)
    hn::StoreU(totals, block, to);
  else
    store_part(totals, block, to, kCount);
}
#endif

constexpr size_t kColumnsAhead = 4;

// Dot products of some rows of a with some rows of b. `fetched` is the number of elements that are
// prefetched of each row kColumnsAhead later.
template <size_t kRows, size_t kColumns, bool fetches, class D, typename Weight>
HWY_INLINE void dots(D d, const GemvArgs<Weight>& p, size_t row, size_t column, size_t fetched) {
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(d);
  const float* a = p.a + row * p.a_step;
  const Weight* b = p.b + column * p.b_step;
  V sums[kRows * kColumns], x[kRows], weights[kColumns];
  for (size_t i = 0; i < kRows * kColumns; ++i)
    sums[i] = hn::Zero(d);
  size_t k = 0;
  for (; k + lanes <= p.depth; k += lanes) {
    for (size_t r = 0; r < kRows; ++r) {
      const V loaded = hn::LoadU(d, a + r * p.a_step + k);
      x[r] = kColumns > 1 ? in_register(loaded) : loaded;
    }
    for (size_t c = 0; c < kColumns; ++c) {
      const Weight* from = b + c * p.b_step + k;
      if (fetches && k < fetched) __builtin_prefetch(from + kColumnsAhead * p.b_step, 0, 2);
      const V loaded = load(d, from);
      weights[c] = kRows > 1 ? in_register(loaded) : loaded;
    }
    // One loop, since gcc leaves arrays in memory that loops within loops go through.
    for (size_t i = 0; i < kRows * kColumns; ++i)
      sums[i] = hn::MulAdd(x[i / kColumns], weights[i % kColumns], sums[i]);
  }
  if (const size_t rest = p.depth - k; rest > 0) {
    for (size_t r = 0; r < kRows; ++r)
      x[r] = load_part(d, a + r * p.a_step + k, rest);
    for (size_t c = 0; c < kColumns; ++c)
      weights[c] = load_first(d, b + c * p.b_step + k, rest);
    for (size_t i = 0; i < kRows * kColumns; ++i)
      sums[i] = hn::MulAdd(x[i / kColumns], weights[i % kColumns], sums[i]);
  }
  for (size_t r = 0; r < kRows; ++r)
    store_sums_of_lanes<kColumns>(d, sums + r * kColumns, p.out + (row + r) * p.out_step + column);
}

template <size_t kColumns, bool fetches, class D, typename Weight>
HWY_INLINE size_t all_dots(D d, const GemvArgs<Weight>& p, size_t column, size_t fetched) {
  for (; column + kColumns <= p.columns; column += kColumns) {
    in_groups(p.rows, [&](auto rows, size_t row) HWY_ATTR {
      dots<decltype(rows)::value, kColumns, fetches>(d, p, row, column, fetched);
    });
  }
  return column;
}

// Elements of a row of b that are asked for so far ahead, which is in the next rows at its end.
constexpr size_t kDotAhead = 2048;

// For one row of `a` alone: memory gives one row of b after the other fastest. Several sums, so
// that none waits for the last product.
template <typename Weight>
void multiply_row_transposed(const GemvArgs<Weight>& p) {
  constexpr size_t kSums = 4;
  const hn::ScalableTag<float> d;
  using V = hn::Vec<hn::ScalableTag<float>>;
  const size_t lanes = hn::Lanes(d), step = kSums * lanes;
  for (size_t column = 0; column < p.columns; ++column) {
    const Weight* b = p.b + column * p.b_step;
    V sums[kSums] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    size_t k = 0;
    for (; k + step <= p.depth; k += step) {
#pragma GCC unroll 4
      for (size_t i = 0; i < kSums; ++i) {
        __builtin_prefetch(b + k + i * lanes + kDotAhead, 0, 3);
        sums[i] =
            hn::MulAdd(hn::LoadU(d, p.a + k + i * lanes), load(d, b + k + i * lanes), sums[i]);
      }
    }
    V total = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
    for (; k + lanes <= p.depth; k += lanes)
      total = hn::MulAdd(hn::LoadU(d, p.a + k), load(d, b + k), total);
    if (const size_t rest = p.depth - k; rest > 0)
      total = hn::MulAdd(load_part(d, p.a + k, rest), load_first(d, b + k, rest), total);
    store_sums_of_lanes<1>(d, &total, p.out + column);
  }
}

// D has the lanes that rows of b are gone through with.
template <class D, typename Weight>
HWY_INLINE void multiply_transposed_by(D d, const GemvArgs<Weight>& p, bool is_large) {
  constexpr size_t kDepthPerPass = kRegisters / 2 / kRowsAtOnce;
  const size_t column = is_large ? all_dots<kDepthPerPass, true>(d, p, 0, p.depth)
                                 : all_dots<kDepthPerPass, false>(d, p, 0, 0);
  all_dots<1, true>(d, p, column, kFetchedBeginning / 2);
}

template <typename Weight>
void multiply_transposed(const GemvArgs<Weight>& p) {
  constexpr size_t kFew = 8;
  const bool is_large = p.depth * std::max(p.columns, p.all_columns) >= kMinFetched;
  if (p.depth <= kFew) return multiply_transposed_by(hn::CappedTag<float, kFew>(), p, is_large);
  if (p.rows == 1 && is_large) return multiply_row_transposed(p);
  multiply_transposed_by(hn::ScalableTag<float>(), p, is_large);
}

void Gemv(const GemvArgs<float>& p) {
  multiply(p);
}
void GemvBf16(const GemvArgs<BFloat16>& p) {
  multiply(p);
}
void GemvTransposed(const GemvArgs<float>& p) {
  multiply_transposed(p);
}
void GemvTransposedBf16(const GemvArgs<BFloat16>& p) {
  multiply_transposed(p);
}

void ScaleAndAdd(float* out, size_t count, float alpha, const float* addend, bool addend_steps,
                 float beta) {
  const auto scale = [&](auto d, size_t i) HWY_ATTR {
    const auto given = addend_steps ? hn::LoadU(d, addend + i) : hn::Set(d, addend[0]);
    const auto added = hn::Mul(given, hn::Set(d, beta));
    hn::StoreU(hn::MulAdd(hn::LoadU(d, out + i), hn::Set(d, alpha), added), d, out + i);
  };
  const hn::ScalableTag<float> whole;
  const hn::CappedTag<float, 1> single;
  size_t i = 0;
  for (; i + hn::Lanes(whole) <= count; i += hn::Lanes(whole))
    scale(whole, i);
  for (; i < count; ++i)
    scale(single, i);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(Gemv);
HWY_EXPORT(GemvBf16);
HWY_EXPORT(GemvTransposed);
HWY_EXPORT(GemvTransposedBf16);
HWY_EXPORT(ScaleAndAdd);

void gemv(const GemvArgs<float>& product) {
  HWY_DYNAMIC_DISPATCH(Gemv)(product);
}
void gemv(const GemvArgs<BFloat16>& product) {
  HWY_DYNAMIC_DISPATCH(GemvBf16)(product);
}
void gemv_transposed(const GemvArgs<float>& product) {
  HWY_DYNAMIC_DISPATCH(GemvTransposed)(product);
}
void gemv_transposed(const GemvArgs<BFloat16>& product) {
  HWY_DYNAMIC_DISPATCH(GemvTransposedBf16)(product);
}
void scale_and_add(float* out, size_t count, float alpha, const float* addend, bool addend_steps,
                   float beta) {
  HWY_DYNAMIC_DISPATCH(ScaleAndAdd)(out, count, alpha, addend, addend_steps, beta);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
