#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> recurrent_ops() { return {}; }

}  // namespace sardonyx::ops
