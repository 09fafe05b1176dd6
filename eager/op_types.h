// What the declarations of eager/op.h are written in.
#pragma once

#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eager/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager::op {

// A list that may be given or not: `{}` is not given, `{2, 2}` and std::vector<T>{} are.
template <typename T>
struct OptionalList : std::optional<std::vector<T>> {
  OptionalList() = default;
  OptionalList(std::initializer_list<T> values) : std::optional<std::vector<T>>(values) {}
  OptionalList(std::vector<T> values) : std::optional<std::vector<T>>(std::move(values)) {}
};

}  // namespace sardonyx::eager::op
