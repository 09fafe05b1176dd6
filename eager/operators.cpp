// Binary functions and operators: numbers become tensors, mixed types are promoted.
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/fusing_emitter.h"
#include "eager/dispatch/promotion.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager {

Operand::Operand(const Dim& size, Loc at) : loc(at) {
  if (size.is_known()) {
    integer = size.value();
    number = static_cast<double>(integer);
    return;
  }
  open_size = std::make_shared<const Tensor>(dim_tensor(size, at));
  tensor = open_size.get();
}

namespace {

// How far up torch's order of promotion a type stands: bool, integers by width, floating types.
int rank_of(DType dtype) {
  if (dtype == DType::kBool) return 0;
  if (is_integer(dtype)) return 1 + bits_of(dtype) * 2 + (is_signed_integer(dtype) ? 1 : 0);
  return 1000 + bits_of(dtype);
}

// Kinds of elements, in torch's order.
int kind_of(DType dtype) {
  return dtype == DType::kBool ? 0 : is_integer(dtype) ? 1 : 2;
}

bool has_dims(const Tensor& tensor) {
  const detail::TensorImpl& impl = *tensor.impl();
  if (!impl.symbol) return impl.value.tensor().rank() > 0;
  return !impl.symbol->type.shape || impl.symbol->type.rank() > 0;
}

// A tensor without dims counts as a number does, unless its kind is the higher one.
DType promoted_operands(const Tensor& a, const Tensor& b) {
  const std::optional<DType> both = promoted(a.dtype(), b.dtype());
  if (!both) {
    fail(ErrorCode::kInvalidArgument, "elements of types ", a.dtype(), " and ", b.dtype(),
         " do not mix; convert one with to()");
  }
  if (has_dims(a) == has_dims(b)) return *both;
  const DType with_dims = has_dims(a) ? a.dtype() : b.dtype();
  const DType without = has_dims(a) ? b.dtype() : a.dtype();
  return kind_of(without) > kind_of(with_dims) ? without : with_dims;
}

DType type_beside(const Operand& number, DType other) {
  if (number.is_fraction && !is_floating(other)) return DType::kFloat;
  return !number.is_fraction && other == DType::kBool ? DType::kInt64 : other;
}

Tensor converted(const Tensor& tensor, DType dtype, const Loc& loc) {
  return tensor.dtype() == dtype ? tensor : tensor.to(dtype, loc);
}

void check_defined(std::string_view function, const Operand& a, const Operand& b) {
  if (a.tensor) require_defined(*a.tensor, function, "the first operand", a.loc);
  if (b.tensor) require_defined(*b.tensor, function, "the second operand", a.loc);
}

}  // namespace

std::optional<DType> promoted(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::kString || b == DType::kString || is_complex(a) || is_complex(b)) return {};
  const bool halves = (a == DType::kFloat16 && b == DType::kBFloat16) ||
                      (a == DType::kBFloat16 && b == DType::kFloat16);
  if (halves) return DType::kFloat;
  // An unsigned type with a signed one of the same width needs the next width.
  if (is_integer(a) && is_integer(b) && is_signed_integer(a) != is_signed_integer(b) &&
      bits_of(a) == bits_of(b)) {
    const int bits = bits_of(a);
    return bits == 8 ? DType::kInt16 : bits == 16 ? DType::kInt32 : DType::kInt64;
  }
  return rank_of(a) >= rank_of(b) ? a : b;
}

OperandPair matched(const Operand& a, const Operand& b) {
  check_defined("operators", a, b);
  if (!a.tensor && !b.tensor) {
    const DType dtype = a.is_fraction || b.is_fraction ? DType::kFloat : DType::kInt64;
    return {literal(a, dtype), literal(b, dtype)};
  }
  if (a.tensor && b.tensor) {
    const DType dtype = at_line(a.loc, [&] {
      // Sizes count as numbers, whether a trace knows them or not.
      if (!a.open_size == !b.open_size) return promoted_operands(*a.tensor, *b.tensor);
      return a.open_size ? type_beside(a, b.tensor->dtype()) : type_beside(b, a.tensor->dtype());
    });
    return {converted(*a.tensor, dtype, a.loc), converted(*b.tensor, dtype, a.loc)};
  }
  const Operand& tensor = a.tensor ? a : b;
  const Operand& number = a.tensor ? b : a;
  const DType dtype = type_beside(number, tensor.tensor->dtype());
  Tensor value = converted(*tensor.tensor, dtype, tensor.loc);
  Tensor other = literal(number, dtype);
  return a.tensor ? OperandPair{std::move(value), std::move(other)}
                  : OperandPair{std::move(other), std::move(value)};
}

