#include "executor/passes.h"

namespace sardonyx {

std::span<const Pass> fusion_passes() {
  return {};
}

}  // namespace sardonyx
