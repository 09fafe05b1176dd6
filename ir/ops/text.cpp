#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> text_ops() { return {}; }

}  // namespace sardonyx::ops