namespace {

OperandPair matched_for(const OpDef& op, const Operand& a, const Operand& b) {
  check_defined(op.name, a, b);
  return matched(a, b);
}

// Two tensors of one element type: nothing to convert.
bool is_matched(const Operand& a, const Operand& b) {
  return a.tensor && b.tensor && a.tensor->defined() && b.tensor->defined() &&
         a.tensor->dtype() == b.tensor->dtype();
}

Tensor binary(const OpDef& op, const Operand& a, const Operand& b) {
  if (is_matched(a, b)) return apply(op, {*a.tensor, *b.tensor}, a.loc);
  const OperandPair pair = matched_for(op, a, b);
  return apply(op, {pair.a, pair.b}, a.loc);
}

// For bools, which ONNX's arithmetic does not take.
Tensor arithmetic(const OpDef& op, const Operand& a, const Operand& b) {
  if (is_matched(a, b) && a.tensor->dtype() != DType::kBool)
    return apply(op, {*a.tensor, *b.tensor}, a.loc);
  OperandPair pair = matched_for(op, a, b);
  if (pair.a.dtype() == DType::kBool)
    pair = {pair.a.to(DType::kInt64, a.loc), pair.b.to(DType::kInt64, a.loc)};
  return apply(op, {pair.a, pair.b}, a.loc);
}

// Whether a rest of a division by `divisor` has the other sign.
Tensor differs_in_sign(const Tensor& rest, const Tensor& divisor, const Loc& loc) {
  const Tensor signs_differ = logical_xor(Operand(rest, loc) < 0, Operand(divisor, loc) < 0, loc);
  return Operand(Operand(rest, loc) != 0, loc) && signs_differ;
}

Tensor as_tensor(const Operand& a) {
  return a.tensor ? *a.tensor : literal(a, a.is_fraction ? DType::kFloat : DType::kInt64);
}

}  // namespace

Tensor operator+(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Add");
  return arithmetic(op, a, b);
}
Tensor operator-(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Sub");
  return arithmetic(op, a, b);
}
Tensor operator*(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Mul");
  return arithmetic(op, a, b);
}
Tensor operator/(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Div");
  OperandPair pair = matched_for(op, a, b);
  if (!is_floating(pair.a.dtype()))
    pair = {pair.a.to(DType::kFloat, a.loc), pair.b.to(DType::kFloat, a.loc)};
  return apply(op, {pair.a, pair.b}, a.loc);
}
Tensor operator==(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Equal");
  return binary(op, a, b);
}
Tensor operator!=(const Operand& a, const Operand& b) {
  return !Operand(a == b, a.loc);
}
Tensor operator<(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Less");
  return binary(op, a, b);
}
Tensor operator<=(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("LessOrEqual");
  return binary(op, a, b);
}
Tensor operator>(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Greater");
  return binary(op, a, b);
}
Tensor operator>=(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("GreaterOrEqual");
  return binary(op, a, b);
}
Tensor operator&&(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("And");
  return binary(op, a, b);
}
Tensor operator||(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Or");
  return binary(op, a, b);
}
Tensor operator!(const Operand& a) {
  static const OpDef& op = op_named("Not");
  return apply(op, {as_tensor(a)}, a.loc);
}
Tensor operator%(const Operand& a, const Operand& b) {
  return remainder(a, b);
}
Tensor operator&(const Operand& a, const Operand& b) {
  return bitwise_and(a, b);
}
Tensor operator|(const Operand& a, const Operand& b) {
  return bitwise_or(a, b);
}
Tensor operator^(const Operand& a, const Operand& b) {
  return bitwise_xor(a, b);
}
Tensor operator~(const Operand& a) {
  return bitwise_not(as_tensor(a), a.loc);
}
Tensor operator-(const Operand& a) {
  return neg(as_tensor(a), a.loc);
}

