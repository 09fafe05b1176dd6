// Mixed operands of one call: numbers become tensors, element types are promoted as in torch.
#pragma once

#include <optional>

#include "eager/tensor.h"

namespace sardonyx::eager {

// The element type that torch promotes the two to; none where they do not mix: strings and complex
// numbers go with their own type alone.
std::optional<DType> promoted(DType a, DType b);

struct OperandPair {
  Tensor a, b;
};
// Both of the element type that torch promotes the two to; a number takes on the other side's type
// (a fraction beside integers makes both float32). Throws kInvalidArgument where types do not mix.
OperandPair matched(const Operand& a, const Operand& b);

}  // namespace sardonyx::eager
