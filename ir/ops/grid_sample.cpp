#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> grid_sample_ops() { return {}; }

}  // namespace sardonyx::ops
