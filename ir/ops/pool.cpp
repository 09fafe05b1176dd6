#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> pool_ops() { return {}; }

}  // namespace sardonyx::ops
