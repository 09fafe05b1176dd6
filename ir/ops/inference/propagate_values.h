// Carrying the elements of small integer tensors through inference: what Shape, Add, Div, Where ...
// compute with dims that are not known yet.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "ir/op_def.h"

namespace sardonyx::ops {

// One output element from the elements of the inputs; nullopt where the result cannot be written as
// a dim.
using DimFunction = std::optional<Dim> (*)(std::span<const Dim> elements);

// Sets the elements of output 0 where those of all present inputs are known, broadcast as scalars
// and vectors are. Nothing is carried where a single element cannot be, or where arithmetic leaves
// int64 or the output's type (which wraps at run time). The output's type must have been set.
void propagate_values(InferContext& c, DimFunction function);

// a / b truncated towards zero, where that can be proved.
std::optional<Dim> truncated_div(const Dim& a, const Dim& b);
// Whether a == b for every value of the symbols (true), for none (false), or neither is proved.
std::optional<bool> proved_equal(const Dim& a, const Dim& b);
// Whether a < b, where that can be proved either way; nullopt where it cannot.
std::optional<bool> proved_less(const Dim& a, const Dim& b);

}  // namespace sardonyx::ops
