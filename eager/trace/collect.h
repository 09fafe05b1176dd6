// The tensors that arguments and results of functions are made of.
#pragma once

#include <tuple>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager::detail {

// The tensors among arguments and results: Tensors, vectors, pairs and tuples of them, and structs
// with a `tensors()`; others are passed over.
inline void collect_tensors(std::vector<Tensor>& into, const Tensor& tensor) {
  into.push_back(tensor);
}
inline void collect_tensors(std::vector<Tensor>& into, const std::vector<Tensor>& tensors) {
  into.insert(into.end(), tensors.begin(), tensors.end());
}
template <typename T>
void collect_tensors(std::vector<Tensor>& into, const T& value) {
  if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply([&](const auto&... parts) { (collect_tensors(into, parts), ...); }, value);
  } else if constexpr (requires { value.tensors(); }) {
    collect_tensors(into, value.tensors());
  }
}

// The other way: `next` and the following ones, as many as there are.
inline void place_tensors(const std::vector<Tensor>& from, size_t& next, Tensor& into) {
  into = from[next++];
}
inline void place_tensors(const std::vector<Tensor>& from, size_t& next,
                          std::vector<Tensor>& into) {
  for (Tensor& tensor : into)
    tensor = from[next++];
}

}  // namespace sardonyx::eager::detail
