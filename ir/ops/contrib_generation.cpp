#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> contrib_generation_ops() {
  return {};
}

}  // namespace sardonyx::ops
