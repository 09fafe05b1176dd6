// Walks the index space of up to three broadcast operands in contiguous rows, in parallel, without
// allocating.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "ir/core/symbolic_dim.h"
#include "ir/core/threading/interruptible_loops.h"

namespace sardonyx::cpu {

constexpr size_t kMaxOperands = 3;
constexpr size_t kMaxOuterDims = 8;
// Work below this many elements is not worth a second thread: starting one costs some microseconds.
constexpr int64_t kElementsPerThread = 1 << 14;

struct BroadcastLoop {
  int64_t length = 1;  // of a row
  int64_t rows = 1;
  size_t outer_rank = 0;
  std::array<int64_t, kMaxOuterDims> outer{};  // outermost first
  std::array<std::array<int64_t, kMaxOperands>, kMaxOuterDims> strides{};
  std::array<bool, kMaxOperands> steps{};  // whether an operand moves within a row

  // nullopt where more dims remain after merging than the loop supports.
  static std::optional<BroadcastLoop> of(const Shape& target,
                                         std::span<const Shape* const> operands);

  using Offsets = std::array<int64_t, kMaxOperands>;
  Offsets offsets_of(int64_t row) const {
    Offsets offsets{};
    for (size_t dim = outer_rank; dim-- > 0;) {
      const int64_t index = row % outer[dim];
      row /= outer[dim];
      for (size_t k = 0; k < kMaxOperands; ++k)
        offsets[k] += index * strides[dim][k];
    }
    return offsets;
  }

  // Calls visit(offsets, output offset, count) over pieces of rows; or visit(offsets, output
  // offset, count, seat), where seats are those of parallel_for().
  template <typename Visit>
  void for_each(int threads, const Visit& visit) const;
};

template <typename Visit>
void BroadcastLoop::for_each(int threads, const Visit& visit) const {
  const int64_t total = rows * length;
  if (total == 0) return;
  const auto wanted = static_cast<int>(std::min<int64_t>(threads, total / kElementsPerThread + 1));
  const CancelFlag sign;
  const auto walk = [&](int64_t begin, int64_t end, int seat) {  // in elements
    int64_t next_look = begin + kWorkPerPoll;
    while (begin < end) {
      if (begin >= next_look) {
        if (sign.ask()) return;
        next_look = begin + kWorkPerPoll;
      }
      const int64_t row = begin / length;
      const int64_t first = begin - row * length;
      const int64_t count = std::min({length - first, end - begin, kWorkPerPoll});
      Offsets offsets = offsets_of(row);
      for (size_t k = 0; k < kMaxOperands; ++k)
        offsets[k] += steps[k] ? first : 0;
      if constexpr (std::is_invocable_v<const Visit&, const Offsets&, int64_t, int64_t, int>)
        visit(offsets, begin, count, seat);
      else
        visit(offsets, begin, count);
      begin += count;
    }
  };
  constexpr int64_t kUnit = 512;  // whole cache lines
  parallel_for((total + kUnit - 1) / kUnit, wanted, [&](int64_t begin, int64_t end, int seat) {
    walk(begin * kUnit, std::min(total, end * kUnit), seat);
  });
  sign.check();
}

}  // namespace sardonyx::cpu
