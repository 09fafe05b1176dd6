// Operators of com.microsoft that ONNX Runtime keeps in ai.onnx, whatever the opset. Files that it
// has optimised are full of them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace sardonyx {

// The opset of ai.onnx below which an operator of this name in it is com.microsoft's; nullopt for
// names that ONNX Runtime does not keep there.
inline std::optional<int64_t> adopted_below(std::string_view op) {
  if (op == "SimplifiedLayerNormalization") return std::numeric_limits<int64_t>::max();
  if (op == "LayerNormalization") return 17;  // from there on ai.onnx's own, which means the same
  return std::nullopt;
}

}  // namespace sardonyx
