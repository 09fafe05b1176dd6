#include "ir/ops/reference/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/run_control.h"
#include "ir/ops/reference/transpose_kernel.h"

namespace sardonyx {
namespace {

// Elements of as many bytes as vectors of the oldest machines hold.
template <typename T>
struct Vector {
  static constexpr size_t kCount = 16 / sizeof(T);
  typedef T Elements __attribute__((vector_size(16)));  // an alias would drop the attribute

  static Elements load(const T* from) {
    Elements elements;
    std::memcpy(&elements, from, sizeof elements);
    return elements;
  }
  static void store(T* to, Elements elements) { std::memcpy(to, &elements, sizeof elements); }

  // Elements of a and b in turn, from the `half`-th half of each.
  template <size_t half>
  static Elements in_turn(Elements a, Elements b) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return __builtin_shufflevector(a, b, (half * kCount / 2 + i / 2 + i % 2 * kCount)...);
    }
    (std::make_index_sequence<kCount>());
  }
  // The first, third, ... element of a and b.
  static Elements every_second(Elements a, Elements b) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return __builtin_shufflevector(a, b, (2 * i)...);
    }
    (std::make_index_sequence<kCount>());
  }
};

// Squares that are moved through vector registers; elements of other sizes go one by one.
template <typename T>
struct Square {
  static constexpr int64_t kSide = 1;
};
template <typename T>
requires(std::is_integral_v<T>) struct Square<T> : Vector<T> {
  using V = Vector<T>;
  using Elements = typename V::Elements;
  static constexpr int64_t kSide = V::kCount;

  // Rows of the two halves in turn, as often as it takes to exchange rows and columns.
  static void transpose(const T* from, int64_t from_step, T* to, int64_t to_step) {
    Elements rows[kSide], next[kSide];
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSide; ++i)
      rows[i] = V::load(from + i * from_step);
#pragma GCC unroll 4
    for (int64_t done = 1; done < kSide; done *= 2) {
#pragma GCC unroll 8
      for (int64_t i = 0; i < kSide / 2; ++i) {
        next[2 * i] = V::template in_turn<0>(rows[i], rows[i + kSide / 2]);
        next[2 * i + 1] = V::template in_turn<1>(rows[i], rows[i + kSide / 2]);
      }
      std::copy_n(next, kSide, rows);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSide; ++i)
      V::store(to + i * to_step, rows[i]);
  }
};

// Four rows of 2 or 3 columns; writes up to two elements beyond the last one.
void interleave_four(const uint32_t* from, int64_t from_step, uint32_t* to, int64_t columns) {
  using V = Vector<uint32_t>;
  const V::Elements a = V::load(from), b = V::load(from + from_step),
                    c = V::load(from + (columns - 1) * from_step);
  const V::Elements low_ab = V::in_turn<0>(a, b), high_ab = V::in_turn<1>(a, b);
  V::store(to, __builtin_shufflevector(low_ab, c, 0, 1, 4, 4));
  V::store(to + columns, __builtin_shufflevector(low_ab, c, 2, 3, 5, 5));
  V::store(to + 2 * columns, __builtin_shufflevector(high_ab, c, 0, 1, 6, 6));
  V::store(to + 3 * columns, __builtin_shufflevector(high_ab, c, 2, 3, 7, 7));
}

// to[i * to_step] = from[i * step]; every second element by vectors.
template <typename T>
void copy_steps(const T* from, int64_t step, T* to, int64_t to_step, int64_t count) {
  int64_t i = 0;
  if constexpr (std::is_integral_v<T>) {
    using V = Vector<T>;
    constexpr auto kCount = static_cast<int64_t>(V::kCount);
    // Loads go beyond the last element that is copied: the last vector is left to the loop below.
    for (; step == 2 && to_step == 1 && i + kCount < count; i += kCount)
      V::store(to + i, V::every_second(V::load(from + 2 * i), V::load(from + 2 * i + kCount)));
  }
  for (; i < count; ++i)
    assign_element(to[i * to_step], from[i * step]);
}

