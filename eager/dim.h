// Sizes of tensors as the program sees them.
#pragma once

#include <concepts>
#include <type_traits>

#include "eager/trace/location.h"
#include "ir/core/symbolic_dim.h"

namespace sardonyx::eager {

class Dim;

// Operands of sizes' arithmetic: integers, symbolic dims and Dim itself; at least one is a Dim.
template <typename T>
concept SizeOperand = std::integral<T> || std::derived_from<T, sardonyx::Dim>;
template <typename A, typename B>
concept SizeOperands = SizeOperand<A> && SizeOperand<B> &&
    (std::same_as<A, Dim> || std::same_as<B, Dim>);

// An integer, or in a trace perhaps an expression over symbols (sardonyx::Dim). C++ that compares
// such a size, or asks for its value, is answered by the sizes that the trace was made with, and
// the trace notes it: compile() traces anew where a call's sizes answer otherwise, export_onnx()
// names the line where that shows. Sizes that depend on data have no answer: kInvalidArgument.
class Dim : public sardonyx::Dim {
 public:
  Dim() = default;
  Dim(int64_t value) : sardonyx::Dim(value) {}
  Dim(const sardonyx::Dim& dim, Loc asked = Loc::current()) : sardonyx::Dim(dim), asked_(asked) {}

  // Throws kInvalidArgument where an export would fix the size; dim_tensor() is the size as a
  // tensor.
  int64_t value() const;
  const Loc& asked() const { return asked_; }  // where the program got it

 private:
  Loc asked_;
};

// Whether two sizes are equal for every value of their symbols; false also where that is not known.
inline bool proved_equal(const sardonyx::Dim& a, const sardonyx::Dim& b) {
  return a == b;
}

namespace detail {

// For checks of arguments: whether two sizes are equal; `unknown` where that is left to the run, as
// an export does, and for sizes that depend on data. compile() notes the answer.
bool sizes_agree(const sardonyx::Dim& a, const sardonyx::Dim& b, const Loc& loc,
                 bool unknown = true);
// The answers of == and <, noted as conditions of the trace under `loc`.
bool sizes_equal(const sardonyx::Dim& a, const sardonyx::Dim& b, const Loc& loc);
bool size_less(const sardonyx::Dim& a, const sardonyx::Dim& b, const Loc& loc);

template <typename A, typename B>
const Loc& asked(const A& a, const B& b) {
  if constexpr (std::same_as<A, Dim>) {
    return a.asked();
  } else {
    return b.asked();
  }
}
template <typename A>
sardonyx::Dim plain(const A& a) {
  if constexpr (std::integral<A>) {
    return static_cast<int64_t>(a);
  } else {
    return a;
  }
}

}  // namespace detail

template <typename A, typename B>
requires SizeOperands<A, B>
// Comparisons are answered by the example's sizes and noted; see Dim.
bool operator==(const A& a, const B& b) {
  return detail::sizes_equal(detail::plain(a), detail::plain(b), detail::asked(a, b));
}
template <typename A, typename B>
requires SizeOperands<A, B>
bool operator<(const A& a, const B& b) {
  return detail::size_less(detail::plain(a), detail::plain(b), detail::asked(a, b));
}
template <typename A, typename B>
requires SizeOperands<A, B>
bool operator>(const A& a, const B& b) {
  return b < a;
}
template <typename A, typename B>
requires SizeOperands<A, B>
bool operator<=(const A& a, const B& b) {
  return !(b < a);
}
template <typename A, typename B>
requires SizeOperands<A, B>
bool operator>=(const A& a, const B& b) {
  return !(a < b);
}

// Arithmetic stays symbolic; it throws kResourceExhausted where 64 bits do not hold a known result.
template <typename A, typename B>
requires SizeOperands<A, B> Dim operator+(const A& a, const B& b) {
  return {detail::plain(a) + detail::plain(b), detail::asked(a, b)};
}
template <typename A, typename B>
requires SizeOperands<A, B> Dim operator-(const A& a, const B& b) {
  return {detail::plain(a) - detail::plain(b), detail::asked(a, b)};
}
template <typename A, typename B>
requires SizeOperands<A, B> Dim operator*(const A& a, const B& b) {
  return {detail::plain(a) * detail::plain(b), detail::asked(a, b)};
}
template <typename A, typename B>
requires SizeOperands<A, B> Dim floor_div(const A& a, const B& b) {
  return {sardonyx::floor_div(detail::plain(a), detail::plain(b)), detail::asked(a, b)};
}
template <typename A, typename B>
requires SizeOperands<A, B> Dim ceil_div(const A& a, const B& b) {
  return {sardonyx::ceil_div(detail::plain(a), detail::plain(b)), detail::asked(a, b)};
}

// The shape of a tensor; its dims know where the program asked for it.
class Sizes : public Dims {
 public:
  Sizes() = default;
  Sizes(Dims dims, Loc asked) : Dims(std::move(dims)), asked_(asked) {}
  // Axes from 0 on; at() checks, operator[] does not.
  Dim operator[](size_t axis) const { return {Dims::operator[](axis), asked_}; }
  Dim at(size_t axis) const { return {Dims::at(axis), asked_}; }
  Dim front() const { return {Dims::front(), asked_}; }
  Dim back() const { return {Dims::back(), asked_}; }
  // By the example's sizes in a trace, as comparisons of dims.
  bool operator==(const Dims& other) const;
  bool operator==(const Sizes& other) const { return *this == static_cast<const Dims&>(other); }

 private:
  Loc asked_;
};

// A shape without symbols: one size, or sizes that are kept as integers.
template <typename T>
concept IntegerSizes = std::integral<T> || std::same_as<T, Shape>;
template <std::integral Size>
Dims dims_of(Size size) {
  return {sardonyx::Dim(size)};
}
inline Dims dims_of(const Shape& sizes) {
  return to_dims(sizes);
}

}  // namespace sardonyx::eager
