// Plans one segment: walks the nodes at concrete shapes, and for each specialises its types, picks
// its kernel, places its outputs and emits its step, until the graph ends or a shape depends on
// data that only the run has.
#pragma once

#include <memory>

#include "executor/plan/plan_context.h"

namespace sardonyx {

// Plans the next segment. Throws an Error that names the node that cannot be planned, or kCancelled
// or kDeadlineExceeded.
std::shared_ptr<PlanSegment> plan_segment(const PlanRequest& request);

}  // namespace sardonyx
