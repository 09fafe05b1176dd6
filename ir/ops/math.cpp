#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> math_ops() { return {}; }

}  // namespace sardonyx::ops
