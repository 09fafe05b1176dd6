// What floating numbers are made of.
#include <cmath>
#include <limits>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/promotion.h"
#include "eager/functional/elementwise.h"
#include "eager/functional/functional.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

Tensor bits_as(const Tensor& x, DType dtype, const Loc& loc) {
  static const OpDef& op = op_named("BitCast");
  return apply(op, {x}, {{"to", static_cast<int64_t>(dtype)}}, loc);
}

// Where the exponent is among the bits of a type, and what it is for 1/2 <= |x| < 1.
struct FloatLayout {
  DType bits;
  int64_t mantissa, mask;
  int64_t half;
};
FloatLayout layout_of_floats(DType dtype) {
  return dtype == DType::kDouble ? FloatLayout{DType::kUInt64, 52, 0x7ff, 1022}
                                 : FloatLayout{DType::kUInt32, 23, 0xff, 126};
}

// Of float32 and float64.
Tensor exponent_of(const Tensor& x, const Loc& loc) {
  const FloatLayout layout = layout_of_floats(x.dtype());
  const bool is_double = x.dtype() == DType::kDouble;
  const Tensor size = abs(x, loc);
  const double least = is_double ? std::numeric_limits<double>::min()
                                 : static_cast<double>(std::numeric_limits<float>::min());
  // Numbers below the least normal one become normal.
  const int64_t raised = layout.mantissa + 1;
  const Tensor is_small = Operand(size, loc) < least;
  const Tensor normal =
      where(is_small, {mul({size, loc}, std::ldexp(1.0, static_cast<int>(raised))), loc}, size);
  const Tensor field = bitwise_right_shift({bits_as(normal, layout.bits, loc), loc},
                                           full({}, layout.mantissa, {.dtype = layout.bits}, loc));
  const Tensor above = where(is_small, {layout.half + raised, loc}, layout.half);
  const Tensor exponent = sub({field.to(DType::kInt64, loc), loc}, above);
  const Tensor has_one = isfinite(x, loc) && (Operand(size, loc) > 0);
  return where(has_one, {exponent, loc}, 0);
}

// The neighbour of `a` towards `b`, by its bits: those of the next magnitude are the next integer.
Tensor neighbour(const Tensor& a, const Tensor& b, const Loc& loc) {
  const DType integers = a.dtype() == DType::kDouble ? DType::kInt64 : DType::kInt32;
  const Tensor bits = bits_as(a, integers, loc);
  const Tensor grows = (Operand(b, loc) > a) == (Operand(a, loc) > 0);
  const Tensor step = where(grows, {1, loc}, -1).to(integers, loc);
  const Tensor moved = bits_as(add({bits, loc}, step), a.dtype(), loc);
  const double least = a.dtype() == DType::kDouble
                           ? std::numeric_limits<double>::denorm_min()
                           : static_cast<double>(std::numeric_limits<float>::denorm_min());
  const Tensor from_zero = mul({sign(b, loc), loc}, least);
  return where(Operand(a, loc) == 0, {from_zero, loc}, moved);
}

}  // namespace

std::pair<Tensor, Tensor> frexp(const Tensor& x, Loc loc) {
  require_defined(x, "frexp", "x", loc);
  if (!is_floating(x.dtype())) fail_at(loc, "frexp: expected floating elements, got ", x.type());
  const bool is_wide = x.dtype() == DType::kDouble || x.dtype() == DType::kFloat;
  const Tensor value = is_wide ? x : x.to(DType::kFloat, loc);
  const Tensor exponent = exponent_of(value.detach(), loc);
  // In two steps: the power of two alone may be no number of the type.
  const Tensor first = floor_divide({exponent, loc}, 2);
  const auto lowered = [&](const Tensor& y, const Tensor& by) {
    return ldexp({y, loc}, neg(by, loc).to(value.dtype(), loc));
  };
  const Tensor mantissa = lowered(lowered(value, first), sub({exponent, loc}, first));
  return {mantissa.to(x.dtype(), loc), exponent.to(DType::kInt32, loc)};
}

Tensor nextafter(const Operand& a, const Operand& b) {
  const Loc& loc = a.loc;
  const OperandPair pair = matched(a, b);
  if (pair.a.dtype() != DType::kFloat && pair.a.dtype() != DType::kDouble)
    fail_at(loc, "nextafter: expected float32 or float64 elements, got ", pair.a.type());
  const Tensor from = pair.a.detach(), to = pair.b.detach();
  const Tensor apart = where(Operand(from, loc) == to, {to, loc}, neighbour(from, to, loc));
  const Tensor is_number = !Operand(isnan(from, loc) || isnan(to, loc), loc);
  return where(is_number, {apart, loc}, add({from, loc}, to));
}

}  // namespace sardonyx::eager
