// Loops of one thread over many elements that end early when the run is cancelled or its deadline
// passes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ir/core/run_control.h"

namespace sardonyx {

// Elements between two looks at the clock: a millisecond or a few.
constexpr int64_t kElementsInPiece = 1 << 20;

// Calls body(begin, end) for one piece of [0, count) after the other. Throws as check_interrupted()
// does.
template <typename Body>
void in_pieces(int64_t count, const Body& body) {
  for (int64_t begin = 0; begin < count; begin += kElementsInPiece) {
    check_interrupted();
    body(begin, std::min(count, begin + kElementsInPiece));
  }
}

// Makes `values` as long as `count`, where the system may take long to give the memory.
template <typename Values>
void resize_in_pieces(Values& values, size_t count) {
  values.reserve(count);
  in_pieces(static_cast<int64_t>(count),
            [&](int64_t, int64_t end) { values.resize(static_cast<size_t>(end)); });
  values.resize(count);
}

}  // namespace sardonyx
