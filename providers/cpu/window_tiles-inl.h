// How pictures are cut into tiles of windows that are computed together.
// Included once for each target, inside the scheme of hwy/foreach_target.h.
#if defined(SARDONYX_WINDOW_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_WINDOW_TILES_INL
#undef SARDONYX_WINDOW_TILES_INL
#else
#define SARDONYX_WINDOW_TILES_INL
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
  constexpr auto kMost = static_cast<int64_t>(kWindows);
  const int64_t tiles = (columns + kMost - 1) / kMost;
  for (int64_t row = first_row; row < last_row;) {
    const int64_t left = last_row - row;
    const int64_t rows = left >= 4 && 4 * columns <= kMost   ? 4
                         : left >= 2 && 2 * columns <= kMost ? 2
                                                             : 1;
    for (int64_t tile = 0; tile < tiles; ++tile)
      visit(row, rows, columns * tile / tiles, columns * (tile + 1) / tiles);
    row += rows;
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
