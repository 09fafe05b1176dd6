#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> normalization_ops() { return {}; }

}  // namespace sardonyx::ops
