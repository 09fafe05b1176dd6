#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> scan_ops() {
  return {};
}

}  // namespace sardonyx::ops
