#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> attention_ops() { return {}; }

}  // namespace sardonyx::ops
