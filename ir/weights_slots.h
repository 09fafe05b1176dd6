// Where ops have the weights that plans pack, so that the originals need not stay in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sardonyx {

struct OpDef;

// The inputs (bit k: input k) that hold the weights of products, or the table of a Gather: elements
// that nothing but the op's kernels looks into. 0 for ops that have none. `domain` may be
// "ai.onnx".
uint32_t weights_slots(std::string_view domain, std::string_view op);

// Input `slot` of these ops may be a constant that is not in memory when kernels are prepared: they
// look at the weights of a product through the PackCache alone, or where the run finds them, and at
// the table of a Gather in the run. Other constants may be looked at by anybody.
bool may_be_away(const OpDef& op, size_t slot);

}  // namespace sardonyx
