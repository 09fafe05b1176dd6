#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> linear_model_ops() { return {}; }

}  // namespace sardonyx::ops
