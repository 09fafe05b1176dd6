#include "providers/cpu/conv/add_shifted.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/conv/add_shifted.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "providers/cpu/simd/partial_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums the columns [begin, end), which some rows do not have, element by element.
void add_at_ends(const ShiftedRow* rows, size_t count, bool goes_on, float* out, int64_t begin,
                 int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    float sum = goes_on ? out[i] : 0;
    for (size_t k = 0; k < count; ++k)
      sum += rows[k].begin <= i && i < rows[k].end ? rows[k].row[i] : 0;
    out[i] = sum;
  }
}

void AddShiftedRows(const ShiftedRow* rows, size_t count, bool goes_on, float* out, int64_t width) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t begin = 0, end = width;  // of the columns that all rows have
  for (size_t k = 0; k < count; ++k) {
    begin = std::max(begin, rows[k].begin);
    end = std::min(end, rows[k].end);
  }
  if (begin >= end) return add_at_ends(rows, count, goes_on, out, 0, width);
  add_at_ends(rows, count, goes_on, out, 0, begin);
  add_at_ends(rows, count, goes_on, out, end, width);
  int64_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    auto sum = goes_on ? hn::LoadU(d, out + i) : hn::Zero(d);
    for (size_t k = 0; k < count; ++k)
      sum = hn::Add(sum, hn::LoadU(d, rows[k].row + i));
    hn::StoreU(sum, d, out + i);
  }
  if (i == end) return;
  const PartialVector<decltype(d)> part(d, static_cast<size_t>(end - i));
  auto sum = goes_on ? part.load(out + i) : hn::Zero(d);
  for (size_t k = 0; k < count; ++k)
    sum = hn::Add(sum, part.load(rows[k].row + i));
  part.store(sum, out + i);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(AddShiftedRows);

void add_shifted_rows(const ShiftedRow* rows, size_t count, bool goes_on, float* out,
                      int64_t width) {
  HWY_DYNAMIC_DISPATCH(AddShiftedRows)(rows, count, goes_on, out, width);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
