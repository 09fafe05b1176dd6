#include "providers/cpu/normalization/softmax_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/normalization/softmax_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Of rows that fill a vector. What is left beside whole vectors is done by a last one that
// overlaps them; it is read first, as the row may be worked on in place.
struct LongRow {
  const float* in;
  float* out;
  size_t count, whole;  // whole: in whole vectors

  HWY_INLINE V last(const float* row) const { return hn::LoadU(D(), row + count - hn::Lanes(D())); }
  HWY_INLINE void store_last(V values) const {
    hn::StoreU(values, D(), out + count - hn::Lanes(D()));
  }

  HWY_INLINE V largest() const {
    const D d;
    const size_t lanes = hn::Lanes(d);
    V most = last(in), other = most;
    size_t i = 0;
    for (; i + 2 * lanes <= whole; i += 2 * lanes) {
      most = hn::Max(most, hn::LoadU(d, in + i));
      other = hn::Max(other, hn::LoadU(d, in + i + lanes));
    }
    for (; i < whole; i += lanes)
      most = hn::Max(most, hn::LoadU(d, in + i));
    return hn::MaxOfLanes(d, hn::Max(most, other));
  }

  // The sum of exp(in - shift) for a shift that is the largest, which are written as well where
  // they are wanted. A NaN that the maximum has lost comes back here, and then nothing else of the
  // row counts. What follows the row in memory, most often the next one, is prefetched meanwhile.
  template <bool kWritten>
  HWY_INLINE V exponentials(V shift) const {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const V end = last(in);
    V sum = hn::Zero(d);
    for (size_t i = 0; i < whole; i += lanes) {
      const V value = exp_of_at_most_zero(hn::Sub(hn::LoadU(d, in + i), shift));
      sum = hn::Add(sum, value);
      __builtin_prefetch(in + count + i);
      if constexpr (kWritten) {
        hn::StoreU(value, d, out + i);
        __builtin_prefetch(out + count + i, 1);
      }
    }
    if (whole < count) {
      const V value = exp_of_at_most_zero(hn::Sub(end, shift));
      const auto is_done = hn::FirstN(d, lanes - (count - whole));
      sum = hn::Add(sum, hn::IfThenZeroElse(is_done, value));
      if constexpr (kWritten) store_last(value);
    }
    return hn::SumOfLanes(d, sum);
  }

  // out = f(from).
  template <typename F>
  HWY_INLINE void map(const float* from, const F& f) const {
    const D d;
    const V end = f(last(from));
    for (size_t i = 0; i < whole; i += hn::Lanes(d))
      hn::StoreU(f(hn::LoadU(d, from + i)), d, out + i);
    if (whole < count) store_last(end);
  }
};

// A row that does not fill a vector; behind it as much of its first element as makes no difference
// to the largest.
struct ShortRow {
  HWY_INLINE ShortRow(const float* in, size_t row_count) : count(row_count) {
    const D d;
    HWY_ALIGN float values[hn::MaxLanes(d)];
    for (size_t i = 0; i < hn::Lanes(d); ++i)
      values[i] = in[i < count ? i : 0];
    x = hn::Load(d, values);
    x = hn::Sub(x, hn::MaxOfLanes(d, x));
    exponentials = exp_of(x);
    sum = hn::SumOfLanes(d, hn::IfThenElseZero(hn::FirstN(d, count), exponentials));
  }
  HWY_INLINE void write(V results, float* out) const {
    const D d;
    HWY_ALIGN float values[hn::MaxLanes(d)];
    hn::Store(results, d, values);
    for (size_t i = 0; i < count; ++i)
      out[i] = values[i];
  }

  size_t count;
  V x, exponentials, sum;  // x: less the largest
};

// The logarithm of a number that all lanes hold.
HWY_INLINE V log_of_all(V x) {
  return set(std::log(hn::GetLane(x)));
}

void SoftmaxRow(const float* in, float* out, size_t count) {
  const size_t lanes = hn::Lanes(D());
  if (count < lanes) {
    const ShortRow row(in, count);
    return row.write(hn::Mul(row.exponentials, hn::Div(set(1), row.sum)), out);
  }
  const LongRow row{in, out, count, count - count % lanes};
  const V sum = row.exponentials<true>(row.largest());
  const V factor = hn::Div(set(1), sum);
  row.map(out, [&](V value) HWY_ATTR { return hn::Mul(value, factor); });
}

void LogSoftmaxRow(const float* in, float* out, size_t count) {
  const size_t lanes = hn::Lanes(D());
  if (count < lanes) {
    const ShortRow row(in, count);
    return row.write(hn::Sub(row.x, log_of_all(row.sum)), out);
  }
  const LongRow row{in, out, count, count - count % lanes};
  const V largest = row.largest();
  const V log_sum = log_of_all(row.exponentials<false>(largest));
  row.map(in, [&](V x) HWY_ATTR { return hn::Sub(hn::Sub(x, largest), log_sum); });
}

constexpr size_t kMostColumns = 16;

