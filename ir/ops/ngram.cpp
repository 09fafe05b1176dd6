#include "ir/ops/tables.h"

namespace sardonyx::ops {

std::span<const OpDef> ngram_ops() {
  return {};
}

}  // namespace sardonyx::ops
