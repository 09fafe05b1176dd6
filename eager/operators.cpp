// Binary functions and operators: numbers become tensors, mixed types are promoted.
#include "eager/dispatch.h"
#include "eager/functional.h"

namespace sardonyx::eager {
namespace {

// How far up torch's order of promotion a type stands: bool, integers by width, floating types.
int rank_of(DType dtype) {
  if (dtype == DType::kBool) return 0;
  if (is_integer(dtype)) return 1 + bits_of(dtype) * 2 + (is_signed_integer(dtype) ? 1 : 0);
  return 1000 + bits_of(dtype);
}

DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::kString || b == DType::kString || is_complex(a) || is_complex(b)) {
    fail(ErrorCode::kInvalidArgument, "elements of types ", a, " and ", b,
         " do not mix; convert one with to()");
  }
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

DType type_beside(const Operand& number, DType other) {
  if (number.is_fraction && !is_floating(other)) return DType::kFloat;
  return !number.is_fraction && other == DType::kBool ? DType::kInt64 : other;
}

Tensor converted(const Tensor& tensor, DType dtype, const Loc& loc) {
  return tensor.dtype() == dtype ? tensor : tensor.to(dtype, loc);
}

struct Pair {
  Tensor a, b;
};

Pair matched(const Operand& a, const Operand& b) {
  if (!a.tensor && !b.tensor) {
    const DType dtype = a.is_fraction || b.is_fraction ? DType::kFloat : DType::kInt64;
    return {literal(a.number, dtype), literal(b.number, dtype)};
  }
  if (a.tensor && b.tensor) {
    const DType dtype = promoted(a.tensor->dtype(), b.tensor->dtype());
    return {converted(*a.tensor, dtype, a.loc), converted(*b.tensor, dtype, b.loc)};
  }
  const Operand& tensor = a.tensor ? a : b;
  const Operand& number = a.tensor ? b : a;
  const DType dtype = type_beside(number, tensor.tensor->dtype());
  Tensor value = converted(*tensor.tensor, dtype, tensor.loc);
  Tensor other = literal(number.number, dtype);
  return a.tensor ? Pair{std::move(value), std::move(other)}
                  : Pair{std::move(other), std::move(value)};
}

Tensor binary(const OpDef& op, const Operand& a, const Operand& b) {
  if (a.tensor && b.tensor && a.tensor->dtype() == b.tensor->dtype())
    return apply(op, {*a.tensor, *b.tensor}, a.loc);
  const Pair pair = matched(a, b);
  return apply(op, {pair.a, pair.b}, a.loc);
}

// For bools, which ONNX's arithmetic does not take.
Tensor arithmetic(const OpDef& op, const Operand& a, const Operand& b) {
  if (a.tensor && b.tensor) {
    const DType dtype = a.tensor->dtype();
    if (dtype == b.tensor->dtype() && dtype != DType::kBool)
      return apply(op, {*a.tensor, *b.tensor}, a.loc);
  }
  Pair pair = matched(a, b);
  if (pair.a.dtype() == DType::kBool)
    pair = {pair.a.to(DType::kInt64, a.loc), pair.b.to(DType::kInt64, b.loc)};
  return apply(op, {pair.a, pair.b}, a.loc);
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
  Pair pair = matched(a, b);
  if (!is_floating(pair.a.dtype()))
    pair = {pair.a.to(DType::kFloat, a.loc), pair.b.to(DType::kFloat, b.loc)};
  return apply(op, {pair.a, pair.b}, a.loc);
}
Tensor operator==(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Equal");
  return binary(op, a, b);
}
Tensor operator!=(const Operand& a, const Operand& b) {
  return !(a == b);
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
Tensor operator&&(const Tensor& a, const Tensor& b) {
  return Operand(a) && Operand(b);
}
Tensor operator||(const Tensor& a, const Tensor& b) {
  return Operand(a) || Operand(b);
}
Tensor operator!(const Tensor& a) {
  static const OpDef& op = op_named("Not");
  return apply(op, {a}, Loc::current());
}
Tensor Tensor::operator-() const {
  return neg(*this);
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
Tensor pow(const Operand& a, const Operand& b) {
  static const OpDef& op = op_named("Pow");
  return arithmetic(op, a, b);
}
Tensor remainder(const Operand& a, const Operand& b) {
  const Pair pair = matched(a, b);
  if (!is_floating(pair.a.dtype())) {
    static const OpDef& op = op_named("Mod");
    return apply(op, {pair.a, pair.b}, a.loc);
  }
  return pair.a - floor(pair.a / pair.b, a.loc) * pair.b;
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
  const Pair pair = matched(a, b);
  return apply(op, {condition, pair.a, pair.b}, a.loc);
}

}  // namespace sardonyx::eager
