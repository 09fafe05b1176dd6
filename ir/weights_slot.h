// Where ops have the weights that plans pack, so that the originals need not stay in memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sardonyx {

// The input that holds the weights of a product, or the table of a Gather: elements that nothing
// but the op's kernels looks into. nullopt for ops that have none. `domain` may be "ai.onnx".
std::optional<size_t> weights_slot(std::string_view domain, std::string_view op);

}  // namespace sardonyx
