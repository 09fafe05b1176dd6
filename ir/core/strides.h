// Strides, broadcasting, and walks over several operands of one index space. Strides count
// elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ir/core/inline_vector.h"
#include "ir/core/run_control.h"
#include "ir/core/symbolic_dim.h"

namespace sardonyx {

// One number for each dim of a tensor.
using DimValues = InlineVector<int64_t, 8>;
using Strides = DimValues;

Strides row_major_strides(std::span<const int64_t> shape);

// `axis` in [-rank, rank) made non-negative, for kernels: inference has checked the range.
inline size_t axis_of(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

// A shape seen as [outer, size, inner] around one axis.
struct AxisSplit {
  int64_t outer = 1, size = 1, inner = 1;
};
AxisSplit split_at(std::span<const int64_t> shape, size_t axis);

// The shape that numpy's rules give two shapes; nullopt where they do not fit.
std::optional<Shape> try_broadcast(std::span<const int64_t> a, std::span<const int64_t> b);
// Broadcasts symbolic dims. Where two dims differ and neither is known, one of them may turn out to
// be 1: the result is then `unknown()`.
std::optional<Dims> try_broadcast(const Dims& a, const Dims& b,
                                  const std::function<Dim()>& unknown);

// Strides that read a row-major operand of `shape` as if it had the shape `target`: 0 along the
// dims that it repeats. `shape` must broadcast to `target`.
Strides broadcast_strides(std::span<const int64_t> shape, std::span<const int64_t> target);

// An index space with one set of strides for each operand, cut into rows that are as long as all
// strides permit: neighbouring dims that every operand passes evenly are merged, so a walk over
// contiguous operands of one shape is a single row.
class RowWalk {
 public:
  RowWalk(std::span<const int64_t> shape, std::span<const Strides> strides);

  // The distance of neighbours in a row of operand `index`.
  int64_t step(size_t index) const { return steps_[index]; }
  // Calls visit(const int64_t* offsets, int64_t length) for each row, in row-major order;
  // offsets[k] is where the row starts in operand k. Long rows come in pieces of at most `longest`
  // elements. Checks for interruption.
  template <typename Visit>
  void for_each(Visit&& visit, int64_t longest = kPiece) const;

  static constexpr int64_t kPiece = 1 << 16;  // tens of microseconds: cancelling is prompt

 private:
  using Steps = InlineVector<int64_t, 32>;
  size_t operands_;
  int64_t length_ = 1;  // of a row
  DimValues outer_;     // the dims outside the row, innermost first
  Steps outer_steps_;   // [dim][operand]
  DimValues steps_;     // within a row
  bool empty_ = false;
};

// A walk over operands of the given shapes that are broadcast to `target`; operand 0 is the
// row-major target itself.
RowWalk broadcast_walk(std::span<const int64_t> target,
                       std::span<const std::span<const int64_t>> shapes);

template <typename Visit>
void RowWalk::for_each(Visit&& visit, int64_t longest) const {
  if (empty_) return;
  DimValues index(outer_.size()), offsets(operands_), piece(operands_);
  int64_t since_check = kPiece;
  while (true) {
    for (int64_t begin = 0; begin < length_; begin += longest) {
      const int64_t length = std::min(longest, length_ - begin);
      if ((since_check += length) > kPiece) {
        check_interrupted();
        since_check = 0;
      }
      for (size_t k = 0; k < operands_; ++k)
        piece[k] = offsets[k] + begin * steps_[k];
      visit(static_cast<const int64_t*>(piece.data()), length);
    }
    size_t dim = 0;
    for (; dim < outer_.size(); ++dim) {
      const int64_t* steps = &outer_steps_[dim * operands_];
      const bool carry = ++index[dim] == outer_[dim];
      const int64_t moved = carry ? 1 - outer_[dim] : 1;
      for (size_t k = 0; k < operands_; ++k)
        offsets[k] += moved * steps[k];
      if (!carry) break;
      index[dim] = 0;
    }
    if (dim == outer_.size()) return;
  }
}

}  // namespace sardonyx
