#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> generator_ops() { return {}; }

}  // namespace sardonyx::ops
