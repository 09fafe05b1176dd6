// Executables that compute some values of a model alone.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "executor/run/executable.h"

namespace sardonyx {

struct PartialExecutable {
  std::unique_ptr<Executable> executable;  // whose graph has the inputs that the values need
  std::vector<size_t> inputs;              // which of the session's each of its inputs is
};

// The values `names` of `graph`, in this order, and what they need. Throws kInvalidArgument where
// the graph has no such value.
std::shared_ptr<Graph> selected(const Graph& graph, std::span<const std::string> names);

// A least-recently-used cache of selections, or other items of that kind, by key.
template <typename Key, typename Item = const PartialExecutable>
class PartialExecutables {
 public:
  using Made = std::shared_ptr<Item>;
  // Returns the item of `key`, which `make` makes where there is none; then the least recently used
  // item is dropped if there are more than `most`.
  template <typename Make>
  Made find(std::span<const Key> key, size_t most, const Make& make) {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find_if(
        kept_, [&](const Entry& entry) { return std::ranges::equal(entry.key, key); });
    if (at != kept_.end()) {
      std::rotate(kept_.begin(), at, at + 1);
      return kept_.front().made;
    }
    kept_.insert(kept_.begin(), Entry{{key.begin(), key.end()}, make()});
    const Made made = kept_.front().made;
    if (kept_.size() > most) kept_.pop_back();
    return made;
  }
  void each(const auto& visit) const {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : kept_)
      visit(*entry.made);
  }

 private:
  struct Entry {
    std::vector<Key> key;
    Made made;
  };
  mutable std::mutex mutex_;
  std::vector<Entry> kept_;  // the one that was used last goes first
};

}  // namespace sardonyx
