// Activations at the end of fused ops, as functions of rows.
#pragma once

#include <optional>

#include "ir/ops/fused.h"
#include "providers/cpu/rows.h"

namespace sardonyx::cpu {

struct RowActivation {
  Unary op;
  UnaryParams params;
};

// nullopt where there is none, or no row function computes it.
std::optional<RowActivation> row_activation(const ops::FusedActivation& activation);

}  // namespace sardonyx::cpu
