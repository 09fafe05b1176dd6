#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> quantize_ops() { return {}; }

}  // namespace sardonyx::ops
