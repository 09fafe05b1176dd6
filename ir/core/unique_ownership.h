// When what is shared may be changed in place.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "ir/core/sanitizers.h"

namespace sardonyx {

// Nobody holds the object but `count` pointers, all of which belong to the caller. The answer lasts
// as long as no other thread reaches these: a copy is made from one that holds the object, and
// there is no other. So it is to be asked of one's own slots alone, never of a value that others
// may be reading; and nothing holds these objects by weak_ptr, which would make further owners out
// of nowhere.
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

template <typename T>
bool is_sole_owner(const std::shared_ptr<T>& pointer) {
  return has_only_owners(pointer, 1);
}

}  // namespace sardonyx
