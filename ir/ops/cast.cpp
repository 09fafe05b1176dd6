#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> cast_ops() { return {}; }

}  // namespace sardonyx::ops