// As many rows as a vector has lanes, `kLength` elements long (0: `length`), adjacent in
// memory: vector k holds element k of each.
template <size_t kLength>
struct Columns {
  size_t length;

  HWY_INLINE auto places() const {
    const hn::RebindToSigned<D> d;
    return hn::Mul(hn::Iota(d, 0), hn::Set(d, static_cast<int32_t>(length)));
  }
  HWY_INLINE void load(const float* in, V* x) const {
    const D d;
    if constexpr (kLength == 2) {
      hn::LoadInterleaved2(d, in, x[0], x[1]);
    } else if constexpr (kLength == 3) {
      hn::LoadInterleaved3(d, in, x[0], x[1], x[2]);
    } else if constexpr (kLength == 4) {
      hn::LoadInterleaved4(d, in, x[0], x[1], x[2], x[3]);
    } else {
      const auto at = places();
      for (size_t k = 0; k < length; ++k)
        x[k] = hn::GatherIndex(d, in + k, at);
    }
  }
  HWY_INLINE void store(const V* y, float* out) const {
    const D d;
    if constexpr (kLength == 2) {
      hn::StoreInterleaved2(y[0], y[1], d, out);
    } else if constexpr (kLength == 3) {
      hn::StoreInterleaved3(y[0], y[1], y[2], d, out);
    } else if constexpr (kLength == 4) {
      hn::StoreInterleaved4(y[0], y[1], y[2], y[3], d, out);
    } else {
      const auto at = places();
      for (size_t k = 0; k < length; ++k)
        hn::ScatterIndex(y[k], d, out + k, at);
    }
  }

  template <bool kLog>
  HWY_INLINE void softmax(const float* in, float* out) const {
    const size_t count = kLength > 0 ? kLength : length;
    V x[kMostColumns];
    load(in, x);
    V largest = x[0];
    for (size_t k = 1; k < count; ++k)
      largest = hn::Max(largest, x[k]);
    V sum = hn::Zero(D());
    for (size_t k = 0; k < count; ++k) {
      x[k] = hn::Sub(x[k], largest);
      const V value = exp_of(x[k]);
      sum = hn::Add(sum, value);
      if constexpr (!kLog) x[k] = value;
    }
    const V shared = kLog ? log_of(sum) : hn::Div(set(1), sum);
    for (size_t k = 0; k < count; ++k)
      x[k] = kLog ? hn::Sub(x[k], shared) : hn::Mul(x[k], shared);
    store(x, out);
  }

  template <bool kLog>
  void rows(const float* in, float* out, size_t count) const {
    const size_t lanes = hn::Lanes(D());
    for (; count >= lanes; count -= lanes, in += lanes * length, out += lanes * length)
      softmax<kLog>(in, out);
    if (count == 0) return;
    HWY_ALIGN float rest[hn::MaxLanes(D()) * kMostColumns] = {};
    std::copy_n(in, count * length, rest);
    softmax<kLog>(rest, rest);
    std::copy_n(rest, count * length, out);
  }
};

// A row of up to kVectors vectors, which stays in registers.
template <size_t kVectors>
struct RowInVectors {
  PartialVector<D> last;
  V x[kVectors];

  HWY_INLINE explicit RowInVectors(size_t length)
      : last(D(), length - (kVectors - 1) * hn::Lanes(D())) {}
  static HWY_INLINE size_t at(size_t v) { return v * hn::Lanes(D()); }

  HWY_INLINE void load(const float* in) {
#pragma GCC unroll 4
    for (size_t v = 0; v + 1 < kVectors; ++v)
      x[v] = hn::LoadU(D(), in + at(v));
    x[kVectors - 1] = last.with(last.load(in + at(kVectors - 1)), set(-HUGE_VALF));
  }
  HWY_INLINE void store(float* out) const {
#pragma GCC unroll 4
    for (size_t v = 0; v + 1 < kVectors; ++v)
      hn::StoreU(x[v], D(), out + at(v));
    last.store(x[kVectors - 1], out + at(kVectors - 1));
  }
  HWY_INLINE void subtract_largest() {
    V largest = x[0];
#pragma GCC unroll 4
    for (size_t v = 1; v < kVectors; ++v)
      largest = hn::Max(largest, x[v]);
    largest = hn::MaxOfLanes(D(), largest);
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v)
      x[v] = hn::Sub(x[v], largest);
  }
  // Their sum; they take the place of the elements if `kept` says so.
  template <bool kept>
  HWY_INLINE V exponentials() {
    V sum = hn::Zero(D());
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      const V value = exp_of_at_most_zero(x[v]);
      sum = hn::Add(sum, v + 1 < kVectors ? value : last.with(value, hn::Zero(D())));
      if constexpr (kept) x[v] = value;
    }
    return hn::SumOfLanes(D(), sum);
  }
};

// One after the other: none waits for the one before.
template <size_t kVectors>
void softmax_of_vectors(const float* in, float* out, size_t rows, size_t length) {
  RowInVectors<kVectors> row(length);
  for (; rows > 0; --rows, in += length, out += length) {
    row.load(in);
    row.subtract_largest();
    const V factor = hn::Div(set(1), row.template exponentials<true>());
#pragma GCC unroll 4
    for (V& x : row.x)
      x = hn::Mul(x, factor);
    row.store(out);
  }
}

