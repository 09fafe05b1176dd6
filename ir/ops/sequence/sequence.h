// Attributes of the ops on sequences and optionals, and how types of different values join.
#pragma once

#include <functional>
#include <optional>

#include "ir/attributes.h"
#include "ir/type.h"

namespace sardonyx::ops {

struct SequenceEmptyAttrs {
  std::optional<DType> dtype;  // absent: float
  static auto fields() { return std::tuple{field("dtype", &SequenceEmptyAttrs::dtype)}; }
};

struct ConcatFromSequenceAttrs {
  int64_t axis = 0;
  bool new_axis = false;
  static auto fields() {
    return std::tuple{required("axis", &ConcatFromSequenceAttrs::axis),
                      field("new_axis", &ConcatFromSequenceAttrs::new_axis)};
  }
};

struct SplitToSequenceAttrs {
  int64_t axis = 0;
  bool keepdims = true;  // only looked at where no split is given
  static auto fields() {
    return std::tuple{field("axis", &SplitToSequenceAttrs::axis),
                      field("keepdims", &SplitToSequenceAttrs::keepdims)};
  }
};

struct OptionalAttrs {
  std::optional<Type> type;  // of the element, where no input tells it
  static auto fields() { return std::tuple{field("type", &OptionalAttrs::type)}; }
};

// The narrowest type that values of both types have: dims that differ become unknown(), shapes of
// different rank become unknown ranks. nullopt where kinds or element types differ.
std::optional<Type> joined(const Type& a, const Type& b, const std::function<Dim()>& unknown);

}  // namespace sardonyx::ops
