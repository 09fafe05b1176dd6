// What functions of tensors take beside tensors: numbers, axes, options.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace sardonyx::eager {

struct Operand;

// A number of C++ as it is: an integer keeps all its 64 bits until it meets a tensor, whose type it
// takes on.
struct Number {
  double number = 0;
  int64_t integer = 0;  // the bits of `number`, where it is no fraction
  bool is_fraction = false;
  Number() = default;
  template <std::floating_point Fraction>
  Number(Fraction value) : number(static_cast<double>(value)), is_fraction(true) {}
  template <std::integral Integer>
  Number(Integer value)
      : number(static_cast<double>(value)), integer(static_cast<int64_t>(value)) {}
  Number(const Operand&) = delete;  // which may be a tensor

  bool is(int value) const { return number == value; }
  // Beside a tensor of integers a fraction that is whole counts as an integer.
  bool is_whole() const { return !is_fraction || number == std::trunc(number); }
};

// Integers, of which one may stand for itself: x.sum(1), x.sum({0, -1}), x.roll(2, 0).
class IntList : public std::vector<int64_t> {
 public:
  IntList() = default;
  IntList(int value) : vector{value} {}
  IntList(int64_t value) : vector{value} {}
  IntList(std::initializer_list<int64_t> values) : vector(values) {}
  IntList(std::vector<int64_t> values) : vector(std::move(values)) {}
};
using Axes = IntList;  // none: all of them

// When two tensors count as close, element by element, as torch.allclose has it:
// |a - b| <= atol + rtol * |b|, equal infinities, and NaNs where `equal_nan`.
struct CloseOptions {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
};
// Factors of addmm and its like: beta * x + alpha * (a b). With beta 0 x is not read, so that its
// NaNs do not matter.
struct ScaledProduct {
  Number beta = 1, alpha = 1;
};

}  // namespace sardonyx::eager