// A tile of this side fits L1 in both directions for every width.
constexpr int64_t kTile = 32;

// to[row][column] = from[column][row].
template <typename T>
void transpose_tile(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows,
                    int64_t columns) {
  constexpr int64_t kSide = Square<T>::kSide;
  int64_t done = 0;
  if constexpr (kSide > 1) {
    const int64_t whole_columns = columns - columns % kSide;
    int64_t first = 0;
    if constexpr (std::is_same_v<T, uint32_t>)
      first = transpose_words(from, from_step, to, to_step, rows, columns);
    for (; done + kSide <= rows; done += kSide) {
      for (int64_t column = first; column < whole_columns; column += kSide) {
        Square<T>::transpose(from + column * from_step + done, from_step,
                             to + done * to_step + column, to_step);
      }
      for (int64_t row = done; row < done + kSide; ++row) {
        for (int64_t column = whole_columns; column < columns; ++column)
          to[row * to_step + column] = from[column * from_step + row];
      }
    }
  }
  for (; done < rows; ++done) {
    for (int64_t column = 0; column < columns; ++column)
      assign_element(to[done * to_step + column], from[column * from_step + done]);
  }
}

// Unlike std::fill_n, gcc makes vectors of this.
template <typename T>
void fill(T* to, int64_t count, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    fill_elements(to, count, value);
  } else {
    constexpr auto kBlock = static_cast<int64_t>(1024 / sizeof(T));
    const int64_t first = std::min(count, kBlock);
    const T held = value;
    for (int64_t i = 0; i < first; ++i)
      to[i] = held;
    // memcpy has the vectors of the machine.
    for (int64_t done = first; done < count; done += kBlock)
      std::memcpy(to + done, to, static_cast<size_t>(std::min(kBlock, count - done)) * sizeof(T));
  }
}

// Runs this short are copied in line: a call costs more.
constexpr int64_t kShortRun = 8;

// A run, `times` times: what is there already is copied in ever fewer calls.
template <typename T>
void repeat_run(const T* from, int64_t count, int64_t times, T* to) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  for (int64_t done = 1; done < times;) {
    const int64_t more = std::min(done, times - done);
    std::memcpy(to + done * count, to, static_cast<size_t>(more * count) * sizeof(T));
    done += more;
  }
}

template <typename T>
void copy_runs(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows,
               int64_t columns) {
  // Of shorter runs, memory would be read across the bounds of what was just written.
  constexpr size_t kRepeatedBytes = 64, kNearBytes = 16 << 10;
  if constexpr (!std::is_same_v<T, std::string>) {
    const size_t bytes = static_cast<size_t>(columns) * sizeof(T);
    if (from_step == 0 && to_step == columns && bytes >= kRepeatedBytes &&
        bytes * static_cast<size_t>(rows) <= kNearBytes)
      return repeat_run(from, columns, rows, to);
  }
  for (int64_t row = 0; row < rows; ++row, from += from_step, to += to_step) {
    if (columns <= kShortRun) {
      for (int64_t column = 0; column < columns; ++column)
        assign_element(to[column], from[column]);
    } else {
      copy_elements(from, columns, to);
    }
  }
}

// to[row * columns + column] = from[column * from_step + row] for 2 or 3 columns. Squares are
// written whole, row by row: what goes beyond the end of a row is overwritten by the next one, so
// the last rows are not moved in this way.
template <typename T>
void interleave(const T* from, int64_t from_step, T* to, int64_t rows, int64_t columns) {
  int64_t done = 0;
  if constexpr (std::is_same_v<T, uint32_t>) {
    for (; done + 4 < rows; done += 4)
      interleave_four(from + done, from_step, to + done * columns, columns);
  }
  for (; done < rows; ++done) {
    for (int64_t column = 0; column < columns; ++column)
      assign_element(to[done * columns + column], from[column * from_step + done]);
  }
}

