#include "providers/cpu/attention/attention_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/attention/attention_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// exp(x) for x that is not above 0 by more than rounding, to a unit or two in the last place. Below
// -87 it is 0: the processor is slow with numbers that are smaller than float's normal ones.
HWY_INLINE V weight_of(V x) {
  V n;
  const V r = reduced_for_exp(x, n);
  const V exp_of_rest = hn::MulAdd(hn::MulAdd(exp_tail(r), r, set(1)), r, set(1));
  return hn::IfThenZeroElse(hn::Lt(x, set(-87)), times_power_of_two(exp_of_rest, n));
}

HWY_INLINE float exponentials_of(float* scores, size_t count, float scale, float greatest) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V factor = hn::Set(d, scale), most = hn::Set(d, greatest);
  V sum = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V x = weight_of(hn::MulSub(hn::LoadU(d, scores + i), factor, most));
    hn::StoreU(x, d, scores + i);
    sum = hn::Add(sum, x);
  }
  if (i < count) {
    const V x = weight_of(hn::MulSub(load_part(d, scores + i, count - i), factor, most));
    store_part(x, d, scores + i, count - i);
    sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, count - i), x));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

HWY_INLINE float greatest_of(const float* scores, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V most = set(-HUGE_VALF), other = most;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    most = hn::Max(most, hn::LoadU(d, scores + i));
    other = hn::Max(other, hn::LoadU(d, scores + i + lanes));
  }
  for (; i < count; i += lanes) {
    const size_t rest = count - i < lanes ? count - i : lanes;
    const V x = load_part(d, scores + i, rest);
    most = hn::IfThenElse(hn::FirstN(d, rest), hn::Max(most, x), most);
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(most, other)));
}

float Exponentials(float* scores, size_t count, float scale, float greatest) {
  return exponentials_of(scores, count, scale, greatest);
}

float GreatestScore(const float* scores, size_t count) {
  return greatest_of(scores, count);
}

void ScaleRow(float* row, size_t count, float factor) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, row + i), set(factor)), d, row + i);
  if (i < count)
    store_part(hn::Mul(load_part(d, row + i, count - i), set(factor)), d, row + i, count - i);
}

// In one call for all rows: none waits for the one before.
void WeighRows(const AttentionRows& scores, float scale, float* greatest, float* sums) {
  float* row = scores.at;
  for (size_t i = 0; i < scores.rows; ++i, row += scores.step) {
    greatest[i] = std::max(-HUGE_VALF, scale * greatest_of(row, scores.count));
    // Minus infinities alone give weights of 0, and so a sum of 0.
    const float shift = greatest[i] == -HUGE_VALF ? 0 : greatest[i];
    sums[i] = exponentials_of(row, scores.count, scale, shift);
  }
}

void DivideRows(const AttentionRows& rows, const float* sums) {
  const D d;
  const size_t lanes = hn::Lanes(d), whole = rows.count - rows.count % lanes;
  float* row = rows.at;
  for (size_t i = 0; i < rows.rows; ++i, row += rows.step) {
    const V factor = hn::Div(set(1), set(sums[i]));
    for (size_t k = 0; k < whole; k += lanes)
      hn::StoreU(hn::Mul(hn::LoadU(d, row + k), factor), d, row + k);
    if (const size_t rest = rows.count - whole; rest > 0)
      store_part(hn::Mul(load_part(d, row + whole, rest), factor), d, row + whole, rest);
  }
}

struct LineOfScores {
  const ScoreMasks& masks;
  float scale;

  // Some scores from `at` on, scaled and masked; `load` reads whole vectors or parts of them.
  template <bool kAdds, bool kFills, typename Load>
  HWY_INLINE V masked(V scores, size_t at, const Load& load) const {
    V x = hn::Mul(scores, set(scale));
    if constexpr (kFills) {
      if (!masks.fills_last) x = filled(x, at, load);
    }
    if constexpr (kAdds)
      x = hn::Add(x, masks.added_steps ? load(masks.added + at) : set(*masks.added));
    if constexpr (kFills) {
      if (masks.fills_last) x = filled(x, at, load);
    }
    return x;
  }

 private:
  template <typename Load>
  HWY_INLINE V filled(V x, size_t at, const Load& load) const {
    const V fill = set(masks.fill);
    if (!masks.kept_steps) return *masks.kept ? x : fill;
    return hn::IfThenElse(load.bools(masks.kept + at), x, fill);
  }
};

struct LoadWhole {
  HWY_INLINE V operator()(const float* from) const { return hn::LoadU(D(), from); }
  HWY_INLINE hn::Mask<D> bools(const bool* from) const {
    const hn::Rebind<uint8_t, D> bytes;
    const hn::RebindToSigned<D> integers;
    const auto wide =
        hn::PromoteTo(integers, hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(from)));
    return hn::RebindMask(D(), hn::Ne(wide, hn::Zero(integers)));
  }
};

