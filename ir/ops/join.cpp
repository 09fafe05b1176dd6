#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> join_ops() { return {}; }

}  // namespace sardonyx::ops
