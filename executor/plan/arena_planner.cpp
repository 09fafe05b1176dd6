#include "executor/plan/arena_planner.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "ir/core/memory/guard_pages.h"
#include "ir/core/rounding.h"

namespace sardonyx {
namespace {

size_t aligned(size_t bytes) {
  return rounded_up(bytes, kArenaAlignment);
}

// Items with offsets, indexed by the steps of their live ranges, so that a query for one time
// visits few others.
class PlacedItems {
 public:
  explicit PlacedItems(size_t steps) : spans_(steps / kSteps + 1) {}

  void add(const MemoryItem& item) {
    for (size_t span = item.first_step / kSteps; span <= item.last_step / kSteps; ++span)
      spans_[span].push_back(&item);
  }

  // Best fit: the smallest gap between the items alive at the same time; behind all if none fits.
  size_t best_offset(const MemoryItem& item) {
    taken_.clear();
    const size_t first = item.first_step / kSteps;
    for (size_t span = first; span <= item.last_step / kSteps; ++span) {
      for (const MemoryItem* other : spans_[span]) {
        const bool is_seen = span > std::max(first, other->first_step / kSteps);
        if (is_seen || other->first_step > item.last_step || item.first_step > other->last_step)
          continue;
        taken_.emplace_back(other->offset, other->offset + aligned(other->bytes));
      }
    }
    std::sort(taken_.begin(), taken_.end());
    const size_t size = aligned(item.bytes);
    size_t best = SIZE_MAX, best_gap = SIZE_MAX, end = 0;
    for (const auto& [begin, stop] : taken_) {
      if (begin > end && begin - end >= size && begin - end < best_gap) {
        best = end;
        best_gap = begin - end;
      }
      end = std::max(end, stop);
    }
    return best == SIZE_MAX ? end : best;
  }

 private:
  static constexpr size_t kSteps = 8;  // of one span
  std::vector<std::vector<const MemoryItem*>> spans_;
  std::vector<std::pair<size_t, size_t>> taken_;
};

size_t step_count(const std::vector<MemoryItem>& items) {
  size_t steps = 0;
  for (const MemoryItem& item : items)
    steps = std::max(steps, item.last_step + 1);
  return steps;
}

size_t place_in_order(std::vector<MemoryItem>& items, const std::vector<size_t>& order) {
  PlacedItems placed(step_count(items));
  size_t top = 0;
  const auto place = [&](MemoryItem& item, size_t offset) {
    item.offset = offset;
    placed.add(item);
    top = std::max(top, item.offset + aligned(item.bytes));
  };
  for (const size_t index : order)
    place(items[index], placed.best_offset(items[index]));
  return top;
}

// The number of live bytes at each step.
std::vector<std::ptrdiff_t> breadth_of(const std::vector<MemoryItem>& items) {
  std::vector<std::ptrdiff_t> growth(step_count(items) + 1);
  for (const MemoryItem& item : items) {
    growth[item.first_step] += static_cast<std::ptrdiff_t>(aligned(item.bytes));
    growth[item.last_step + 1] -= static_cast<std::ptrdiff_t>(aligned(item.bytes));
  }
  std::partial_sum(growth.begin(), growth.end(), growth.begin());
  growth.pop_back();
  return growth;
}

}  // namespace

size_t peak_live_bytes(const std::vector<MemoryItem>& items) {
  const std::vector<std::ptrdiff_t> breadth = breadth_of(items);
  return breadth.empty() ? 0 : static_cast<size_t>(std::ranges::max(breadth));
}

namespace {

using Order = std::vector<size_t>;

Order order_by(const std::vector<MemoryItem>& items, const auto& comes_before) {
  Order order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return comes_before(items[a], items[b]); });
  return order;
}

// Orders items by the live bytes of their steps, largest first; within a step by size.
Order by_breadth(const std::vector<MemoryItem>& items) {
  const std::vector<std::ptrdiff_t> breadth = breadth_of(items);
  // The broadest step that an item lives through decides when it is placed.
  std::vector<std::ptrdiff_t> widest(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    widest[i] =
        *std::max_element(breadth.begin() + static_cast<std::ptrdiff_t>(items[i].first_step),
                          breadth.begin() + static_cast<std::ptrdiff_t>(items[i].last_step) + 1);
  }
  Order order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return widest[a] != widest[b] ? widest[a] > widest[b] : items[a].bytes > items[b].bytes;
  });
  return order;
}

}  // namespace

size_t assign_offsets(std::vector<MemoryItem>& items) {
  const auto larger = [](const MemoryItem& a, const MemoryItem& b) { return a.bytes > b.bytes; };
  const auto earlier = [](const MemoryItem& a, const MemoryItem& b) {
    return a.first_step != b.first_step ? a.first_step < b.first_step : a.bytes > b.bytes;
  };
  const auto longer = [](const MemoryItem& a, const MemoryItem& b) {
    const size_t length_a = a.last_step - a.first_step, length_b = b.last_step - b.first_step;
    return length_a != length_b ? length_a > length_b : a.bytes > b.bytes;
  };
  const size_t least = peak_live_bytes(items);
  std::vector<MemoryItem> best;
  size_t best_size = SIZE_MAX;
  const std::function<Order()> orders[] = {
      [&] { return order_by(items, larger); }, [&] { return by_breadth(items); },
      [&] { return order_by(items, earlier); }, [&] { return order_by(items, longer); }};
  for (const auto& order : orders) {
    if (best_size == least) break;
    const size_t size = place_in_order(items, order());
    if (size >= best_size) continue;
    best_size = size;
    best = items;
  }
  items = std::move(best);
  return best_size;
}

size_t place_items_apart(std::vector<MemoryItem>& items, size_t gap) {
  size_t top = gap;
  for (MemoryItem& item : items) {
    const size_t end = rounded_up(top + aligned(item.bytes), gap);
    item.offset = end - aligned(item.bytes);
    top = end + gap;
  }
  return top;
}

void guard_gaps(const std::vector<MemoryItem>& items, std::byte* base, size_t bytes) {
  open_gap(base, bytes);
  std::vector<std::pair<size_t, size_t>> taken;
  for (const MemoryItem& item : items)
    taken.emplace_back(item.offset, item.offset + aligned(item.bytes));
  taken.emplace_back(bytes, bytes);
  std::sort(taken.begin(), taken.end());
  size_t end = 0;
  for (const auto& [begin, stop] : taken) {
    close_gap(base + end, begin - end);
    end = stop;
  }
}

}  // namespace sardonyx
