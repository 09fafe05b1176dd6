// When memory may be written that its holder refers to more than once.
#pragma once

#include <cstddef>
#include <memory>

namespace sardonyx {

// Nobody holds the object but `count` pointers, all of which belong to the caller. As for one
// pointer (ir/sole_owner.h), the answer lasts as long as no other thread reaches them.
template <typename T>
bool has_only_owners(const std::shared_ptr<T>& pointer, size_t count) {
  if (pointer.use_count() != static_cast<long>(count)) return false;
  // What is written from here on comes after all that others read before they let go.
  std::shared_ptr<T>(pointer).reset();
  return true;
}

}  // namespace sardonyx
