#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> resize_ops() { return {}; }

}  // namespace sardonyx::ops
