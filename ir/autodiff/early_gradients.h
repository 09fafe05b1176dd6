// Gradients that somebody waits for while the walk goes on.
#pragma once

#include "ir/autodiff/autodiff.h"

namespace sardonyx {

// As differentiate() without `early`. Those of xs that are in `early` are given to the hook as soon
// as no step adds to their gradient any more, the others that no step made when the walk is over.
Vals differentiate(Emitter& e, std::span<const RecordedStep* const> steps, std::span<const Val> ys,
                   std::span<const Val> d_ys, std::span<const Val> xs, const GradientHook& hook,
                   std::span<const Val> early);

}  // namespace sardonyx
