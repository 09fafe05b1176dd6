#include "providers/cpu/training/optimizer_kernel.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/training/optimizer_kernel.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/register_hint-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Whole = hn::ScalableTag<float>;
using Single = hn::CappedTag<float, 1>;

// Updates one vector of elements from `at` on, whose gradients are g.
template <class D>
HWY_INLINE void step(D d, const SgdUpdate& u, hn::Vec<D> g, size_t at) {
  const auto x = hn::LoadU(d, u.x + at);
  const auto gradient = hn::Add(hn::Mul(hn::Set(d, u.sign), g), hn::Mul(hn::Set(d, u.decay), x));
  auto move = gradient;
  if (u.v) {
    const auto momentum = hn::Set(d, u.momentum);
    move =
        hn::Add(hn::Mul(momentum, hn::LoadU(d, u.v + at)), hn::Mul(hn::Set(d, u.taken), gradient));
    hn::StoreU(move, d, u.v_out + at);
    if (u.is_nesterov) move = hn::Add(gradient, hn::Mul(momentum, move));
  }
  hn::StoreU(hn::Sub(x, hn::Mul(hn::Set(d, u.rate), move)), d, u.x_out + at);
}

template <class D>
HWY_INLINE void step(D d, const AdamUpdate& u, hn::Vec<D> g, size_t at) {
  const auto x = hn::LoadU(d, u.x + at), m = hn::LoadU(d, u.m + at);
  const auto gradient = hn::Add(hn::Mul(hn::Set(d, u.sign), g), hn::Mul(hn::Set(d, u.decay), x));
  const auto mean = hn::Add(m, hn::Mul(hn::Set(d, u.mean_share), hn::Sub(gradient, m)));
  const auto square = hn::Add(hn::Mul(hn::Set(d, u.square_kept), hn::LoadU(d, u.v + at)),
                              hn::Mul(hn::Set(d, u.square_share), hn::Mul(gradient, gradient)));
  auto greatest = square;
  if (u.w) {
    const auto w = hn::LoadU(d, u.w + at);
    greatest = hn::IfThenElse(hn::Lt(w, square), square, w);
    hn::StoreU(greatest, d, u.w_out + at);
  }
  const auto divisor =
      hn::Add(hn::Div(hn::Sqrt(greatest), hn::Set(d, u.scale)), hn::Set(d, u.epsilon));
  hn::StoreU(
      hn::Sub(hn::Mul(hn::Set(d, u.kept), x), hn::Mul(hn::Set(d, u.size), hn::Div(mean, divisor))),
      d, u.x_out + at);
  hn::StoreU(mean, d, u.m_out + at);
  hn::StoreU(square, d, u.v_out + at);
}

// Works on a copy of the update on the stack, so that the compiler knows that stores do not change
// its pointers.
template <class Update>
HWY_INLINE void update_row(const Update& given, const float* g, size_t begin, size_t count) {
  const Update u = given;
  const Whole whole;
  const Single single;
  size_t i = 0;
  for (; i + hn::Lanes(whole) <= count; i += hn::Lanes(whole))
    step(whole, u, hn::LoadU(whole, g + i), begin + i);
  for (; i < count; ++i)
    step(single, u, hn::LoadU(single, g + i), begin + i);
}

void SgdRow(const SgdUpdate& update, const float* g, size_t begin, size_t count) {
  update_row(update, g, begin, count);
}

void AdamRow(const AdamUpdate& update, const float* g, size_t begin, size_t count) {
  update_row(update, g, begin, count);
}

HWY_INLINE void prefetch(const float* x) {
  if (x) hwy::Prefetch(x);
}
HWY_INLINE void prefetch(const SgdUpdate& u, size_t at) {
  prefetch(u.x + at);
  if (u.v) prefetch(u.v + at);
}
HWY_INLINE void prefetch(const AdamUpdate& u, size_t at) {
  prefetch(u.x + at);
  prefetch(u.m + at);
  prefetch(u.v + at);
  if (u.w) prefetch(u.w + at);
}

// Packs columns [0, kPanelColumns) of rows [k, k + depth) of b's part, with zeros past the last
// column.
HWY_INLINE void pack_panel(const ProductPart& part, size_t k, size_t depth, float* panel) {
  const Whole d;
  const size_t columns = part.column_end - part.column;
  for (size_t i = 0; i < depth; ++i, panel += kPanelColumns) {
    const float* from = part.b + (k + i) * part.width + part.column;
    size_t j = 0;
    for (; j + hn::Lanes(d) <= columns; j += hn::Lanes(d))
      hn::StoreU(hn::LoadU(d, from + j), d, panel + j);
    for (; j < kPanelColumns; ++j)
      panel[j] = j < columns ? from[j] : 0;
  }
}

constexpr size_t kVectors = 2;
constexpr size_t kRowsAtOnce = kRegisters == 32 ? 8 : 4;

