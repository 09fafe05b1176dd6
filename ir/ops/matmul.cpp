#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> matmul_ops() { return {}; }

}  // namespace sardonyx::ops
