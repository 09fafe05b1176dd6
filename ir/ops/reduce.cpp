#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> reduce_ops() { return {}; }

}  // namespace sardonyx::ops
