#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> encoder_ops() { return {}; }

}  // namespace sardonyx::ops
