#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> softmax_ops() { return {}; }

}  // namespace sardonyx::ops
