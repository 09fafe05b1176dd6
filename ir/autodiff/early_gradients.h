// Gradients that somebody waits for while the walk goes on.
#pragma once

#include "ir/autodiff/autodiff.h"

namespace sardonyx {

// Like differentiate() without `early`, but the gradients of the xs that are in `early` are given
// to the hook as soon as no step adds to them any more; those of other xs that no step made follow
// when the walk is over.
Vals differentiate(Emitter& e, std::span<const RecordedStep* const> steps, std::span<const Val> ys,
                   std::span<const Val> d_ys, std::span<const Val> xs, const GradientHook& hook,
                   std::span<const Val> early);

}  // namespace sardonyx
