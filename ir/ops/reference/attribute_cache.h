// What kernels make of a node's attributes: it takes far longer than a call of the kernel does, so
// what was made for the last few nodes is kept.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "ir/attributes.h"

namespace sardonyx::ops {

// `make(attrs.as<S>())`, a Made, for `attrs` and a number that it depends on as well. An entry
// holds its attributes, so their address names them.
template <typename Made, typename S, typename Make>
std::shared_ptr<const Made> cached_for_attributes(const Attrs& attrs, int64_t variant,
                                                  const Make& make) {
  struct Entry {
    Attrs attrs;
    int64_t variant;
    std::shared_ptr<const Made> made;
  };
  constexpr size_t kKept = 8;
  static std::mutex mutex;
  static auto& kept = *new std::vector<Entry>;  // the one used last comes first
  const auto* wanted = &attrs.as<S>();
  {
    const std::lock_guard lock(mutex);
    const auto at = std::ranges::find_if(kept, [&](const Entry& entry) {
      return &entry.attrs.template as<S>() == wanted && entry.variant == variant;
    });
    if (at != kept.end()) {
      std::rotate(kept.begin(), at, at + 1);
      return kept.front().made;
    }
  }
  auto made = std::make_shared<const Made>(make(*wanted));
  const std::lock_guard lock(mutex);
  kept.insert(kept.begin(), {attrs, variant, made});
  if (kept.size() > kKept) kept.pop_back();
  return made;
}

}  // namespace sardonyx::ops