// Whether the block interleaves planes: the 2 or 3 channels of an image that become adjacent.
bool is_interleaving(const StridedBlock& block) {
  const size_t last = block.sizes.size() - 1;
  const int64_t columns = block.sizes[last];
  return (columns == 2 || columns == 3) && block.to_strides[last] == 1 &&
         block.from_strides[last - 1] == 1 && block.to_strides[last - 1] == columns;
}

// The dim along which the reader runs contiguously while the writer runs along the last dim; -1
// where the block is no transposition.
int64_t find_transposed_dim(const StridedBlock& block) {
  const size_t last = block.sizes.size() - 1;
  const int64_t from_step = block.from_strides[last];
  if (block.to_strides[last] != 1 || from_step == 0 || from_step == 1 || block.sizes[last] < 4) {
    return -1;
  }
  for (size_t i = 0; i < last; ++i) {
    if (block.from_strides[i] == 1 && block.sizes[i] >= 4) return static_cast<int64_t>(i);
  }
  return -1;
}

// The count of elements for sizes that the shape of a tensor has: only those of an empty one may
// overflow.
int64_t count_of(const DimValues& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (size == 0) return 0;
    if (__builtin_mul_overflow(count, size, &count)) count = 0;
  }
  return count;
}

void add_outermost(StridedBlock& block) {
  const auto add = [](DimValues& list, int64_t value) {
    list.push_back(value);
    std::rotate(list.begin(), list.end() - 1, list.end());
  };
  add(block.sizes, 1);
  add(block.from_strides, 0);
  add(block.to_strides, 0);
}

// Makes dim `from` the `to`-th; those between move down by one.
void move_dim(StridedBlock& block, size_t from, size_t to) {
  const auto move = [&](DimValues& list) {
    const auto at = [&](size_t index) { return list.begin() + static_cast<std::ptrdiff_t>(index); };
    std::rotate(at(from), at(from + 1), at(to + 1));
  };
  move(block.sizes);
  move(block.from_strides);
  move(block.to_strides);
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

}  // namespace

size_t element_bytes(DType dtype) {
  return dtype == DType::kString ? sizeof(std::string)
                                 : static_cast<size_t>(std::max(bits_of(dtype), 8)) / 8;
}

BlockCopy::BlockCopy(DType dtype, StridedBlock block)
    : dtype_(dtype), block_(std::move(block)), count_(count_of(block_.sizes)) {
  simplify(block_);
  while (block_.sizes.size() < 2)
    add_outermost(block_);
  const size_t rows = block_.sizes.size() - 2, columns = rows + 1;
  const int64_t transposed = find_transposed_dim(block_);
  if (transposed >= 0) {
    move_dim(block_, static_cast<size_t>(transposed), rows);
    inner_ = InnerLoop::kTransposed;
  } else if (is_interleaving(block_)) {
    inner_ = InnerLoop::kInterleaved;
  } else if (block_.to_strides[columns] == 1 || block_.sizes[columns] == 1) {
    const int64_t step = block_.sizes[columns] == 1 ? 1 : block_.from_strides[columns];
    inner_ = step == 1 ? InnerLoop::kRuns : step == 0 ? InnerLoop::kRepeats : InnerLoop::kSteps;
  }
  split_ = columns;
  for (size_t i = 0; i < columns; ++i) {
    if (block_.sizes[i] > (split_ == columns ? 1 : block_.sizes[split_])) split_ = i;
  }
}

