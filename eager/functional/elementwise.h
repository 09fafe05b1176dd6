// Elementwise functions under torch's names, beside the commonest in eager/functional/functional.h.
// Operands broadcast and mix types as those of the operators do. Functions of angles and logarithms
// take integers as float32, as in torch.
#pragma once

#include <utility>

#include "eager/tensor.h"

namespace sardonyx::eager {

// --- angles and exponentials ---
Tensor tan(const Tensor& x, Loc loc = Loc::current());
Tensor asin(const Tensor& x, Loc loc = Loc::current());
Tensor acos(const Tensor& x, Loc loc = Loc::current());
Tensor atan(const Tensor& x, Loc loc = Loc::current());
Tensor sinh(const Tensor& x, Loc loc = Loc::current());
Tensor cosh(const Tensor& x, Loc loc = Loc::current());
Tensor asinh(const Tensor& x, Loc loc = Loc::current());
Tensor acosh(const Tensor& x, Loc loc = Loc::current());
Tensor atanh(const Tensor& x, Loc loc = Loc::current());
// The angle of the point (x, y) within [-pi, pi], signs of zeros included (C's atan2).
Tensor atan2(const Operand& y, const Operand& x);
Tensor deg2rad(const Tensor& x, Loc loc = Loc::current());
Tensor rad2deg(const Tensor& x, Loc loc = Loc::current());
Tensor exp2(const Tensor& x, Loc loc = Loc::current());
Tensor expm1(const Tensor& x, Loc loc = Loc::current());  // exp(x) - 1, exact near 0
Tensor log2(const Tensor& x, Loc loc = Loc::current());
Tensor log10(const Tensor& x, Loc loc = Loc::current());
// log(exp(a) + exp(b)) without overflow.
Tensor logaddexp(const Operand& a, const Operand& b);
Tensor logaddexp2(const Operand& a, const Operand& b);    // log2(2^a + 2^b)
Tensor ldexp(const Operand& x, const Operand& exponent);  // x * 2^exponent
// {mantissa, exponent}: x = mantissa * 2^exponent, 1/2 <= |mantissa| < 1, the exponent an int32; of
// 0, infinities and NaN x itself and 0.
std::pair<Tensor, Tensor> frexp(const Tensor& x, Loc loc = Loc::current());
// The next number of the type after a towards b, float32 or float64; without a gradient. ONNX has
// the bits of numbers from opset 26 on (frexp's too).
Tensor nextafter(const Operand& a, const Operand& b);
// The greater, the less of two; of a NaN and a number the number.
Tensor fmax(const Operand& a, const Operand& b);
Tensor fmin(const Operand& a, const Operand& b);
// log(x / (1 - x)); eps cuts x to [eps, 1 - eps].
Tensor logit(const Tensor& x, std::optional<double> eps = {}, Loc loc = Loc::current());
// x * log(y), which is 0 where x is 0 and y is no NaN.
Tensor xlogy(const Operand& x, const Operand& y);
Tensor xlog1py(const Operand& x, const Operand& y);  // x * log(1 + y), 0 where x is
Tensor hypot(const Operand& a, const Operand& b);
Tensor erfc(const Tensor& x, Loc loc = Loc::current());  // 1 - erf(x), to its last digits

// --- rounding and division ---
Tensor trunc(const Tensor& x, Loc loc = Loc::current());
Tensor frac(const Tensor& x, Loc loc = Loc::current());   // x - trunc(x)
Tensor floor_divide(const Operand& a, const Operand& b);  // floor(a / b), of integers exactly
Tensor fmod(const Operand& a, const Operand& b);          // the sign of a, as in C

// Of integers: the greatest number that divides both, without a
// sign (0 of two zeros), and the least one above 0 that both divide (0 where one of them is 0).
Tensor gcd(const Operand& a, const Operand& b);
Tensor lcm(const Operand& a, const Operand& b);

// --- combinations ---
// start + weight * (end - start).
Tensor lerp(const Tensor& start, const Operand& end, const Operand& weight);
// x + value * a * b, and x + value * a / b.
Tensor addcmul(const Tensor& x, const Operand& a, const Operand& b, Number value = 1);
Tensor addcdiv(const Tensor& x, const Operand& a, const Operand& b, Number value = 1);
// a^b as float64.
Tensor float_power(const Operand& a, const Operand& b);
// |a| with the sign of b, zeros' signs included; whether x has the sign of a negative number.
Tensor copysign(const Operand& a, const Operand& b);
Tensor signbit(const Tensor& x, Loc loc = Loc::current());
Tensor sinc(const Tensor& x, Loc loc = Loc::current());  // sin(pi x) / (pi x), 1 at 0
// 0 for x < 0, `values` for x == 0, 1 for x > 0; NaN for NaN.
Tensor heaviside(const Tensor& x, const Operand& values);
// NaN and infinities replaced: by 0 and the type's greatest and lowest finite values by default.
Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<double> posinf = {},
                  std::optional<double> neginf = {}, Loc loc = Loc::current());

