// com.microsoft's operators that optimised graphs of diffusion models and of training consist of.
#pragma once

#include <span>

#include "ir/op_def.h"

namespace sardonyx::ops {

std::span<const OpDef> contrib_optimized_ops();

}  // namespace sardonyx::ops
