#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> select_ops() { return {}; }

}  // namespace sardonyx::ops
