#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> arithmetic_ops() { return {}; }

}  // namespace sardonyx::ops
