// How images are cut into tiles of windows that are computed in one pass.
// Included once for each target, inside the scheme of hwy/foreach_target.h.
#if defined(SARDONYX_OUTPUT_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_OUTPUT_TILE_INL
#undef SARDONYX_OUTPUT_TILE_INL
#else
#define SARDONYX_OUTPUT_TILE_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {

// Calls visit(row, rows, first column, last column) for tiles of at most kWindows windows that make
// up the rows. Windows of narrow images are computed over several rows.
template <size_t kWindows, typename Visit>
HWY_INLINE void for_tiles(int64_t first_row, int64_t last_row, int64_t columns,
                          const Visit& visit) {
  constexpr auto kMax = static_cast<int64_t>(kWindows);
  const int64_t tiles = (columns + kMax - 1) / kMax;
  for (int64_t row = first_row; row < last_row;) {
    const int64_t left = last_row - row;
    const int64_t rows = left >= 4 && 4 * columns <= kMax   ? 4
                         : left >= 2 && 2 * columns <= kMax ? 2
                                                            : 1;
    for (int64_t tile = 0; tile < tiles; ++tile)
      visit(row, rows, columns * tile / tiles, columns * (tile + 1) / tiles);
    row += rows;
  }
}

// The addresses of a tile of kRows x kColumns windows. A few are kept in registers; those of the
// windows between are computed from them.
template <size_t kRows, size_t kColumns, typename T>
class WindowAddresses {
 public:
  // `first` is the first element of the first window; `row` and `column` are the distances from
  // window to window, in elements.
  HWY_INLINE WindowAddresses(const T* first, int64_t row, int64_t column) : column_(column) {
#pragma GCC unroll 32
    for (size_t i = 0; i < kRows * kOfRow; ++i)
      kept_[i] = first + static_cast<int64_t>(i / kOfRow) * row +
                 static_cast<int64_t>(i % kOfRow * kPerAddress) * column;
  }

  // The element of window `i` that is `offset` from its first one.
  HWY_INLINE const T* element(size_t i, int64_t offset) const {
    const T* near = kept_[i / kColumns * kOfRow + i % kColumns / kPerAddress] + offset;
    return near + static_cast<int64_t>(i % kColumns % kPerAddress) * column_;
  }

 private:
  static constexpr size_t kPerAddress = 3;
  static constexpr size_t kOfRow = (kColumns + kPerAddress - 1) / kPerAddress;
  const T* kept_[kRows * kOfRow];
  int64_t column_;
};

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
