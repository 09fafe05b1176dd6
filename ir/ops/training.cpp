#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> training_ops() { return {}; }

}  // namespace sardonyx::ops
