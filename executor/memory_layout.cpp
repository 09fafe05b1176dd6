#include "executor/memory_layout.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sardonyx {
namespace {

size_t rounded(size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool overlap_in_time(const MemoryItem& a, const MemoryItem& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

// The smallest gap between the already placed items that live at the same time; past all of them
// where none fits.
size_t best_offset(const std::vector<const MemoryItem*>& placed, const MemoryItem& item) {
  std::vector<std::pair<size_t, size_t>> taken;
  for (const MemoryItem* other : placed) {
    if (overlap_in_time(*other, item))
      taken.emplace_back(other->offset, other->offset + rounded(other->bytes));
  }
  std::sort(taken.begin(), taken.end());
  const size_t size = rounded(item.bytes);
  size_t best = SIZE_MAX, best_gap = SIZE_MAX, end = 0;
  for (const auto& [begin, stop] : taken) {
    if (begin > end && begin - end >= size && begin - end < best_gap) {
      best = end;
      best_gap = begin - end;
    }
    end = std::max(end, stop);
  }
  return best == SIZE_MAX ? end : best;
}

size_t place_in_order(std::vector<MemoryItem>& items, const std::vector<size_t>& order) {
  std::vector<const MemoryItem*> placed;
  size_t top = 0;
  for (const size_t index : order) {
    MemoryItem& item = items[index];
    item.offset = best_offset(placed, item);
    placed.push_back(&item);
    top = std::max(top, item.offset + rounded(item.bytes));
  }
  return top;
}

}  // namespace

size_t live_peak(const std::vector<MemoryItem>& items) {
  std::map<size_t, std::ptrdiff_t> changes;  // step -> growth
  for (const MemoryItem& item : items) {
    changes[item.first_step] += static_cast<std::ptrdiff_t>(rounded(item.bytes));
    changes[item.last_step + 1] -= static_cast<std::ptrdiff_t>(rounded(item.bytes));
  }
  std::ptrdiff_t live = 0, peak = 0;
  for (const auto& [step, growth] : changes)
    peak = std::max(peak, live += growth);
  return static_cast<size_t>(peak);
}

size_t place_items(std::vector<MemoryItem>& items) {
  std::vector<size_t> by_size(items.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::vector<size_t> by_time = by_size;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return items[a].bytes > items[b].bytes; });
  std::stable_sort(by_time.begin(), by_time.end(), [&](size_t a, size_t b) {
    return items[a].first_step != items[b].first_step ? items[a].first_step < items[b].first_step
                                                      : items[a].bytes > items[b].bytes;
  });
  const size_t size_first = place_in_order(items, by_size);
  if (size_first == live_peak(items)) return size_first;
  std::vector<MemoryItem> other = items;
  const size_t time_first = place_in_order(other, by_time);
  if (time_first >= size_first) return size_first;
  items = std::move(other);
  return time_first;
}

}  // namespace sardonyx
