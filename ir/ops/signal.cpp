#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> signal_ops() { return {}; }

}  // namespace sardonyx::ops
