#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> random_ops() { return {}; }

}  // namespace sardonyx::ops
