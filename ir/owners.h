// When memory may be written that its holder refers to more than once.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "ir/sanitizers.h"

namespace sardonyx {

// Nobody holds the object but `count` pointers, all of which belong to the caller. As for one
// pointer (ir/sole_owner.h), the answer lasts as long as no other thread reaches them.
template <typename T>
bool has_only_owners(const std::shared_ptr<T>& pointer, size_t count) {
  if (pointer.use_count() != static_cast<long>(count)) return false;
  // use_count() orders nothing. With this, what is written from here on comes after all that others
  // read before they let go. ThreadSanitizer does not see fences.
  if constexpr (kThreadSanitizer)
    std::shared_ptr<T>(pointer).reset();
  else
    std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

}  // namespace sardonyx
