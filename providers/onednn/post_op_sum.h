// A residual that is added by one of two primitive sequences: in place where the output overlaps
// it, else by reading it.
#pragma once

#include <functional>

#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {

// How a primitive sequence adds the residual: not at all, as an operand of its post-ops, from the
// output's previous content (in place), or by copying it into the output first.
enum class Residual { kNone, kRead, kInPlace, kCopied };

// The post-op that adds a residual that has the layout of `dst`; none for kNone.
PostOps residual_post_ops(Residual residual, const Desc& dst);

// The way to read a residual: as an operand where `primitive` (made for kRead) is no slow fallback,
// else by a copy.
inline Residual way_to_read(const MaybePrimitive& primitive) {
  return primitive && !primitive->is_reference() ? Residual::kRead : Residual::kCopied;
}

// Builds both sequences and joins them; `input` is the residual's index, output 0 is what it is
// added to, which has the layout of `dst`. `build` may refuse kInPlace. Constant weights are packed
// once for both.
Prepared prepare_with_residual(
    const KernelRequest& request, size_t input, const Desc& dst,
    const std::function<Prepared(const KernelRequest&, Residual)>& build);

}  // namespace sardonyx::onednn
