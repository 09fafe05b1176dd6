#include "ir/ops/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "ir/dispatch.h"

namespace sardonyx {
namespace {

template <typename T>
void copy_row(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t count) {
  if (from_step == 1 && to_step == 1) {
    std::copy_n(from, count, to);
  } else if (from_step == 0 && to_step == 1) {
    std::fill_n(to, count, *from);
  } else {
    for (int64_t i = 0; i < count; ++i)
      to[i * to_step] = from[i * from_step];
  }
}

// A square of this side fits L1 in both directions for every width.
constexpr int64_t kTile = 32;

// `rows` x `columns` elements; the writer runs along columns and the reader along rows.
template <typename T>
void copy_transposed(const T* from, int64_t from_column_step, T* to, int64_t to_row_step,
                     int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; row += kTile) {
    const int64_t row_end = std::min(row + kTile, rows);
    for (int64_t column = 0; column < columns; column += kTile) {
      const int64_t column_end = std::min(column + kTile, columns);
      for (int64_t r = row; r < row_end; ++r) {
        for (int64_t c = column; c < column_end; ++c) {
          to[r * to_row_step + c] = from[c * from_column_step + r];
        }
      }
    }
  }
}

// The dim along which the reader runs contiguously while the writer runs along the last dim; -1
// where the block is no transposition.
int64_t find_transposed_dim(const StridedBlock& block) {
  const size_t last = block.sizes.size() - 1;
  if (block.to_strides[last] != 1 || block.from_strides[last] == 1 || block.sizes[last] < 4) {
    return -1;
  }
  for (size_t i = 0; i < last; ++i) {
    if (block.from_strides[i] == 1 && block.sizes[i] >= 4) return static_cast<int64_t>(i);
  }
  return -1;
}

// Drops dims of size 1 and merges neighbours that both sides pass evenly.
void simplify(StridedBlock& block) {
  size_t kept = 0;
  for (size_t i = 0; i < block.sizes.size(); ++i) {
    if (block.sizes[i] == 1) continue;
    if (kept > 0) {
      const size_t before = kept - 1;
      if (block.from_strides[before] == block.from_strides[i] * block.sizes[i] &&
          block.to_strides[before] == block.to_strides[i] * block.sizes[i]) {
        block.sizes[before] *= block.sizes[i];
        block.from_strides[before] = block.from_strides[i];
        block.to_strides[before] = block.to_strides[i];
        continue;
      }
    }
    block.sizes[kept] = block.sizes[i];
    block.from_strides[kept] = block.from_strides[i];
    block.to_strides[kept] = block.to_strides[i];
    ++kept;
  }
  block.sizes.resize(kept);
  block.from_strides.resize(kept);
  block.to_strides.resize(kept);
}

template <typename T>
void copy_simplified(const T* from, T* to, const StridedBlock& block) {
  const int64_t transposed = find_transposed_dim(block);
  if (transposed < 0) {
    const Strides strides[] = {block.from_strides, block.to_strides};
    const RowWalk walk(block.sizes, strides);
    walk.for_each([&](const int64_t* offsets, int64_t length) {
      copy_row(from + offsets[0], walk.step(0), to + offsets[1], walk.step(1), length);
    });
    return;
  }
  const auto dim = static_cast<size_t>(transposed);
  const size_t last = block.sizes.size() - 1;
  Shape outer = block.sizes;
  outer[dim] = outer[last] = 1;
  const Strides strides[] = {block.from_strides, block.to_strides};
  const RowWalk walk(outer, strides);
  walk.for_each(
      [&](const int64_t* offsets, int64_t) {
        copy_transposed(from + offsets[0], block.from_strides[last], to + offsets[1],
                        block.to_strides[dim], block.sizes[dim], block.sizes[last]);
      },
      1);
}

}  // namespace

size_t element_bytes(DType dtype) {
  return dtype == DType::kString ? sizeof(std::string)
                                 : static_cast<size_t>(std::max(bits_of(dtype), 8)) / 8;
}

void copy_strided(DType dtype, const void* from, void* to, StridedBlock block) {
  if (std::find(block.sizes.begin(), block.sizes.end(), 0) != block.sizes.end()) return;
  simplify(block);
  if (block.sizes.empty()) {
    block.sizes = {1};
    block.from_strides = block.to_strides = {1};
  }
  dispatch_width(dtype, [&]<typename T>() {
    copy_simplified(static_cast<const T*>(from) + block.from_offset,
                    static_cast<T*>(to) + block.to_offset, block);
  });
}

void copy_run(DType dtype, const void* from, int64_t from_index, void* to, int64_t to_index,
              int64_t count) {
  if (count <= 0) return;
  if (dtype == DType::kString) {
    std::copy_n(static_cast<const std::string*>(from) + from_index, count,
                static_cast<std::string*>(to) + to_index);
    return;
  }
  const size_t width = element_bytes(dtype);
  std::memcpy(static_cast<std::byte*>(to) + static_cast<size_t>(to_index) * width,
              static_cast<const std::byte*>(from) + static_cast<size_t>(from_index) * width,
              static_cast<size_t>(count) * width);
}

void fill_run(DType dtype, const void* value, void* to, int64_t to_index, int64_t count) {
  if (count <= 0) return;
  dispatch_width(dtype, [&]<typename T>() {
    std::fill_n(static_cast<T*>(to) + to_index, count, *static_cast<const T*>(value));
  });
}

}  // namespace sardonyx
