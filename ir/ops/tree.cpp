#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> tree_ops() { return {}; }

}  // namespace sardonyx::ops
