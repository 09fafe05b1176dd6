// When what is shared may be changed in place.
#pragma once

#include <memory>

namespace sardonyx {

// Nobody but `pointer` holds the object. The answer lasts as long as no other thread reaches
// `pointer` itself: a copy is made from one that holds the object, and there is no other. So it is
// to be asked of one's own slots alone, never of a value that others may be reading; and nothing
// holds these objects by weak_ptr, which would make further owners out of nowhere.
template <typename T>
bool is_sole_owner(const std::shared_ptr<T>& pointer) {
  if (pointer.use_count() != 1) return false;
  // use_count() orders nothing. Letting go of one more does: what is written from here on comes
  // after all that the others read before they let go.
  std::shared_ptr<T>(pointer).reset();
  return true;
}

}  // namespace sardonyx
