#include "providers/cpu/attention_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/attention_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// kRows products with one key.
template <size_t kRows>
HWY_INLINE void dots(const float* const* queries, const float* key, size_t size, float* results) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[kRows];
  for (size_t r = 0; r < kRows; ++r)
    sums[r] = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const V k = hn::LoadU(d, key + i);
    for (size_t r = 0; r < kRows; ++r)
      sums[r] = hn::MulAdd(hn::LoadU(d, queries[r] + i), k, sums[r]);
  }
  for (size_t r = 0; r < kRows; ++r) {
    float result = hn::GetLane(hn::SumOfLanes(d, sums[r]));
    for (size_t rest = i; rest < size; ++rest)
      result += queries[r][rest] * key[rest];
    results[r] = result;
  }
}

template <size_t kRows>
void score(const float* const* queries, const float* keys, size_t size, size_t first, size_t last,
           float scale, float* const* scores) {
  float results[kRows];
  for (size_t t = first; t < last; ++t) {
    dots<kRows>(queries, keys + t * size, size, results);
    for (size_t r = 0; r < kRows; ++r)
      scores[r][t] = scale * results[r];
  }
}

void ScoreRows(const float* const* queries, size_t rows, const float* keys, size_t size,
               size_t first, size_t last, float scale, float* const* scores) {
  if (rows == kQueriesAtOnce)
    return score<kQueriesAtOnce>(queries, keys, size, first, last, scale, scores);
  for (size_t r = 0; r < rows; ++r)
    score<1>(queries + r, keys, size, first, last, scale, scores + r);
}

// Exponents below this bound would give numbers that the processor is slow with.
HWY_INLINE V exp_or_zero(V x) {
  const V bounded = hn::IfThenElse(hn::Lt(x, set(-87)), set(-87), x);
  return hn::IfThenElse(hn::Lt(x, set(-87)), set(0), exp_of(bounded));
}

float Exponentials(float* scores, size_t count, float greatest) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V most = hn::Set(d, greatest);
  V sum = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V x = exp_or_zero(hn::Sub(hn::LoadU(d, scores + i), most));
    hn::StoreU(x, d, scores + i);
    sum = hn::Add(sum, x);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  if (i == count) return total;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  for (size_t k = 0; k < count - i; ++k)
    rest[k] = scores[i + k];
  hn::Store(exp_or_zero(hn::Sub(hn::Load(d, rest), most)), d, rest);
  for (size_t k = 0; k < count - i; ++k) {
    scores[i + k] = rest[k];
    total += rest[k];
  }
  return total;
}

// kVectors vectors of neighbouring elements of kRows outputs.
template <size_t kRows, size_t kVectors>
HWY_INLINE void mix_at(const float* const* weights, const float* values, size_t size, size_t first,
                       size_t last, size_t at, float* const* outputs) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[kRows][kVectors];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t k = 0; k < kVectors; ++k)
      sums[r][k] = hn::Zero(d);
  }
  for (size_t t = first; t < last; ++t) {
    const float* row = values + t * size + at;
    for (size_t k = 0; k < kVectors; ++k) {
      const V value = hn::LoadU(d, row + k * lanes);
      for (size_t r = 0; r < kRows; ++r)
        sums[r][k] = hn::MulAdd(hn::Set(d, weights[r][t]), value, sums[r][k]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t k = 0; k < kVectors; ++k)
      hn::StoreU(sums[r][k], d, outputs[r] + at + k * lanes);
  }
}

template <size_t kRows>
void mix(const float* const* weights, const float* values, size_t size, size_t first, size_t last,
         float* const* outputs) {
  const size_t lanes = hn::Lanes(D());
  size_t at = 0;
  for (; at + 4 * lanes <= size; at += 4 * lanes)
    mix_at<kRows, 4>(weights, values, size, first, last, at, outputs);
  for (; at + lanes <= size; at += lanes)
    mix_at<kRows, 1>(weights, values, size, first, last, at, outputs);
  for (; at < size; ++at) {
    for (size_t r = 0; r < kRows; ++r) {
      float sum = 0;
      for (size_t t = first; t < last; ++t)
        sum += weights[r][t] * values[t * size + at];
      outputs[r][at] = sum;
    }
  }
}

void MixRows(const float* const* weights, size_t rows, const float* values, size_t size,
             size_t first, size_t last, float* const* outputs) {
  if (rows == kQueriesAtOnce)
    return mix<kQueriesAtOnce>(weights, values, size, first, last, outputs);
  for (size_t r = 0; r < rows; ++r)
    mix<1>(weights + r, values, size, first, last, outputs + r);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(ScoreRows);
HWY_EXPORT(Exponentials);
HWY_EXPORT(MixRows);

void score_rows(const float* const* queries, size_t rows, const float* keys, size_t size,
                size_t first, size_t last, float scale, float* const* scores) {
  HWY_DYNAMIC_DISPATCH(ScoreRows)(queries, rows, keys, size, first, last, scale, scores);
}

float exponentials(float* scores, size_t count, float greatest) {
  return HWY_DYNAMIC_DISPATCH(Exponentials)(scores, count, greatest);
}

void mix_rows(const float* const* weights, size_t rows, const float* values, size_t size,
              size_t first, size_t last, float* const* outputs) {
  HWY_DYNAMIC_DISPATCH(MixRows)(weights, rows, values, size, first, last, outputs);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
