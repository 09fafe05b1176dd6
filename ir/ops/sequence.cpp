#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> sequence_ops() { return {}; }

}  // namespace sardonyx::ops
