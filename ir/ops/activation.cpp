#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> activation_ops() { return {}; }

}  // namespace sardonyx::ops
