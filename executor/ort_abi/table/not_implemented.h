// The answers of members that are not implemented.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {

// A status that names the member.
OrtStatus* not_implemented(const char* member) noexcept;

// Where a function puts what it makes: `T**` with a T* that may be written.
template <typename T>
constexpr bool kIsMutablePointer =
    std::is_pointer_v<T> && !std::is_const_v<std::remove_pointer_t<T>>;
template <typename T>
constexpr bool kIsPlace = kIsMutablePointer<T>&& std::is_pointer_v<std::remove_pointer_t<T>>;

template <typename T>
void clear_place(T argument) {
  if constexpr (kIsPlace<T>) {
    if (argument) *argument = nullptr;
  }
}

// Results stand at the end of a parameter list: the pointers there that may be written through.
template <typename... Args>
void clear_places(Args... args) {
  constexpr bool kMutable[] = {kIsMutablePointer<Args>..., true};
  size_t first = sizeof...(Args);
  while (first > 0 && kMutable[first - 1])
    --first;
  size_t index = 0;
  ((index++ >= first ? clear_place(args) : void()), ...);
}

// The function in place of member `index` of the table `Table`, whose type is `Function`: it has a
// status that says so, releases nothing, and has NULL, 0 or false for a value.
template <typename Table, size_t index, const char* const& name, typename Function>
struct NotImplemented;

template <typename Table, size_t index, const char* const& name, typename Return, typename... Args>
struct NotImplemented<Table, index, name, Return (*)(Args...)> {
  static Return call(Args... args) noexcept {
    clear_places(args...);
    if constexpr (std::is_same_v<Return, OrtStatus*>)
      return not_implemented(name);
    else if constexpr (!std::is_void_v<Return>)
      return Return{};
  }
};

}  // namespace sardonyx::ort_abi
