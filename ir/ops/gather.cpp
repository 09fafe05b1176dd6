#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> gather_ops() { return {}; }

}  // namespace sardonyx::ops
