#include "providers/cpu/ml/quick_scorer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/ml/quick_scorer.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;

// The number of the lowest bit that is set; -127 where none is.
HWY_INLINE VI lowest_bit(VI bits) {
  const DI d;
  const VI alone = hn::And(bits, hn::Neg(bits));
  const VI exponent = hn::ShiftRight<23>(hn::BitCast(d, hn::ConvertTo(D(), alone)));
  return hn::Sub(hn::And(exponent, hn::Set(d, 0xFF)), hn::Set(d, 127));
}

// Rows [0, kVectors * lanes).
template <size_t kVectors, bool kWide>
HWY_INLINE void find(const MaskedBranch* branches, size_t count, const float* x, size_t row_step,
                     int32_t* leaves) {
  const D d;
  const DI di;
  const size_t lanes = hn::Lanes(d);
  VI low[kVectors], high[kVectors];
  for (size_t v = 0; v < kVectors; ++v)
    low[v] = high[v] = hn::Set(di, -1);
  for (size_t i = 0; i < count; ++i) {
    const MaskedBranch& branch = branches[i];
    const float* values = x + branch.feature * row_step;
    const V split = hn::Set(d, branch.split);
    const VI kept_low = hn::Set(di, static_cast<int32_t>(branch.kept[0]));
    const VI kept_high = hn::Set(di, static_cast<int32_t>(branch.kept[1]));
    for (size_t v = 0; v < kVectors; ++v) {
      const V value = hn::LoadU(d, values + v * lanes);
      // The comparison is written out twice, since branches that pass NaNs are rare.
      const auto passes =
          branch.nan_passes ? hn::Or(hn::Le(value, split), hn::IsNaN(value)) : hn::Le(value, split);
      const auto passes_as_int = hn::RebindMask(di, passes);
      low[v] = hn::IfThenElse(passes_as_int, low[v], hn::And(low[v], kept_low));
      if constexpr (kWide)
        high[v] = hn::IfThenElse(passes_as_int, high[v], hn::And(high[v], kept_high));
    }
  }
  for (size_t v = 0; v < kVectors; ++v) {
    VI leaf = lowest_bit(low[v]);
    if constexpr (kWide) {
      const VI beyond = hn::Add(lowest_bit(high[v]), hn::Set(di, 32));
      leaf = hn::IfThenElse(hn::Eq(low[v], hn::Zero(di)), beyond, leaf);
    }
    hn::StoreU(leaf, di, leaves + v * lanes);
  }
}

template <bool kWide>
HWY_INLINE void find_all(const MaskedBranch* branches, size_t count, const float* x,
                         size_t row_step, size_t rows, int32_t* leaves) {
  constexpr size_t kVectors = 4;
  const size_t lanes = hn::Lanes(D());
  size_t row = 0;
  for (; row + (kVectors - 1) * lanes < rows; row += kVectors * lanes)
    find<kVectors, kWide>(branches, count, x + row, row_step, leaves + row);
  for (; row < rows; row += lanes)
    find<1, kWide>(branches, count, x + row, row_step, leaves + row);
}

void FindLeaves(const MaskedBranch* branches, size_t count, bool is_wide, const float* x,
                size_t row_step, size_t rows, int32_t* leaves) {
  is_wide ? find_all<true>(branches, count, x, row_step, rows, leaves)
          : find_all<false>(branches, count, x, row_step, rows, leaves);
}

void AddLeafWeights(const float* weights, const int32_t* leaves, size_t rows, float* sums) {
  const D d;
  for (size_t row = 0; row < rows; row += hn::Lanes(d)) {
    const V weight = hn::GatherIndex(d, weights, hn::LoadU(DI(), leaves + row));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + row), weight), d, sums + row);
  }
}

size_t MaskedRows() {
  return hn::Lanes(D());
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(FindLeaves);
HWY_EXPORT(AddLeafWeights);
HWY_EXPORT(MaskedRows);

void find_leaves(const MaskedBranch* branches, size_t count, bool is_wide, const float* x,
                 size_t row_step, size_t rows, int32_t* leaves) {
  HWY_DYNAMIC_DISPATCH(FindLeaves)(branches, count, is_wide, x, row_step, rows, leaves);
}

void add_leaf_weights(const float* weights, const int32_t* leaves, size_t rows, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddLeafWeights)(weights, leaves, rows, sums);
}

size_t masked_rows() {
  return HWY_DYNAMIC_DISPATCH(MaskedRows)();
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
