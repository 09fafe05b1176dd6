// Activations at the end of fused ops, as functions of rows.
#pragma once

#include <optional>
#include <span>

#include "ir/ops/conv/fused_ops.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"

namespace sardonyx::cpu {

struct RowActivation {
  Unary op;
  UnaryParams params;
};

// An op's parameters, in their order, as the row function takes them.
UnaryParams unary_params(std::span<const float> params);
// nullopt where there is none, or no row function computes it.
std::optional<RowActivation> row_activation(const ops::FusedActivation& activation);

}  // namespace sardonyx::cpu
