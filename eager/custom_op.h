// Operators by name: how those that a program registers are called. ONNX's own have functions
// (eager/op.h).
#pragma once

#include <string_view>
#include <vector>

#include "eager/tensor.h"
#include "ir/custom_op.h"

namespace sardonyx::eager::op {

// One output of the operator "domain::Name" (docs/custom-operators.md): it runs at once, or is
// recorded where a trace asks for it, and the tape notes it for gradients. An undefined tensor
// leaves an optional input out. Throws kUnsupported where nothing of that name is registered,
// kInvalidArgument where inputs or attributes do not fit, with the caller's line.
Tensor call(std::string_view name, const std::vector<Tensor>& inputs, const AttrMap& attrs = {},
            Loc loc = Loc::current());
// The same with `outputs` outputs; what the operator does not make is undefined.
std::vector<Tensor> call_many(size_t outputs, std::string_view name,
                              const std::vector<Tensor>& inputs, const AttrMap& attrs = {},
                              Loc loc = Loc::current());

}  // namespace sardonyx::eager::op
