// Outputs that need no copying, since their elements are in one piece in an input.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace sardonyx {

// The offset, in elements, of each output of a Split, a Slice or a Gather of one index in the
// row-major input 0 of shape `input`; nullopt where the op is another, an output is scattered over
// the input, or what selects the elements is not among `constants` (by input, null where not
// known).
Offsets part_offsets(const Node& node, const Shape& input, std::span<const Tensor* const> constants,
                     std::span<const Shape> outputs);

// The offset, in elements, of each input of a Concat in its row-major output; nullopt where the
// inputs are scattered over it.
Offsets concat_offsets(const Node& node, std::span<const Shape> inputs, const Shape& output);

}  // namespace sardonyx
