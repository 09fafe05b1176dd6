#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> logic_ops() { return {}; }

}  // namespace sardonyx::ops
