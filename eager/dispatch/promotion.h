// Mixed operands of one call: numbers become tensors, element types are promoted as in torch.
#pragma once

#include "eager/tensor.h"

namespace sardonyx::eager {

struct OperandPair {
  Tensor a, b;
};
// Both of the element type that torch promotes the two to; a number takes on the other side's type
// (a fraction beside integers makes both float32). Throws kInvalidArgument where types do not mix.
OperandPair matched(const Operand& a, const Operand& b);

}  // namespace sardonyx::eager