Tensor add(const Operand& a, const Operand& b) {
  return a + b;
}
Tensor sub(const Operand& a, const Operand& b) {
  return a - b;
}
Tensor mul(const Operand& a, const Operand& b) {
  return a * b;
}
Tensor div(const Operand& a, const Operand& b) {
  return a / b;
}
namespace {

// Powers that have an op of their own, which is many times as fast; as in torch, the square root of
// a negative infinity is NaN there.
std::optional<Tensor> known_power(const Tensor& x, double exponent, const Loc& loc) {
  if (exponent == 1) return x;
  if (exponent == 2) return square(x, loc);
  if (exponent == 3) {
    const auto cube = [](const ops::Term& t) { return t * t * t; };
    if (const auto found = fused(loc, cube, x)) return *found;
    return mul({square(x, loc), loc}, x);
  }
  if (!is_floating(x.dtype())) return {};
  if (exponent == 0.5) return sqrt(x, loc);
  if (exponent == -0.5) return rsqrt(x, loc);
  if (exponent == -1) return reciprocal(x, loc);
  if (exponent == -2) return reciprocal(square(x, loc), loc);
  return {};
}

}  // namespace

Tensor pow(const Operand& a, const Operand& b) {
  check_defined("pow", a, b);
  const bool is_number = a.tensor && !b.tensor && a.tensor->dtype() != DType::kBool;
  if (is_number && !b.is_fraction && b.number < 0 && is_integer(a.tensor->dtype())) {
    fail_at(a.loc, "pow: integers to the power of ", b.number,
            " are no integers; convert them with to(DType::kFloat)");
  }
  if (is_number && (!b.is_fraction || is_floating(a.tensor->dtype()))) {
    if (std::optional<Tensor> known = known_power(*a.tensor, b.number, a.loc)) return *known;
  }
  static const OpDef& op = op_named("Pow");
  return arithmetic(op, a, b);
}
// Of floating elements by what fmod() leaves, which is exact; b is added where its sign is another.
Tensor remainder(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Mod");
  const OperandPair pair = matched_for(op, a, b);
  if (!is_floating(pair.a.dtype())) return apply(op, {pair.a, pair.b}, a.loc);
  const Loc& loc = a.loc;
  const Tensor rest = fmod({pair.a, loc}, pair.b);
  const Tensor is_other = differs_in_sign(rest, pair.b, loc);
  return where(is_other, {add({rest, loc}, pair.b), loc}, rest);
}
// Of integers the quotient that is cut off is one too large where both rests differ, which is where
// there is one and a and b differ in sign; no step on the way leaves the type. The quotient of
// floating elements would be rounded, to a whole number that it is below; without the rest it is
// that of a multiple.
Tensor floor_divide(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Div");
  const OperandPair pair = matched_for(op, a, b);
  const Loc& loc = a.loc;
  if (!is_floating(pair.a.dtype())) {
    const Tensor quotient = apply(op, {pair.a, pair.b}, loc);
    const Tensor is_cut =
        Operand(remainder({pair.a, loc}, pair.b), loc) != fmod({pair.a, loc}, pair.b);
    return sub({quotient, loc}, is_cut.to(quotient.dtype(), loc));
  }
  const Tensor rest = fmod({pair.a, loc}, pair.b);
  const Tensor times = round(div({sub({pair.a, loc}, rest), loc}, pair.b), loc);
  const Tensor below = differs_in_sign(rest, pair.b, loc).to(times.dtype(), loc);
  const Tensor infinite = div({pair.a.detach(), loc}, pair.b.detach());
  return where(Operand(pair.b, loc) == 0, {infinite, loc}, sub({times, loc}, below));
}
Tensor maximum(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Max");
  return binary(op, a, b);
}
Tensor minimum(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Min");
  return binary(op, a, b);
}
Tensor where(const Tensor& condition, const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Where");
  const OperandPair pair = matched_for(op, a, b);
  return apply(op, {condition, pair.a, pair.b}, a.loc);
}

}  // namespace sardonyx::eager
