// Short forms in which gradient rules of the rows are written.
#pragma once

#include <concepts>
#include <type_traits>

#include "ir/autodiff/autodiff.h"

namespace sardonyx::ops {

// A value with its emitter, so that rules read as formulas.
struct Term {
  Emitter* e;
  Val val;

  operator const Val&() const { return val; }
  DType dtype() const { return e->type(val).dtype; }
  // A constant of this one's type.
  Term number(double value) const { return {e, e->scalar_like(val, value)}; }
};

// An op of some operands, by name as Emitter::call takes it.
Term apply(std::string_view op, const Term& x, const AttrMap& attrs = {});
Term apply(std::string_view op, const Term& a, const Term& b, const AttrMap& attrs = {});
Term apply(std::string_view op, const Term& a, const Term& b, const Term& c);

// One operand of an operator is a Term, the other one too or a number.
template <typename A, typename B>
concept TermOperands = (std::same_as<A, Term> &&
                        (std::same_as<B, Term> || std::is_arithmetic_v<B>)) ||
                       (std::is_arithmetic_v<A> && std::same_as<B, Term>);

template <typename A, typename B>
requires TermOperands<A, B> Term apply_to_operands(std::string_view op, const A& a, const B& b) {
  if constexpr (std::is_arithmetic_v<A>)
    return apply(op, b.number(a), b);
  else if constexpr (std::is_arithmetic_v<B>)
    return apply(op, a, a.number(b));
  else
    return apply(op, a, b);
}

template <typename A, typename B>
requires TermOperands<A, B> Term operator+(const A& a, const B& b) {
  return apply_to_operands("Add", a, b);
}
template <typename A, typename B>
requires TermOperands<A, B> Term operator-(const A& a, const B& b) {
  return apply_to_operands("Sub", a, b);
}
template <typename A, typename B>
requires TermOperands<A, B> Term operator*(const A& a, const B& b) {
  return apply_to_operands("Mul", a, b);
}
template <typename A, typename B>
requires TermOperands<A, B> Term operator/(const A& a, const B& b) {
  return apply_to_operands("Div", a, b);
}
// Comparisons give bool elements.
template <typename A, typename B>
requires TermOperands<A, B> Term operator<(const A& a, const B& b) {
  return apply_to_operands("Less", a, b);
}
template <typename A, typename B>
requires TermOperands<A, B> Term operator>(const A& a, const B& b) {
  return apply_to_operands("Greater", a, b);
}
template <typename A, typename B>
requires TermOperands<A, B> Term operator<=(const A& a, const B& b) {
  return apply_to_operands("LessOrEqual", a, b);
}
template <typename A, typename B>
requires TermOperands<A, B> Term operator>=(const A& a, const B& b) {
  return apply_to_operands("GreaterOrEqual", a, b);
}
template <typename A, typename B>
requires TermOperands<A, B> Term equal(const A& a, const B& b) {
  return apply_to_operands("Equal", a, b);
}

inline Term operator-(const Term& x) {
  return apply("Neg", x);
}
inline Term operator&&(const Term& a, const Term& b) {
  return apply("And", a, b);
}
inline Term operator!(const Term& x) {
  return apply("Not", x);
}
// `a` where the condition holds, else `b`.
inline Term where(const Term& condition, const Term& a, const Term& b) {
  return apply("Where", condition, a, b);
}
inline Term where(const Term& condition, const Term& a, double b) {
  return where(condition, a, a.number(b));
}
inline Term where(const Term& condition, double a, const Term& b) {
  return where(condition, b.number(a), b);
}
inline Term zeros_like(const Term& x) {
  return {x.e, full_like(*x.e, x, 0)};
}
// Casts x to `to`; x itself where its type is right.
Term cast(const Term& x, DType to);
inline Term square(const Term& x) {
  return x * x;
}

// The sizes of dims [begin, end) of x, from its last dim where negative (end of 0: to the last), as
// a 1-D int64 value: a constant where they are known.
Term sizes_of(const Term& x, int64_t begin, int64_t end = 0);
inline Term int64s(Emitter& e, const std::vector<int64_t>& values) {
  return {&e, e.int64s(values)};
}
// Several 1-D int64 values in a row: a constant where all are known.
Term joined(Emitter& e, const std::vector<Term>& parts);
// `x` under a shape in which 0 means 0.
Term reshaped(const Term& x, const Term& shape);
Val reshaped(Emitter& e, const Val& x, const Val& shape);
// The product of a 1-D value's elements, as a 1-D value of one: a constant where they are known.
Val product_of(Emitter& e, const Val& list);

// Each element's place in row-major order, in a tensor of x's shape.
Term positions(const Term& x);
// The gradient of an x whose elements at places `from` (any shape) went to where `d` (of the same
// shape) holds their gradients.
Term scattered_back(const Term& x, const Term& from, const Term& d);

inline Term input(Emitter& e, const GradCall& call, size_t index) {
  return {&e, call.inputs[index]};
}
inline Term output(Emitter& e, const GradCall& call, size_t index) {
  return {&e, call.outputs[index]};
}
inline Term d_output(Emitter& e, const GradCall& call, size_t index) {
  return {&e, call.d_outputs[index]};
}

// The rule of a row with one input and one output: dx = function(dy, x, y).
template <auto function>
Vals unary_gradient(Emitter& e, const GradCall& call) {
  return {function(d_output(e, call, 0), input(e, call, 0), output(e, call, 0)).val};
}
// The rule of a row whose results do not change with small changes of its inputs (Floor, Sign).
inline Vals zero_gradient(Emitter&, const GradCall&) {
  return {};
}

}  // namespace sardonyx::ops
