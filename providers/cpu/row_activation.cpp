#include "providers/cpu/row_activation.h"

#include <string_view>
#include <utility>

namespace sardonyx::cpu {

std::optional<RowActivation> row_activation(const ops::FusedActivation& activation) {
  static constexpr std::pair<std::string_view, Unary> kRows[] = {
      {"Relu", Unary::kRelu},
      {"Sigmoid", Unary::kSigmoid},
      {"Tanh", Unary::kTanh},
      {"HardSwish", Unary::kHardSwish},
      {"Gelu", Unary::kGelu},
      {"GeluTanh", Unary::kGeluTanh},
      {"Clip", Unary::kClip},
      {"LeakyRelu", Unary::kLeakyRelu},
      {"Elu", Unary::kElu},
      {"Swish", Unary::kSwish},
      {"HardSigmoid", Unary::kHardSigmoid},
  };
  for (const auto& [name, op] : kRows) {
    if (name != activation.name) continue;
    UnaryParams params;
    if (!activation.params.empty()) params.a = activation.params[0];
    if (activation.params.size() > 1) params.b = activation.params[1];
    return RowActivation{op, params};
  }
  return std::nullopt;
}

}  // namespace sardonyx::cpu
