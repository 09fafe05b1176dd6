// Writing the elements of string tensors: what they hold beyond their own object is counted by the
// memory budget of their buffer before it is taken, and long copies look at the deadline.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ir/core/run_control.h"

namespace sardonyx {

// The strings of one buffer, which are there as long as this is. Counts nothing where the thread
// that makes it has no budget.
class CountedStrings {
 public:
  CountedStrings(const std::string* strings, int64_t count);
  ~CountedStrings();
  CountedStrings(const CountedStrings&) = delete;
  CountedStrings& operator=(const CountedStrings&) = delete;

 private:
  struct Entry;
  std::shared_ptr<Entry> entry_;
  friend void count_characters(const std::string& string, size_t before, size_t after);
};

// Bytes that a string of this capacity has beside its object.
inline size_t outside_bytes(size_t capacity) {
  static const size_t inside = std::string().capacity();
  return capacity > inside ? capacity + 1 : 0;
}

// `string`, an element of some buffer's, has now, or will have at once, `after` outside bytes in
// place of `before`. Throws kResourceExhausted beyond the limit. Strings of no buffer are not
// counted.
void count_characters(const std::string& string, size_t before, size_t after);
// `bytes` were copied: looks at deadline and cancellation now and then.
void note_copied(size_t bytes);

// Each gives `to` the characters of `from`. `to` is unchanged where they throw.
void assign_string(std::string& to, std::string_view from);
void assign_string(std::string& to, const std::string& from);
void move_string(std::string& to, std::string&& from);

// Does what assign_string() does but for note_copied(), which the caller calls once for many
// strings.
template <typename String>
void assign_noted_string(std::string& to, const String& from) {
  // A string that is too short grows to twice its capacity at least.
  if (const size_t before = to.capacity(); from.size() > before)
    count_characters(to, outside_bytes(before), outside_bytes(std::max(from.size(), 2 * before)));
  to = from;
}

// Elements of any type, which are moved without looking into them.
template <typename T>
void assign_element(T& to, const T& from) {
  if constexpr (std::is_same_v<T, std::string>)
    assign_string(to, from);
  else
    to = from;
}
template <typename T>
void copy_elements(const T* from, int64_t count, T* to) {
  if constexpr (!std::is_same_v<T, std::string>) {
    std::copy_n(from, count, to);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    assign_element(to[i], from[i]);
}
template <typename T>
void fill_elements(T* to, int64_t count, const T& value) {
  for (int64_t i = 0; i < count; ++i)
    assign_element(to[i], value);
}

}  // namespace sardonyx
