#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> convolution_ops() { return {}; }

}  // namespace sardonyx::ops
