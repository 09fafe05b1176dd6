// MatMulFpQ4: products with weights of 4 bits in one blob with their scales.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

// The one row of a table of its own.
std::span<const OpDef> contrib_blob_weight_ops();

}  // namespace sardonyx::ops
