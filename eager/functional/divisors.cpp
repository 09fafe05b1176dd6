#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/promotion.h"
#include "eager/functional/functional.h"
#include "eager/trace/control_flow.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

// The numbers without their signs, of one type and shape.
std::vector<Tensor> magnitudes(const char* function, const Operand& a, const Operand& b) {
  const OperandPair pair = matched(a, b);
  if (!is_integer(pair.a.dtype()))
    fail_at(a.loc, function, ": expected integers, got ", pair.a.type(), " and ", pair.b.type());
  return broadcast_tensors({abs(pair.a, a.loc), abs(pair.b, a.loc)}, a.loc);
}

// Euclid's algorithm on all elements at once: where one is done, dividing by 1 changes nothing.
Tensor common_divisor(const std::vector<Tensor>& numbers, const Loc& loc) {
  const auto goes_on = [&](const std::vector<Tensor>& state) {
    return any(Operand(state[1], loc) != 0, {}, false, loc);
  };
  const auto step = [&](const std::vector<Tensor>& state) -> std::vector<Tensor> {
    const Tensor is_done = Operand(state[1], loc) == 0;
    const Tensor divisor = where(is_done, {1, loc}, state[1]);
    const Tensor rest = remainder({state[0], loc}, divisor);
    return {where(is_done, {state[0], loc}, state[1]), where(is_done, {state[1], loc}, rest)};
  };
  // The least integer is its own magnitude, and what is left of a division by it may be below 0.
  return abs(while_loop(goes_on, step, numbers, loc)[0], loc);
}

}  // namespace

Tensor gcd(const Operand& a, const Operand& b) {
  return common_divisor(magnitudes("gcd", a, b), a.loc);
}

Tensor lcm(const Operand& a, const Operand& b) {
  const Loc& loc = a.loc;
  const std::vector<Tensor> numbers = magnitudes("lcm", a, b);
  const Tensor divisor = common_divisor(numbers, loc);
  const Tensor safe = maximum({divisor, loc}, 1);  // of two zeros
  return mul({floor_divide({numbers[0], loc}, safe), loc}, numbers[1]);
}

}  // namespace sardonyx::eager
