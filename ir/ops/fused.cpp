#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> fused_ops() { return {}; }

}  // namespace sardonyx::ops
