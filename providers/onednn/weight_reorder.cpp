#include "providers/onednn/weight_reorder.h"
#include "ir/core/threading/parallel_for.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>

#include "providers/onednn/weight_reorder_s8.h"

namespace sardonyx::onednn {
namespace {

// The most bytes of one copy, where they are contiguous on both sides.
constexpr int64_t kLongestRun = 64;
// Consecutive blocks that are read from the same cache lines.
constexpr int64_t kNeighbours = 16;
// Smaller reorders are done before another thread has woken.
constexpr int64_t kWorthSharing = 64 << 10;  // elements

// One dim of the target, in blocks.
struct BlockedAxis {
  int64_t blocks;
  int64_t size;                    // indices in a block
  int64_t limit;                   // indices of the dim; the rest is padding
  int64_t from_stride, to_stride;  // from block to block, in bytes
  size_t dim;
};

using Four = float __attribute__((vector_size(16)));

Four load_four(const std::byte* from) {
  Four values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

// Transposes rows of floats, `stride` bytes apart, into the columns of `to`. Both counts are
// multiples of 4.
void transpose(const std::byte* from, int64_t stride, int64_t rows, int64_t columns,
               std::byte* to) {
  constexpr int64_t kFloat = sizeof(float);
  for (int64_t row = 0; row < rows; row += 4) {
    for (int64_t column = 0; column < columns; column += 4) {
      const std::byte* at = from + row * stride + column * kFloat;
      const Four a = load_four(at), b = load_four(at + stride), c = load_four(at + 2 * stride),
                 d = load_four(at + 3 * stride);
      const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                 ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                 cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      const Four transposed[] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                                 __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                                 __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                                 __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
      for (int64_t i = 0; i < 4; ++i)
        std::memcpy(to + ((column + i) * rows + row) * kFloat, &transposed[i],
                    sizeof transposed[i]);
    }
  }
}

// Visits the blocks of the target in memory order, a row of the last axis at a time.
template <int64_t kElement>  // bytes
class BlockedPacking {
 public:
  BlockedPacking(const Extents& from_strides, const BlockedForm& to) {
    Extents sizes(to.dims.size(), 1);
    for (const BlockedForm::Inner& inner : to.inner)
      sizes[inner.dim] *= inner.size;
    for (size_t dim = 0; dim < to.dims.size(); ++dim) {
      axes_.push_back({to.padded[dim] / sizes[dim], sizes[dim], to.dims[dim],
                       from_strides[dim] * sizes[dim] * kElement, to.strides[dim] * kElement, dim});
    }
    std::ranges::stable_sort(axes_, std::greater(), &BlockedAxis::to_stride);
    // An axis of a single full block need not be iterated.
    const auto is_single = [](const BlockedAxis& axis) {
      return axis.blocks == 1 && axis.size <= axis.limit;
    };
    while (axes_.size() > 1 && is_single(axes_.back()))
      axes_.pop_back();
    axes_.erase(std::remove_if(axes_.begin(), axes_.end() - 1, is_single), axes_.end() - 1);
    for (size_t i = 0; i + 1 < axes_.size(); ++i)
      rows_ *= axes_[i].blocks;
    add_lanes(from_strides, to, sizes);
  }

  int64_t rows() const { return rows_; }
  int64_t elements() const {
    return rows_ * axes_.back().blocks * static_cast<int64_t>(offsets_.size());
  }

  void pack_row(int64_t row, const std::byte* from, std::byte* to) const {
    std::array<int64_t, kMaxRank> at{};  // block by dim
    bool is_whole = true;
    for (size_t i = axes_.size() - 1; i-- > 0;) {
      const BlockedAxis& axis = axes_[i];
      const int64_t block = row % axis.blocks;
      row /= axis.blocks;
      from += block * axis.from_stride;
      to += block * axis.to_stride;
      at[axis.dim] = block;
      is_whole = is_whole && (block + 1) * axis.size <= axis.limit;
    }
    const BlockedAxis& last = axes_.back();
    const int64_t whole = is_whole ? last.limit / last.size : 0;
    copy_blocks(from, to, whole);
    for (int64_t block = whole; block < last.blocks; ++block) {
      at[last.dim] = block;
      pad_block(at, from + block * last.from_stride, to + block * last.to_stride);
    }
  }

 private:
  void add_lanes(const Extents& from_strides, const BlockedForm& to, const Extents& sizes) {
    size_t lanes = 1;
    for (const int64_t size : sizes)
      lanes *= static_cast<size_t>(size);
    for (size_t lane = 0; lane < lanes; ++lane) {
      Extents index(sizes.size(), 0), unit(sizes.size(), 1);
      auto rest = static_cast<int64_t>(lane);
      for (size_t i = to.inner.size(); i-- > 0;) {
        const auto [dim, size] = to.inner[i];
        index[dim] += rest % size * unit[dim];
        unit[dim] *= size;
        rest /= size;
      }
      int64_t offset = 0;
      for (size_t dim = 0; dim < index.size(); ++dim)
        offset += index[dim] * from_strides[dim] * kElement;
      offsets_.push_back(offset);
      indices_.push_back(std::move(index));
    }
    for (size_t lane = 0; lane < lanes; ++lane)
      moves_.push_back({offsets_[lane], static_cast<int64_t>(lane) * kElement});
    std::ranges::stable_sort(moves_, {}, &BlockMove::from);
    while (run_ < kLongestRun && join_pairs())
      run_ *= 2;
    find_rectangle();
  }

  // Detects blocks that are transposed rectangles of floats, and sets rows_of_block_ and
  // row_stride_.
  void find_rectangle() {
    if (kElement != sizeof(float)) return;
    int64_t rows = 1, columns = 1;
    const auto lanes = static_cast<int64_t>(offsets_.size());
    const auto offset = [&](int64_t lane) { return offsets_[static_cast<size_t>(lane)]; };
    while (rows < lanes && offset(rows) == rows * offset(1))
      ++rows;
    columns = lanes / rows;
    if (rows % 4 != 0 || columns % 4 != 0 || rows * columns != lanes) return;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      if (offset(lane) != lane % rows * offset(1) + lane / rows * kElement) return;
    }
    rows_of_block_ = rows;
    row_stride_ = offset(1);
  }

  // Joins moves that are adjacent on both sides, if all of them form pairs.
  bool join_pairs() {
    if (moves_.size() % 2 != 0) return false;
    for (size_t i = 0; i < moves_.size(); i += 2) {
      const BlockMove &first = moves_[i], &second = moves_[i + 1];
      if (second.from != first.from + run_ || second.to != first.to + run_) return false;
    }
    for (size_t i = 0; i < moves_.size() / 2; ++i)
      moves_[i] = moves_[2 * i];
    moves_.resize(moves_.size() / 2);
    return true;
  }

  // Copies adjacent blocks of the last axis.
  void copy_blocks(const std::byte* from, std::byte* to, int64_t blocks) const {
    const BlockedAxis& last = axes_.back();
    if (rows_of_block_ > 0) {
      const int64_t columns = static_cast<int64_t>(offsets_.size()) / rows_of_block_;
      for (int64_t block = 0; block < blocks; ++block)
        transpose(from + block * last.from_stride, row_stride_, rows_of_block_, columns,
                  to + block * last.to_stride);
      return;
    }
    // Long runs fill lines by themselves; single bytes take longer than the lines they are read
    // from; and of a few blocks nothing is won.
    const bool is_alone = run_ == kLongestRun || run_ == 1 || blocks < kNeighbours / 4;
    const int64_t some = is_alone ? 1 : kNeighbours;
    for (int64_t done = 0; done < blocks; done += some) {
      copy_moves(from + done * last.from_stride, to + done * last.to_stride,
                 std::min(some, blocks - done));
    }
  }

  void copy_moves(const std::byte* from, std::byte* to, int64_t blocks) const {
    switch (run_) {
      case 1:
        return copy_runs<1>(from, to, blocks);
      case 2:
        return copy_runs<2>(from, to, blocks);
      case 4:
        return copy_runs<4>(from, to, blocks);
      case 8:
        return copy_runs<8>(from, to, blocks);
      case 16:
        return copy_runs<16>(from, to, blocks);
      case 32:
        return copy_runs<32>(from, to, blocks);
      default:
        return copy_runs<kLongestRun>(from, to, blocks);
    }
  }

  // Copies runs in the memory order of the source: each of its cache lines is read once, while the
  // target's lines stay in the cache.
  template <size_t kRun>
  void copy_runs(const std::byte* from, std::byte* to, int64_t blocks) const {
    if (blocks == 1) {
      for (const BlockMove& move : moves_)
        std::memcpy(to + move.to, from + move.from, kRun);
      return;
    }
    const int64_t from_stride = axes_.back().from_stride, to_stride = axes_.back().to_stride;
    for (const BlockMove& move : moves_) {
      const std::byte* source = from + move.from;
      std::byte* target = to + move.to;
      for (int64_t block = 0; block < blocks; ++block)
        std::memcpy(target + block * to_stride, source + block * from_stride, kRun);
    }
  }

  // Copies a block that ends in padding, which becomes zeros.
  void pad_block(const std::array<int64_t, kMaxRank>& at, const std::byte* from,
                 std::byte* to) const {
    for (size_t lane = 0; lane < offsets_.size(); ++lane, to += kElement) {
      const bool is_padding = std::ranges::any_of(axes_, [&](const BlockedAxis& axis) {
        return at[axis.dim] * axis.size + indices_[lane][axis.dim] >= axis.limit;
      });
      if (is_padding)
        std::memset(to, 0, kElement);
      else
        std::memcpy(to, from + offsets_[lane], kElement);
    }
  }

  struct BlockMove {
    int64_t from, to;  // in bytes, from where the block begins on either side
  };

  std::vector<BlockedAxis> axes_;
  int64_t rows_ = 1;
  std::vector<BlockMove> moves_;  // of all of a block, by `from`
  int64_t run_ = kElement;        // bytes of each
  // The rows of a block and their distance in the source, where blocks are transposed rectangles;
  // else 0.
  int64_t rows_of_block_ = 0, row_stride_ = 0;
  std::vector<int64_t> offsets_;  // by element of a block: in the source, in bytes
  std::vector<Extents> indices_;  // likewise: within the block, by dim
};

template <int64_t kElement>
void pack(const Extents& from_strides, const BlockedForm& form, const void* values, void* out,
          int threads) {
  const BlockedPacking<kElement> packing(from_strides, form);
  const auto* from = static_cast<const std::byte*>(values);
  auto* to = static_cast<std::byte*>(out);
  const int64_t rows = packing.rows();
  parallel_for_each(rows, packing.elements() >= kWorthSharing ? threads : 1,
                    [&](int64_t row) { packing.pack_row(row, from, to); });
}

}  // namespace

bool pack_weights(const void* values, const Desc& from, const Desc& to, void* out, int threads) {
  const auto strides = plain_strides(from);
  if (!strides || to.data_type() != from.data_type()) return false;
  const auto form = blocked_form(to);
  if (!form || form->inner.empty() || form->dims != from.dims()) return false;
  switch (from.data_type()) {
    case memory::data_type::f32:
      pack<4>(*strides, *form, values, out, threads);
      return true;
    case memory::data_type::s8:
      if (!pack_quads(static_cast<const std::byte*>(values), *strides, *form,
                      static_cast<std::byte*>(out), threads))
        pack<1>(*strides, *form, values, out, threads);
      return true;
    default:
      return false;
  }
}

}  // namespace sardonyx::onednn
