#include <hwy/highway.h>
#include <hwy/targets.h>

#include "providers/cpu/provider.h"

namespace sardonyx {

std::string cpu_instructions() {
  const auto targets = hwy::SupportedTargets();
  // Highway chooses the target of the lowest bit; see hwy/detect_targets.h.
  return text("vectors of ", hwy::TargetName(targets & -targets));
}

}  // namespace sardonyx
