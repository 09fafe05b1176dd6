#include <algorithm>
#include <bit>
#include <type_traits>

#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/engine.h"
#include "eager/dispatch/promotion.h"
#include "eager/functional/functional.h"
#include "eager/trace/control_flow.h"
#include "eager/trace/frame.h"
#include "ir/core/dtype_dispatch.h"
#include "ir/core/tensor.h"
#include "ir/core/threading/parallel_for.h"
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

// Stein's algorithm: the difference of two odd numbers is even, and what it has of factors 2 the
// divisor of both does not.
template <typename U>
U odd_divisor(U x, U y) {
  if (x == 0 || y == 0) return x | y;
  const int shared = std::countr_zero(static_cast<U>(x | y));
  x >>= std::countr_zero(x);
  while (y != 0) {
    y >>= std::countr_zero(y);
    const U lesser = std::min(x, y);
    y = std::max(x, y) - lesser;
    x = lesser;
  }
  return static_cast<U>(x << shared);
}

// Values outside of traces, each pair by itself: passes over all go on for the slowest of them.
Tensor divisor_of_values(const sardonyx::Tensor& a, const sardonyx::Tensor& b) {
  sardonyx::Tensor found = sardonyx::Tensor::allocate(a.dtype(), a.shape());
  constexpr int64_t kElementsPerThread = 1 << 12;
  const auto threads =
      static_cast<int>(std::min<int64_t>(num_threads(), a.count() / kElementsPerThread + 1));
  const ThreadScope scope(threads);
  dispatch_ints(a.dtype(), [&]<typename T>() {
    using U = std::make_unsigned_t<T>;
    const auto x = a.values<T>(), y = b.values<T>();
    const auto to = found.mutable_values<T>();
    parallel_for(a.count(), threads, [&](int64_t begin, int64_t end, int) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
        to[i] = static_cast<T>(odd_divisor(static_cast<U>(x[i]), static_cast<U>(y[i])));
    });
  });
  return Tensor(found);
}

// Euclid's algorithm on all elements at once: where one is done, dividing by 1 changes nothing.
Tensor common_divisor(const std::vector<Tensor>& numbers, const Loc& loc) {
  const bool has_values =
      !TraceContext::active() && !numbers[0].is_symbolic() && !numbers[1].is_symbolic();
  if (has_values && bits_of(numbers[0].dtype()) >= 8)
    return divisor_of_values(numbers[0].data(loc), numbers[1].data(loc));
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
