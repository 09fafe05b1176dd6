#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> shape_ops() { return {}; }

}  // namespace sardonyx::ops
