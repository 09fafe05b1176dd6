// The epilogue of float kernels: clipping and the activation, applied to sums before they are
// stored.
#pragma once

#include <cmath>
#include <optional>

#include "ir/ops/conv/fused_ops.h"
#include "providers/cpu/elementwise/fused_activation.h"

namespace sardonyx::cpu {

// The epilogue of a convolution or GEMM: sums are clipped to [low, high], then the activation is
// applied.
struct Epilogue {
  float low = -HUGE_VALF, high = HUGE_VALF;
  std::optional<RowActivation> function;
};
// nullopt where no row function computes the activation.
std::optional<Epilogue> make_epilogue(const ops::FusedActivation& activation);

}  // namespace sardonyx::cpu
