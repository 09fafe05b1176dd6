#include "providers/cpu/elementwise/fused_activation.h"

namespace sardonyx::cpu {

UnaryParams unary_params(std::span<const float> params) {
  UnaryParams result;
  if (!params.empty()) result.a = params[0];
  if (params.size() > 1) result.b = params[1];
  return result;
}

std::optional<RowActivation> row_activation(const ops::FusedActivation& activation) {
  const Unary function = find_unary(activation.name);
  if (!function) return std::nullopt;
  return RowActivation{function, unary_params(activation.params)};
}

}  // namespace sardonyx::cpu
