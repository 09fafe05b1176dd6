#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> picture_ops() { return {}; }

}  // namespace sardonyx::ops