// The logarithms of the sums of as many rows as a vector has lanes are taken at once.
template <size_t kVectors>
void log_softmax_of_vectors(const float* in, float* out, size_t rows, size_t length) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  RowInVectors<kVectors> row(length);
  HWY_ALIGN float sums[hn::MaxLanes(d)] = {};
  HWY_ALIGN float kept[hn::MaxLanes(d) * hn::MaxLanes(d) * kVectors];
  for (size_t first = 0; first < rows; first += lanes) {
    const size_t count = std::min(lanes, rows - first);
    for (size_t i = 0; i < count; ++i) {
      row.load(in + (first + i) * length);
      row.subtract_largest();
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v)
        hn::Store(row.x[v], d, kept + (i * kVectors + v) * lanes);
      sums[i] = hn::GetLane(row.template exponentials<false>());
    }
    hn::Store(log_of(hn::Load(d, sums)), d, sums);
    for (size_t i = 0; i < count; ++i) {
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v)
        row.x[v] = hn::Sub(hn::Load(d, kept + (i * kVectors + v) * lanes), set(sums[i]));
      row.store(out + (first + i) * length);
    }
  }
}

template <bool kLog, size_t kVectors>
void rows_of_vectors(const float* in, float* out, size_t rows, size_t length) {
  kLog ? log_softmax_of_vectors<kVectors>(in, out, rows, length)
       : softmax_of_vectors<kVectors>(in, out, rows, length);
}

// Columns of more elements take longer to gather than rows do that are half empty.
constexpr size_t kLongestGathered = HWY_TARGET <= HWY_AVX3 ? 7 : kMostColumns;

template <bool kLog>
void rows_by_columns(const float* in, float* out, size_t rows, size_t length) {
  switch (length) {
    case 2:
      return Columns<2>{length}.rows<kLog>(in, out, rows);
    case 3:
      return Columns<3>{length}.rows<kLog>(in, out, rows);
    case 4:
      return Columns<4>{length}.rows<kLog>(in, out, rows);
    default:
      return Columns<0>{length}.rows<kLog>(in, out, rows);
  }
}

template <bool kLog>
void short_rows(const float* in, float* out, size_t rows, size_t length) {
  if (length <= kLongestGathered) return rows_by_columns<kLog>(in, out, rows, length);
  const size_t lanes = hn::Lanes(D());
  switch ((length + lanes - 1) / lanes) {
    case 1:
      return rows_of_vectors<kLog, 1>(in, out, rows, length);
    case 2:
      return rows_of_vectors<kLog, 2>(in, out, rows, length);
    case 3:
      return rows_of_vectors<kLog, 3>(in, out, rows, length);
    case 4:
      return rows_of_vectors<kLog, 4>(in, out, rows, length);
    default:
      for (size_t row = 0; row < rows; ++row, in += length, out += length)
        kLog ? LogSoftmaxRow(in, out, length) : SoftmaxRow(in, out, length);
  }
}

void SoftmaxShortRows(const float* in, float* out, size_t rows, size_t length) {
  short_rows<false>(in, out, rows, length);
}

void LogSoftmaxShortRows(const float* in, float* out, size_t rows, size_t length) {
  short_rows<true>(in, out, rows, length);
}

float LogSumExpRow(const float* in, size_t count) {
  const size_t lanes = hn::Lanes(D());
  const LongRow row{in, nullptr, count, count - count % lanes};
  // The greatest of some instructions loses NaNs; the exponentials bring them back.
  const float largest =
      count < lanes ? *std::max_element(in, in + count) : hn::GetLane(row.largest());
  if (std::isinf(largest)) {
    const bool has_nan = std::any_of(in, in + count, [](float x) { return std::isnan(x); });
    return has_nan ? NAN : largest;
  }
  if (count >= lanes) return largest + std::log(hn::GetLane(row.exponentials<false>(set(largest))));
  float sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += std::exp(in[i] - largest);
  return largest + std::log(sum);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(SoftmaxRow);
HWY_EXPORT(LogSoftmaxRow);
HWY_EXPORT(SoftmaxShortRows);
HWY_EXPORT(LogSoftmaxShortRows);
HWY_EXPORT(LogSumExpRow);

void softmax_row(const float* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRow)(in, out, count);
}
void log_softmax_row(const float* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxRow)(in, out, count);
}
void softmax_short_rows(const float* in, float* out, size_t rows, size_t length) {
  HWY_DYNAMIC_DISPATCH(SoftmaxShortRows)(in, out, rows, length);
}
void log_softmax_short_rows(const float* in, float* out, size_t rows, size_t length) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxShortRows)(in, out, rows, length);
}
float log_sum_exp_row(const float* in, size_t count) {
  return HWY_DYNAMIC_DISPATCH(LogSumExpRow)(in, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
