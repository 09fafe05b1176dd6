#include "eager/functional/elementwise.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/fusing_emitter.h"
#include "eager/dispatch/promotion.h"
#include "eager/functional/functional.h"
#include "eager/functional/reduce.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

// What functions to the real numbers compute in.
Tensor floating(const Tensor& x, const char* function, const Loc& loc) {
  require_defined(x, function, "x", loc);
  return is_floating(x.dtype()) ? x : x.to(DType::kFloat, loc);
}
OperandPair floating(const Operand& a, const Operand& b) {
  const OperandPair pair = matched(a, b);
  return {floating(pair.a, "", a.loc), floating(pair.b, "", a.loc)};
}

// An op of one floating tensor; `name` is looked up once.
#define SARDONYX_FLOATING(function, name)                 \
  Tensor function(const Tensor& x, Loc loc) {             \
    static const OpDef& op = op_named(name);              \
    return apply(op, {floating(x, #function, loc)}, loc); \
  }

// The greatest finite value of a floating type.
double greatest(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.FEp127;
    case DType::kFloat:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

// Below 0, or -0.
Tensor has_sign(const Tensor& x, const Loc& loc) {
  const Tensor is_zero = Operand(x, loc) == 0;
  const Tensor inverse = reciprocal(where(is_zero, {x.detach(), loc}, 1), loc);
  return Operand(Operand(x, loc) < 0, loc) || (is_zero && (Operand(inverse, loc) < 0));
}

using ops::Term;

Term clamped(const Term& x, double low, double high) {
  return ops::apply("Min", ops::apply("Max", x, x.number(low)), x.number(high));
}

// The same by terms, of finite numbers: the inverse of -0 is below 0.
Term has_sign(const Term& x) {
  return ops::apply("Reciprocal", x) < 0;
}
Term atan2_terms(const Term& y, const Term& x) {
  constexpr double kMost = std::numeric_limits<float>::max(), kPi = std::numbers::pi;
  const Term high = clamped(y, -kMost, kMost), wide = clamped(x, -kMost, kMost);
  const Term is_steep = ops::apply("Abs", high) > ops::apply("Abs", wide);
  const Term larger = ops::where(is_steep, high, wide);
  const Term divisor = ops::where(ops::equal(larger, 0), 1, larger);
  const Term angle = ops::apply("Atan", ops::where(is_steep, wide, high) / divisor);
  const Term half_turn = ops::where(has_sign(high), y.number(-kPi), y.number(kPi));
  const Term offset =
      ops::where(is_steep, half_turn * 0.5, ops::where(has_sign(wide), half_turn, 0));
  return ops::where(is_steep, -angle, angle) + offset;
}

Tensor truth(const Tensor& x, const Loc& loc) {
  require_defined(x, "a logical function", "an operand", loc);
  return x.dtype() == DType::kBool ? x : Operand(x, loc) != 0;
}

Tensor bitwise(const char* integers, const char* bools, const Operand& a, const Operand& b) {
  const OperandPair pair = matched(a, b);
  if (is_floating(pair.a.dtype())) {
    fail(ErrorCode::kInvalidArgument, text_of(a.loc), ": ", integers,
         ": expected integers or bools, got ", pair.a.type(), " and ", pair.b.type());
  }
  return apply(op_named(pair.a.dtype() == DType::kBool ? bools : integers), {pair.a, pair.b},
               a.loc);
}

}  // namespace

SARDONYX_FLOATING(tan, "Tan")
SARDONYX_FLOATING(asin, "Asin")
SARDONYX_FLOATING(acos, "Acos")
SARDONYX_FLOATING(atan, "Atan")
SARDONYX_FLOATING(sinh, "Sinh")
SARDONYX_FLOATING(cosh, "Cosh")
SARDONYX_FLOATING(asinh, "Asinh")
SARDONYX_FLOATING(acosh, "Acosh")
SARDONYX_FLOATING(atanh, "Atanh")
SARDONYX_FLOATING(softsign, "Softsign")
#undef SARDONYX_FLOATING

namespace {

// The quotient is taken of the smaller by the larger coordinate, so that neither the value nor a
// gradient overflows; an offset turns the angle into its octant.
Tensor atan2_by_ops(const Tensor& y, const Tensor& x, const Loc& loc) {
  const double most = greatest(y.dtype());
  const Tensor high = clamp(y, -most, most, loc), wide = clamp(x, -most, most, loc);
  const Tensor is_steep = Operand(abs(high, loc), loc) > abs(wide, loc);
  const Tensor larger = where(is_steep, {high, loc}, wide);
  const Tensor divisor = where(Operand(larger, loc) == 0, {1, loc}, larger);
  const Tensor angle = atan(div({where(is_steep, {wide, loc}, high), loc}, divisor), loc);
  constexpr double kPi = std::numbers::pi;
  const Tensor is_low = has_sign(high, loc);
  const Tensor half_turn = where(is_low, {full_like(high, -kPi, loc), loc}, kPi);
  const Tensor offset = where(is_steep, {mul({half_turn, loc}, 0.5), loc},
                              where(has_sign(wide, loc), {half_turn, loc}, 0));
  return add({where(is_steep, {neg(angle, loc), loc}, angle), loc}, offset);
}

// x / (x^2 + y^2) and -y / (x^2 + y^2), by coordinates of the order of 1; at 0 what the ops above
// give.
Tensor atan2_slope(const Tensor& y, const Tensor& x, bool by_y, const Loc& loc) {
  const auto formula = [=](const Term& high_term, const Term& wide_term) {
    constexpr double kMost = std::numeric_limits<float>::max();
    const Term high = clamped(high_term, -kMost, kMost), wide = clamped(wide_term, -kMost, kMost);
    const Term reach = ops::apply("Max", ops::apply("Abs", high), ops::apply("Abs", wide));
    const Term is_zero = ops::equal(reach, 0);
    const Term divisor = ops::where(is_zero, 1, reach);
    const Term down = high / divisor, across = wide / divisor;
    const Term square = ops::where(is_zero, 1, down * down + across * across);
    return by_y ? ops::where(is_zero, 1, across / square / divisor) : -down / square / divisor;
  };
  if (const auto found = fused(loc, formula, y, x)) return *found;
  const double most = greatest(y.dtype());
  const Tensor high = clamp(y, -most, most, loc), wide = clamp(x, -most, most, loc);
  const Tensor reach = maximum({abs(high, loc), loc}, abs(wide, loc));
  const Tensor is_zero = Operand(reach, loc) == 0;
  const Tensor divisor = where(is_zero, {1, loc}, reach);
  const Tensor down = div({high, loc}, divisor), across = div({wide, loc}, divisor);
  const Tensor squares = add({square(down, loc), loc}, square(across, loc));
  const Tensor scale = mul({divisor, loc}, where(is_zero, {1, loc}, squares));
  const Tensor slope = div({by_y ? across : neg(down, loc), loc}, scale);
  return by_y ? where(is_zero, {1, loc}, slope) : slope;
}

// Where no trace records the ops, two formulas are the gradient.
Tensor atan2_with_slopes(const Tensor& y, const Tensor& x, const Loc& loc) {
  using Tensors = std::vector<Tensor>;
  const auto forward = [=](const Tensors& in) {
    const auto found = fused(loc, atan2_terms, in[0], in[1]);
    return Tensors{found ? *found : atan2_by_ops(in[0], in[1], loc)};
  };
  const auto backward = [=](const Tensors& in, const Tensors&, const Tensors& d) {
    const auto part = [&](size_t i) {
      if (!in[i].requires_grad()) return Tensor();
      return mul({d[0], loc}, atan2_slope(in[0], in[1], i == 0, loc));
    };
    return Tensors{part(0), part(1)};
  };
  return apply(CustomFunction{forward, backward}, {y, x}, loc)[0];
}

}  // namespace

Tensor atan2(const Operand& y, const Operand& x) {
  const Loc& loc = y.loc;
  const OperandPair pair = floating(y, x);
  if (const auto found = fused(loc, atan2_terms, pair.a, pair.b)) return *found;
  const bool is_recorded = TraceContext::active() || Autocast::current() != DType::kUndefined;
  if (is_recorded || pair.a.is_symbolic() || pair.b.is_symbolic() ||
      pair.a.dtype() != pair.b.dtype() || pair.a.shape(loc) != pair.b.shape(loc)) {
    return atan2_by_ops(pair.a, pair.b, loc);
  }
  return atan2_with_slopes(pair.a, pair.b, loc);
}

Tensor deg2rad(const Tensor& x, Loc loc) {
  return mul({x, loc}, std::numbers::pi / 180);
}
Tensor rad2deg(const Tensor& x, Loc loc) {
  return mul({x, loc}, 180 / std::numbers::pi);
}
Tensor exp2(const Tensor& x, Loc loc) {
  const Tensor power = floating(x, "exp2", loc);
  return pow({full_like(power, 2, loc), loc}, power);
}
// exp(x) - 1 = tanh(x / 2) * (exp(x) + 1), where nothing cancels.
Tensor expm1(const Tensor& x, Loc loc) {
  const Tensor value = floating(x, "expm1", loc);
  const auto formula = [](const Term& t) {
    return ops::apply("Tanh", t * 0.5) * (ops::apply("Exp", t) + 1);
  };
  if (const auto found = fused(loc, formula, value)) return *found;
  return mul({tanh(mul({value, loc}, 0.5), loc), loc}, add({exp(value, loc), loc}, 1));
}
Tensor log2(const Tensor& x, Loc loc) {
  return mul({log(floating(x, "log2", loc), loc), loc}, std::numbers::log2e);
}
Tensor log10(const Tensor& x, Loc loc) {
  return mul({log(floating(x, "log10", loc), loc), loc}, std::numbers::log10e);
}
// The greater one is taken out of the sum; it is no part of the gradient, which it cancels from.
Tensor logaddexp(const Operand& a, const Operand& b) {
  const Loc& loc = a.loc;
  const OperandPair pair = floating(a, b);
  const Tensor most = maximum({pair.a.detach(), loc}, pair.b.detach());
  const Tensor shift = where(isfinite(most, loc), {most, loc}, 0);
  const Tensor sum =
      add({exp(sub({pair.a, loc}, shift), loc), loc}, exp(sub({pair.b, loc}, shift), loc));
  return add({log(sum, loc), loc}, shift);
}
Tensor logit(const Tensor& x, std::optional<double> eps, Loc loc) {
  Tensor value = floating(x, "logit", loc);
  if (eps) value = clamp(value, *eps, 1 - *eps, loc);
  return log(div({value, loc}, sub({1, loc}, value)), loc);
}
namespace {

// Where 0 times the logarithm of b, which ends at `least`, is 0 and not NaN.
Tensor is_void(const OperandPair& pair, double least, const Loc& loc) {
  const Tensor has_no_log = Operand(Operand(pair.b, loc) <= least, loc) || isposinf(pair.b, loc);
  return Operand(Operand(pair.a, loc) == 0, loc) && has_no_log;
}

}  // namespace

Tensor xlogy(const Operand& x, const Operand& y) {
  const Loc& loc = x.loc;
  const OperandPair pair = floating(x, y);
  return mul({pair.a, loc}, log(where(is_void(pair, 0, loc), {1, loc}, pair.b), loc));
}
Tensor xlog1py(const Operand& x, const Operand& y) {
  const Loc& loc = x.loc;
  const OperandPair pair = floating(x, y);
  return mul({pair.a, loc}, log1p(where(is_void(pair, -1, loc), {0, loc}, pair.b), loc));
}
// By the greater one, so that squares do not overflow.
Tensor hypot(const Operand& a, const Operand& b) {
  const Loc& loc = a.loc;
  const OperandPair pair = floating(a, b);
  const Tensor most = maximum({abs(pair.a.detach(), loc), loc}, abs(pair.b.detach(), loc));
  const Tensor is_plain = isfinite(most, loc) && (Operand(most, loc) > 0);
  const Tensor unit = where(is_plain, {most, loc}, 1);
  const Tensor squares =
      add({square(div({pair.a, loc}, unit), loc), loc}, square(div({pair.b, loc}, unit), loc));
  return mul({sqrt(squares, loc), loc}, unit);
}

Tensor trunc(const Tensor& x, Loc loc) {
  require_defined(x, "trunc", "x", loc);
  if (!is_floating(x.dtype())) return x;
  return mul({sign(x, loc), loc}, floor(abs(x, loc), loc));
}
Tensor frac(const Tensor& x, Loc loc) {
  return sub({x, loc}, trunc(x, loc));
}
Tensor fmod(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Mod");
  const OperandPair pair = matched(a, b);
  return apply(op, {pair.a, pair.b}, {{"fmod", int64_t{1}}}, a.loc);
}

Tensor lerp(const Tensor& start, const Operand& end, const Operand& weight) {
  const Loc& loc = end.loc;
  if (end.tensor && !weight.tensor) {
    const auto formula = [&](const Term& a, const Term& b) { return a + (b - a) * weight.number; };
    if (const auto found = fused(loc, formula, start, *end.tensor)) return *found;
  }
  const Tensor way = sub(end, {start, loc});
  return add({start, loc}, mul(weight, {way, loc}));
}
Tensor addcmul(const Tensor& x, const Operand& a, const Operand& b, Number value) {
  if (a.tensor && b.tensor) {
    const auto formula = [&](const Term& t, const Term& left, const Term& right) {
      return t + (value.is(1) ? left * right : left * right * value.number);
    };
    if (const auto found = fused(a.loc, formula, x, *a.tensor, *b.tensor)) return *found;
  }
  const Tensor product = mul(a, b);
  return add({x, a.loc}, value.is(1) ? product : mul({product, a.loc}, value));
}
Tensor addcdiv(const Tensor& x, const Operand& a, const Operand& b, Number value) {
  if (a.tensor && b.tensor) {
    const auto formula = [&](const Term& t, const Term& left, const Term& right) {
      return t + (value.is(1) ? left / right : left / right * value.number);
    };
    if (const auto found = fused(a.loc, formula, x, *a.tensor, *b.tensor)) return *found;
  }
  const Tensor quotient = div(a, b);
  return add({x, a.loc}, value.is(1) ? quotient : mul({quotient, a.loc}, value));
}
Tensor float_power(const Operand& a, const Operand& b) {
  const OperandPair pair = matched(a, b);
  return pow({pair.a.to(DType::kDouble, a.loc), a.loc}, pair.b.to(DType::kDouble, a.loc));
}
Tensor signbit(const Tensor& x, Loc loc) {
  require_defined(x, "signbit", "x", loc);
  return is_floating(x.dtype()) ? has_sign(x, loc) : Operand(x, loc) < 0;
}
Tensor copysign(const Operand& a, const Operand& b) {
  const OperandPair pair = floating(a, b);
  const Tensor size = abs(pair.a, a.loc);
  return where(has_sign(pair.b, a.loc), {neg(size, a.loc), a.loc}, size);
}
Tensor sinc(const Tensor& x, Loc loc) {
  const Tensor angle = mul({floating(x, "sinc", loc), loc}, std::numbers::pi);
  const Tensor is_zero = Operand(angle, loc) == 0;
  const Tensor divisor = where(is_zero, {1, loc}, angle);
  return where(is_zero, {1, loc}, div({sin(divisor, loc), loc}, divisor));
}
Tensor heaviside(const Tensor& x, const Operand& values) {
  const Loc& loc = values.loc;
  const Tensor steps = where(Operand(x, loc) == 0, values, {add({sign(x, loc), loc}, 0), loc});
  return where(Operand(x, loc) < 0, {0, loc}, steps);
}
Tensor nan_to_num(const Tensor& x, double nan, std::optional<double> posinf,
                  std::optional<double> neginf, Loc loc) {
  require_defined(x, "nan_to_num", "x", loc);
  if (!is_floating(x.dtype())) return x;
  const double most = greatest(x.dtype());
  const Tensor infinite = isinf(x, loc);
  const Tensor bound = where(Operand(x, loc) > 0, {full_like(x, posinf.value_or(most), loc), loc},
                             neginf.value_or(-most));
  return where(isnan(x, loc), {nan, loc}, where(infinite, {bound, loc}, x));
}

Tensor eq(const Operand& a, const Operand& b) {
  return a == b;
}
Tensor ne(const Operand& a, const Operand& b) {
  return a != b;
}
Tensor lt(const Operand& a, const Operand& b) {
  return a < b;
}
Tensor le(const Operand& a, const Operand& b) {
  return a <= b;
}
Tensor gt(const Operand& a, const Operand& b) {
  return a > b;
}
Tensor ge(const Operand& a, const Operand& b) {
  return a >= b;
}
// By comparison: IsInf takes float32 and float64 alone before opset 20.
Tensor isinf(const Tensor& x, Loc loc) {
  require_defined(x, "isinf", "x", loc);
  if (!is_floating(x.dtype())) return Operand(x, loc) != x;
  return Operand(abs(x, loc), loc) > greatest(x.dtype());
}
Tensor isposinf(const Tensor& x, Loc loc) {
  return Operand(isinf(x, loc), loc) && (Operand(x, loc) > 0);
}
Tensor isneginf(const Tensor& x, Loc loc) {
  return Operand(isinf(x, loc), loc) && (Operand(x, loc) < 0);
}
Tensor isfinite(const Tensor& x, Loc loc) {
  require_defined(x, "isfinite", "x", loc);
  if (!is_floating(x.dtype())) return Operand(x, loc) == x;
  return Operand(abs(x, loc), loc) <= greatest(x.dtype());
}
Tensor isclose(const Operand& a, const Operand& b, CloseOptions options) {
  const Loc& loc = a.loc;
  const OperandPair pair = floating(a, b);
  const Tensor tolerance = add({mul({abs(pair.b, loc), loc}, options.rtol), loc}, options.atol);
  const Tensor near = Operand(abs(sub({pair.a, loc}, pair.b), loc), loc) <= tolerance;
  Tensor close = Operand(Operand(pair.a, loc) == pair.b, loc) || (near && isfinite(pair.b, loc));
  if (options.equal_nan) close = close || (isnan(pair.a, loc) && isnan(pair.b, loc));
  return close;
}
bool allclose(const Tensor& a, const Tensor& b, CloseOptions options, Loc loc) {
  const NoGrad no_grad;
  if (a.data(loc).shape() != b.data(loc).shape()) return false;
  return all(isclose({a, loc}, b, options), {}, false, loc).item<bool>(loc);
}
bool equal(const Tensor& a, const Tensor& b, Loc loc) {
  const NoGrad no_grad;
  if (a.data(loc).shape() != b.data(loc).shape()) return false;
  return all(Operand(a, loc) == b, {}, false, loc).item<bool>(loc);
}

Tensor logical_and(const Tensor& a, const Tensor& b, Loc loc) {
  return Operand(truth(a, loc), loc) && truth(b, loc);
}
Tensor logical_or(const Tensor& a, const Tensor& b, Loc loc) {
  return Operand(truth(a, loc), loc) || truth(b, loc);
}
Tensor logical_xor(const Tensor& a, const Tensor& b, Loc loc) {
  static const OpDef& op = op_named("Xor");
  return apply(op, {truth(a, loc), truth(b, loc)}, loc);
}
Tensor logical_not(const Tensor& x, Loc loc) {
  static const OpDef& op = op_named("Not");
  return apply(op, {truth(x, loc)}, loc);
}
Tensor bitwise_and(const Operand& a, const Operand& b) {
  return bitwise("BitwiseAnd", "And", a, b);
}
Tensor bitwise_or(const Operand& a, const Operand& b) {
  return bitwise("BitwiseOr", "Or", a, b);
}
Tensor bitwise_xor(const Operand& a, const Operand& b) {
  return bitwise("BitwiseXor", "Xor", a, b);
}
Tensor bitwise_not(const Tensor& x, Loc loc) {
  require_defined(x, "bitwise_not", "x", loc);
  return apply(op_named(x.dtype() == DType::kBool ? "Not" : "BitwiseNot"), {x}, loc);
}

namespace {

DType unsigned_type(DType dtype) {
  switch (bits_of(dtype)) {
    case 8:
      return DType::kUInt8;
    case 16:
      return DType::kUInt16;
    case 32:
      return DType::kUInt32;
    default:
      return DType::kUInt64;
  }
}
OperandPair shift_operands(const char* function, const Operand& a, const Operand& b) {
  OperandPair pair = matched(a, b);
  if (is_integer(pair.a.dtype()) && bits_of(pair.a.dtype()) >= 8) return pair;
  fail(ErrorCode::kInvalidArgument, text_of(a.loc), ": ", function, ": expected integers, got ",
       pair.a.type(), " and ", pair.b.type());
}
// ONNX shifts unsigned elements alone.
Tensor shifted(const Tensor& x, const Tensor& bits, const char* direction, const Loc& loc) {
  static const OpDef& op = op_named("BitShift");
  const DType dtype = unsigned_type(x.dtype());
  return apply(op, {x.to(dtype, loc), bits.to(dtype, loc)}, {{"direction", std::string(direction)}},
               loc)
      .to(x.dtype(), loc);
}

}  // namespace

Tensor bitwise_left_shift(const Operand& a, const Operand& b) {
  const OperandPair pair = shift_operands("bitwise_left_shift", a, b);
  return shifted(pair.a, pair.b, "LEFT", a.loc);
}
Tensor bitwise_right_shift(const Operand& a, const Operand& b) {
  const Loc& loc = a.loc;
  const OperandPair pair = shift_operands("bitwise_right_shift", a, b);
  if (!is_signed_integer(pair.a.dtype())) return shifted(pair.a, pair.b, "RIGHT", loc);
  // -1 - x is the complement of x, so that ones come in as zeros.
  const Tensor is_negative = Operand(pair.a, loc) < 0;
  const auto complemented = [&](const Tensor& x) {
    return where(is_negative, {sub({-1, loc}, x), loc}, x);
  };
  return complemented(shifted(complemented(pair.a), pair.b, "RIGHT", loc));
}

Tensor logaddexp2(const Operand& a, const Operand& b) {
  constexpr double kLog2 = std::numbers::ln2;
  return div({logaddexp({mul(a, kLog2), a.loc}, mul(b, kLog2)), a.loc}, kLog2);
}
Tensor ldexp(const Operand& x, const Operand& exponent) {
  const OperandPair pair = floating(x, exponent);
  return mul({pair.a, x.loc}, exp2(pair.b, x.loc));
}
namespace {

// A NaN stands for a number that is missing, so that the other one is taken.
Tensor extremum_of_numbers(const Operand& a, const Operand& b,
                           Tensor (*extremum)(const Operand&, const Operand&)) {
  const OperandPair pair = matched(a, b);
  if (!is_floating(pair.a.dtype())) return extremum({pair.a, a.loc}, pair.b);
  const Tensor known =
      where(isnan(pair.b, a.loc), {pair.a, a.loc}, extremum({pair.a, a.loc}, pair.b));
  return where(isnan(pair.a, a.loc), {pair.b, a.loc}, known);
}

}  // namespace

Tensor fmax(const Operand& a, const Operand& b) {
  return extremum_of_numbers(a, b, maximum);
}
Tensor fmin(const Operand& a, const Operand& b) {
  return extremum_of_numbers(a, b, minimum);
}

Tensor relu6(const Tensor& x, Loc loc) {
  return clamp(x, 0, 6, loc);
}
Tensor hardtanh(const Tensor& x, Number low, Number high, Loc loc) {
  return clamp(x, low, high, loc);
}
Tensor celu(const Tensor& x, double alpha, Loc loc) {
  require_defined(x, "celu", "x", loc);
  static const OpDef& op = op_named("Celu");
  if (x.dtype() == DType::kFloat)
    return apply(op, {x}, {{"alpha", static_cast<float>(alpha)}}, loc);
  // ONNX's Celu is of float32 alone.
  const Tensor below = mul({expm1(div({minimum({x, loc}, 0), loc}, alpha), loc), loc}, alpha);
  return add({relu(x, loc), loc}, below);
}
Tensor softshrink(const Tensor& x, double lambda, Loc loc) {
  static const OpDef& op = op_named("Shrink");
  const auto limit = static_cast<float>(lambda);
  return apply(op, {x}, {{"lambd", limit}, {"bias", limit}}, loc);
}
Tensor hardshrink(const Tensor& x, double lambda, Loc loc) {
  static const OpDef& op = op_named("Shrink");
  return apply(op, {x}, {{"lambd", static_cast<float>(lambda)}, {"bias", 0.0f}}, loc);
}
Tensor tanhshrink(const Tensor& x, Loc loc) {
  return sub({x, loc}, tanh(x, loc));
}
Tensor threshold(const Tensor& x, Number limit, Number value, Loc loc) {
  return where(Operand(x, loc) > limit, {x, loc}, value);
}
Tensor logsigmoid(const Tensor& x, Loc loc) {
  return neg(softplus(neg(x, loc), loc), loc);
}
Tensor softmin(const Tensor& x, int64_t axis, Loc loc) {
  return softmax(neg(x, loc), axis, loc);
}
Tensor prelu(const Tensor& x, const Tensor& weight, Loc loc) {
  require_defined(x, "prelu", "x", loc);
  require_defined(weight, "prelu", "the weight", loc);
  static const OpDef& op = op_named("PRelu");
  if (weight.rank() != 1) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": prelu: expected weight [1] or [C], got ",
         weight.type());
  }
  if (proved_equal(weight.size(0, loc), 1)) return apply(op, {x, weight}, loc);
  if (x.rank() < 2) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": prelu: weight ", weight.type(),
         " is by channels, but x has none; expected x [N, C, ...], got ", x.type());
  }
  Dims slopes(x.rank() - 1, 1);
  slopes[0] = weight.size(0, loc);
  return apply(op, {x, weight.reshape(slopes, loc)}, loc);
}
Tensor glu(const Tensor& x, int64_t axis, Loc loc) {
  require_defined(x, "glu", "x", loc);
  const Dim size = x.size(axis, loc), half = floor_div(size, 2);
  if (!detail::sizes_agree(half * 2, size, loc)) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": glu: expected an axis of even size, axis ",
         axis, " of ", x.type(), " is not");
  }
  // Of sizes, so that a file refuses an odd one.
  const std::vector<Tensor> halves = split(x, Dims{half, half}, axis, loc);
  return mul({halves[0], loc}, sigmoid(halves[1], loc));
}

}  // namespace sardonyx::eager