// sums[kRowsAtOnce, kVectors vectors] (+)= the rows' elements times those of the panel.
HWY_INLINE void multiply(const float* const* rows, size_t a_step, const float* panel, size_t depth,
                         bool adds, float* sums) {
  using D = hn::CappedTag<float, kPanelColumns / kVectors>;
  using V = hn::Vec<D>;
  const D d;
  const size_t lanes = hn::Lanes(d);
  V acc[kRowsAtOnce][kVectors];
  for (size_t i = 0; i < kRowsAtOnce; ++i) {
    for (size_t j = 0; j < kVectors; ++j) {
      acc[i][j] = adds ? hn::Load(d, sums + i * kPanelColumns + j * lanes) : hn::Zero(d);
    }
  }
  for (size_t k = 0; k < depth; ++k) {
    const V first = in_register(hn::Load(d, panel + k * kPanelColumns));
    const V second = in_register(hn::Load(d, panel + k * kPanelColumns + lanes));
#pragma GCC unroll 8
    for (size_t i = 0; i < kRowsAtOnce; ++i) {
      const V a = in_register(hn::Set(d, rows[i][k * a_step]));
      acc[i][0] = hn::MulAdd(a, first, acc[i][0]);
      acc[i][1] = hn::MulAdd(a, second, acc[i][1]);
    }
  }
  for (size_t i = 0; i < kRowsAtOnce; ++i) {
    for (size_t j = 0; j < kVectors; ++j)
      hn::Store(acc[i][j], d, sums + i * kPanelColumns + j * lanes);
  }
}

// Computes the tile of sums [kTileRows, kPanelColumns] from `row` on; rows past the last one repeat
// it.
HWY_INLINE void multiply_tile(const ProductPart& part, size_t row, size_t k, size_t depth,
                              const float* panel, float* sums) {
  const size_t step = kVectors * hn::Lanes(hn::CappedTag<float, kPanelColumns / kVectors>());
  for (size_t i = 0; i < kTileRows; i += kRowsAtOnce) {
    const float* rows[kRowsAtOnce];
    for (size_t r = 0; r < kRowsAtOnce; ++r) {
      const size_t at = std::min(row + i + r, part.row_end - 1);
      rows[r] = part.a + at * part.a_row + k * part.a_step;
    }
    for (size_t j = 0; j < kPanelColumns; j += step)
      multiply(rows, part.a_step, panel + j, depth, k > 0, sums + i * kPanelColumns + j);
  }
}

template <class Update>
HWY_INLINE void update_part(const Update& update, const ProductPart& part, float* scratch) {
  constexpr size_t kLine = 16;  // floats
  float* const panel = scratch;
  float* const all_sums = scratch + kPanelDepth * kPanelColumns;
  const size_t columns = part.column_end - part.column;
  size_t k = 0;
  do {
    const size_t depth = std::min(kPanelDepth, part.depth - k);
    const bool is_last = k + depth == part.depth;
    pack_panel(part, k, depth, panel);
    for (size_t row = part.row; row < part.row_end; row += kTileRows) {
      float* sums = all_sums + (row - part.row) * kPanelColumns;
      const size_t end = std::min(row + kTileRows, part.row_end);
      const auto place = [&](size_t r) { return r * part.width + part.column; };
      for (size_t r = row; is_last && r < end; ++r) {
        for (size_t j = 0; j < columns; j += kLine)
          prefetch(update, place(r) + j);
      }
      multiply_tile(part, row, k, depth, panel, sums);
      for (size_t r = row; is_last && r < end; ++r)
        update_row(update, sums + (r - row) * kPanelColumns, place(r), columns);
    }
    k += depth;
  } while (k < part.depth);
}

void SgdPart(const SgdUpdate& update, const ProductPart& part, float* scratch) {
  update_part(update, part, scratch);
}

void AdamPart(const AdamUpdate& update, const ProductPart& part, float* scratch) {
  update_part(update, part, scratch);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(SgdRow);
HWY_EXPORT(AdamRow);
HWY_EXPORT(SgdPart);
HWY_EXPORT(AdamPart);

void sgd_row(const SgdUpdate& update, const float* g, size_t begin, size_t count) {
  HWY_DYNAMIC_DISPATCH(SgdRow)(update, g, begin, count);
}
void adam_row(const AdamUpdate& update, const float* g, size_t begin, size_t count) {
  HWY_DYNAMIC_DISPATCH(AdamRow)(update, g, begin, count);
}
void sgd_part(const SgdUpdate& update, const ProductPart& part, float* scratch) {
  HWY_DYNAMIC_DISPATCH(SgdPart)(update, part, scratch);
}
void adam_part(const AdamUpdate& update, const ProductPart& part, float* scratch) {
  HWY_DYNAMIC_DISPATCH(AdamPart)(update, part, scratch);
}

}  // namespace sardonyx::cpu
#endif
