#pragma once

#include <cstdint>

namespace sardonyx {

using ValueId = uint32_t;  // the index of a value in an IndexedGraph
constexpr ValueId kNoValue = UINT32_MAX;

}  // namespace sardonyx
