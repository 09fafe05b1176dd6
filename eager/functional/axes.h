// What functions over axes share; for the eager layer's own sources.
#pragma once

#include <vector>

#include "eager/tensor.h"

namespace sardonyx {
struct OpDef;
}

namespace sardonyx::eager {

// The axis counted from the front. Throws kInvalidArgument, naming `what`, where x has none such.
size_t normalized_axis(int64_t axis, size_t rank, const char* what, const Loc& loc);
// One of ONNX's reductions; no axes: over all elements.
Tensor reduced_by(const OpDef& op, const Tensor& x, const std::vector<int64_t>& axes, bool keepdim,
                  const Loc& loc);

// Of nothing there is no greatest, though ONNX's reductions give an infinity: kInvalidArgument
// where one of the axes has no elements (no axes: all of them). Of symbolic tensors that is not
// known.
void require_elements(const OpDef& op, const Tensor& x, const Axes& axes, const Loc& loc);

}  // namespace sardonyx::eager