template <typename T>
void BlockCopy::copy_inner(const T* from, T* to, int64_t rows, int64_t columns) const {
  const size_t last = block_.sizes.size() - 1;
  const int64_t from_step = block_.from_strides[last], to_step = block_.to_strides[last];
  const int64_t from_row = block_.from_strides[last - 1], to_row = block_.to_strides[last - 1];
  switch (inner_) {
    case InnerLoop::kRuns:
      return copy_runs(from, from_row, to, to_row, rows, columns);
    case InnerLoop::kRepeats:
      for (int64_t row = 0; row < rows; ++row)
        fill(to + row * to_row, columns, from[row * from_row]);
      return;
    case InnerLoop::kTransposed:
      for (int64_t row = 0; row < rows; row += kTile) {
        for (int64_t column = 0; column < columns; column += kTile) {
          transpose_tile(from + column * from_step + row, from_step, to + row * to_row + column,
                         to_row, std::min(kTile, rows - row), std::min(kTile, columns - column));
        }
      }
      return;
    case InnerLoop::kInterleaved:
      return interleave(from, from_step, to, rows, columns);
    case InnerLoop::kSteps:
      for (int64_t row = 0; row < rows; ++row)
        copy_steps(from + row * from_row, from_step, to + row * to_row, to_step, columns);
      return;
  }
}

// How many elements the levels below `level` write without a gap; 0 where there is one.
int64_t BlockCopy::dense_below(const int64_t* sizes, size_t level) const {
  int64_t count = 1;
  for (size_t i = block_.sizes.size() - 1; i > level; --i) {
    if (sizes[i] != 1 && block_.to_strides[i] != count) return 0;
    count *= sizes[i];
  }
  return count;
}

// Every level has two elements or more, so there are at most 63 of them.
template <typename T>
void BlockCopy::walk(const T* from, T* to, const int64_t* sizes, size_t level) const {
  if (level + 2 == block_.sizes.size()) return copy_inner(from, to, sizes[level], sizes[level + 1]);
  // What repeats is copied from where it was written, in one run, if a second-level cache has it.
  constexpr size_t kNearBytes = 768 << 10;
  if constexpr (!std::is_same_v<T, std::string>) {
    const bool repeats = block_.from_strides[level] == 0 && sizes[level] > 1;
    const int64_t run = repeats ? dense_below(sizes, level) : 0;
    const size_t bytes = static_cast<size_t>(run) * sizeof(T);
    if (run > 0 && bytes <= kNearBytes) {
      walk(from, to, sizes, level + 1);
      for (int64_t i = 1; i < sizes[level]; ++i)
        std::memcpy(to + i * block_.to_strides[level], to, bytes);
      return;
    }
  }
  for (int64_t i = 0; i < sizes[level]; ++i) {
    walk(from, to, sizes, level + 1);
    from += block_.from_strides[level];
    to += block_.to_strides[level];
  }
}

void BlockCopy::run_part(const void* from, void* to, int64_t part, int64_t parts) const {
  if (count_ == 0) return;
  std::array<int64_t, 65> sizes;
  std::copy(block_.sizes.begin(), block_.sizes.end(), sizes.begin());
  const int64_t size = block_.sizes[split_];
  const int64_t begin = size * part / parts;
  sizes[split_] = size * (part + 1) / parts - begin;
  const int64_t from_offset = block_.from_offset + begin * block_.from_strides[split_];
  const int64_t to_offset = block_.to_offset + begin * block_.to_strides[split_];
  dispatch_width(dtype_, [&]<typename T>() {
    walk(static_cast<const T*>(from) + from_offset, static_cast<T*>(to) + to_offset, sizes.data(),
         0);
  });
}

void copy_strided(DType dtype, const void* from, void* to, StridedBlock block) {
  const BlockCopy copy(dtype, std::move(block));
  constexpr int64_t kPiece = 1 << 20;  // between two checks, where the block can be cut so fine
  const int64_t pieces = copy.count() / kPiece + 1;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    if (piece > 0) check_interrupted();
    copy.run_part(from, to, piece, pieces);
  }
}

void copy_run(DType dtype, const void* from, int64_t from_index, void* to, int64_t to_index,
              int64_t count) {
  if (count <= 0) return;
  if (dtype == DType::kString) {
    copy_elements(static_cast<const std::string*>(from) + from_index, count,
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
    fill(static_cast<T*>(to) + to_index, count, *static_cast<const T*>(value));
  });
}

}  // namespace sardonyx