// --- comparisons: bool tensors ---
Tensor eq(const Operand& a, const Operand& b);
Tensor ne(const Operand& a, const Operand& b);
Tensor lt(const Operand& a, const Operand& b);
Tensor le(const Operand& a, const Operand& b);
Tensor gt(const Operand& a, const Operand& b);
Tensor ge(const Operand& a, const Operand& b);
Tensor isinf(const Tensor& x, Loc loc = Loc::current());
Tensor isfinite(const Tensor& x, Loc loc = Loc::current());
Tensor isposinf(const Tensor& x, Loc loc = Loc::current());
Tensor isneginf(const Tensor& x, Loc loc = Loc::current());
Tensor isclose(const Operand& a, const Operand& b, CloseOptions options = {});
// Of all elements; false for other shapes. The values are read, so not of symbolic tensors.
bool allclose(const Tensor& a, const Tensor& b, CloseOptions options = {},
              Loc loc = Loc::current());
// Same shape and elements (types are promoted).
bool equal(const Tensor& a, const Tensor& b, Loc loc = Loc::current());

// --- logic: anything but 0 is true ---
Tensor logical_and(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
Tensor logical_or(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
Tensor logical_xor(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
Tensor logical_not(const Tensor& x, Loc loc = Loc::current());
// Of integers, or of bools.
Tensor bitwise_and(const Operand& a, const Operand& b);
Tensor bitwise_or(const Operand& a, const Operand& b);
Tensor bitwise_xor(const Operand& a, const Operand& b);
Tensor bitwise_not(const Tensor& x, Loc loc = Loc::current());
// Integers moved by b bits: zeros come in from the right, copies of the sign from the left. By as
// many bits as there are, or more, nothing but these is left.
Tensor bitwise_left_shift(const Operand& a, const Operand& b);
Tensor bitwise_right_shift(const Operand& a, const Operand& b);

// --- activations ---
Tensor relu6(const Tensor& x, Loc loc = Loc::current());
Tensor hardtanh(const Tensor& x, Number low = -1, Number high = 1, Loc loc = Loc::current());
Tensor celu(const Tensor& x, double alpha = 1, Loc loc = Loc::current());
Tensor softsign(const Tensor& x, Loc loc = Loc::current());
Tensor softshrink(const Tensor& x, double lambda = 0.5, Loc loc = Loc::current());
Tensor hardshrink(const Tensor& x, double lambda = 0.5, Loc loc = Loc::current());
Tensor tanhshrink(const Tensor& x, Loc loc = Loc::current());
// x where it is above `limit`, else `value`.
Tensor threshold(const Tensor& x, Number limit, Number value, Loc loc = Loc::current());
Tensor logsigmoid(const Tensor& x, Loc loc = Loc::current());
Tensor softmin(const Tensor& x, int64_t axis = -1, Loc loc = Loc::current());
// x for positive x, else weight * x; weight of one element, or of the channels of x [N, C, ...].
Tensor prelu(const Tensor& x, const Tensor& weight, Loc loc = Loc::current());
// The first half of an axis of even size times the sigmoid of the second.
Tensor glu(const Tensor& x, int64_t axis = -1, Loc loc = Loc::current());

}  // namespace sardonyx::eager
