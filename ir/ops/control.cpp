#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> control_ops() { return {}; }

}  // namespace sardonyx::ops