// The first `count`, which are less than a vector.
struct LoadPart {
  size_t count;
  HWY_INLINE V operator()(const float* from) const { return load_part(D(), from, count); }
  HWY_INLINE hn::Mask<D> bools(const bool* from) const {
    bool values[hn::MaxLanes(D())] = {};
    std::memcpy(values, from, count);  // any byte but 0 holds
    return LoadWhole().bools(values);
  }
};

template <bool kAdds, bool kFills>
float scale_line(float* scores, size_t count, float scale, const ScoreMasks& masks) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const LineOfScores line{masks, scale};
  V most = set(-HUGE_VALF);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V x = line.masked<kAdds, kFills>(hn::LoadU(d, scores + i), i, LoadWhole());
    hn::StoreU(x, d, scores + i);
    most = hn::Max(most, x);
  }
  if (i < count) {
    const LoadPart load{count - i};
    const V x = line.masked<kAdds, kFills>(load(scores + i), i, load);
    store_part(x, d, scores + i, count - i);
    most = hn::IfThenElse(hn::FirstN(d, count - i), hn::Max(most, x), most);
  }
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

float ScaleScores(float* scores, size_t count, float scale, const ScoreMasks& masks) {
  if (masks.added && masks.kept) return scale_line<true, true>(scores, count, scale, masks);
  if (masks.added) return scale_line<true, false>(scores, count, scale, masks);
  if (masks.kept) return scale_line<false, true>(scores, count, scale, masks);
  return scale_line<false, false>(scores, count, scale, masks);
}

template <bool kInterleaved, class W>
HWY_INLINE size_t rotate(W d, const float* x, const float* cosines, const float* sines, size_t i,
                         size_t count, float* y) {
  const size_t lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<W> real, imaginary;
    if constexpr (kInterleaved) {
      hn::LoadInterleaved2(d, x + 2 * i, real, imaginary);
    } else {
      real = hn::LoadU(d, x + i), imaginary = hn::LoadU(d, x + count + i);
    }
    const auto cosine = hn::LoadU(d, cosines + i), sine = hn::LoadU(d, sines + i);
    const auto rotated = hn::Sub(hn::Mul(cosine, real), hn::Mul(sine, imaginary));
    const auto other = hn::Add(hn::Mul(sine, real), hn::Mul(cosine, imaginary));
    if constexpr (kInterleaved) {
      hn::StoreInterleaved2(rotated, other, d, y + 2 * i);
    } else {
      hn::StoreU(rotated, d, y + i);
      hn::StoreU(other, d, y + count + i);
    }
  }
  return i;
}

template <bool kInterleaved>
void rotate_all(const float* x, const float* cosines, const float* sines, size_t count, float* y) {
  size_t i = rotate<kInterleaved>(D(), x, cosines, sines, 0, count, y);
  i = rotate<kInterleaved>(hn::CappedTag<float, 4>(), x, cosines, sines, i, count, y);
  for (; i < count; ++i) {
    const size_t at = kInterleaved ? 2 * i : i, next = kInterleaved ? at + 1 : at + count;
    const float real = x[at], imaginary = x[next];
    y[at] = cosines[i] * real - sines[i] * imaginary;
    y[next] = sines[i] * real + cosines[i] * imaginary;
  }
}

void RotatePairs(const float* x, const float* cosines, const float* sines, size_t count,
                 bool interleaved, float* y) {
  if (interleaved) return rotate_all<true>(x, cosines, sines, count, y);
  rotate_all<false>(x, cosines, sines, count, y);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(Exponentials);
HWY_EXPORT(GreatestScore);
HWY_EXPORT(ScaleScores);
HWY_EXPORT(ScaleRow);
HWY_EXPORT(WeighRows);
HWY_EXPORT(DivideRows);
HWY_EXPORT(RotatePairs);

float greatest_score(const float* scores, size_t count) {
  return HWY_DYNAMIC_DISPATCH(GreatestScore)(scores, count);
}

float scale_scores(float* scores, size_t count, float scale, const ScoreMasks& masks) {
  return HWY_DYNAMIC_DISPATCH(ScaleScores)(scores, count, scale, masks);
}

float exponentials(float* scores, size_t count, float scale, float greatest) {
  return HWY_DYNAMIC_DISPATCH(Exponentials)(scores, count, scale, greatest);
}

void scale_row(float* row, size_t count, float factor) {
  HWY_DYNAMIC_DISPATCH(ScaleRow)(row, count, factor);
}

void weigh_rows(const AttentionRows& scores, float scale, float* greatest, float* sums) {
  HWY_DYNAMIC_DISPATCH(WeighRows)(scores, scale, greatest, sums);
}

void divide_rows(const AttentionRows& rows, const float* sums) {
  HWY_DYNAMIC_DISPATCH(DivideRows)(rows, sums);
}

void rotate_pairs(const float* x, const float* cosines, const float* sines, size_t count,
                  bool interleaved, float* y) {
  HWY_DYNAMIC_DISPATCH(RotatePairs)(x, cosines, sines, count, interleaved, y);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
