#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> image_ops() { return {}; }

}  // namespace sardonyx::ops
