#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> contrib_quantized_ops() { return {}; }

}  // namespace sardonyx::ops
