// Where ops have the weights that plans pack, so that the originals need not stay in memory.
#pragma once

#include <cstdint>
#include <string_view>

namespace sardonyx {

// The inputs (bit k: input k) that hold the weights of products, or the table of a Gather: elements
// that nothing but the op's kernels looks into. 0 for ops that have none. `domain` may be
// "ai.onnx".
uint32_t weights_slots(std::string_view domain, std::string_view op);

}  // namespace sardonyx
