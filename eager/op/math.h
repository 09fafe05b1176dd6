// Elementwise ops: arithmetic, functions, activations, logic and types.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

// A + B, element by element, broadcast to one shape.
// (A: T, B: T) -> (C: T); T: integers, floats
Tensor Add(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// A - B, element by element, broadcast to one shape.
// (A: T, B: T) -> (C: T); T: integers, floats
Tensor Sub(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// A * B, element by element, broadcast to one shape.
// (A: T, B: T) -> (C: T); T: integers, floats
Tensor Mul(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// A / B, element by element, broadcast to one shape; integers are truncated toward zero, and a
// divisor of 0 is refused.
// (A: T, B: T) -> (C: T); T: integers, floats
Tensor Div(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

struct ModAttrs {
  int64_t fmod = 0;
};
// The remainder of A / B, broadcast to one shape: with the sign of the divisor, or with fmod = 1
// that of the dividend, which floats need.
// (A: T, B: T) -> (C: T); T: integers, floats
Tensor Mod(const Tensor& A, const Tensor& B, const ModAttrs& attrs = {}, Loc loc = Loc::current());

// X to the power of Y, broadcast to one shape, in the type of X.
// (X: T, Y: T1) -> (Z: T); T: floats, int32, int64; T1: integers, floats
Tensor Pow(const Tensor& X, const Tensor& Y, Loc loc = Loc::current());

// -X, element by element.
// (X: T) -> (Y: T); T: floats, int8, int16, int32, int64
Tensor Neg(const Tensor& X, Loc loc = Loc::current());

// The magnitude of each element.
// (X: T) -> (Y: T); T: integers, floats
Tensor Abs(const Tensor& X, Loc loc = Loc::current());

// -1, 0 or 1 for each element.
// (input: T) -> (output: T); T: integers, floats
Tensor Sign(const Tensor& input, Loc loc = Loc::current());

// 1 / X, element by element.
// (X: T) -> (Y: T); T: floats
Tensor Reciprocal(const Tensor& X, Loc loc = Loc::current());

// The largest of the tensors' elements at each place, broadcast to one shape; NaN where one of them
// is.
// (data_0...: T) -> (max: T); T: integers, floats
Tensor Max(const std::vector<Tensor>& data_0, Loc loc = Loc::current());

// The smallest of the tensors' elements at each place, broadcast to one shape; NaN where one of
// them is.
// (data_0...: T) -> (min: T); T: integers, floats
Tensor Min(const std::vector<Tensor>& data_0, Loc loc = Loc::current());

// The sum of all tensors, broadcast to one shape.
// (data_0...: T) -> (sum: T); T: floats
Tensor Sum(const std::vector<Tensor>& data_0, Loc loc = Loc::current());

// The mean of all tensors, broadcast to one shape.
// (data_0...: T) -> (mean: T); T: floats
Tensor Mean(const std::vector<Tensor>& data_0, Loc loc = Loc::current());

struct BitShiftAttrs {
  std::optional<std::string> direction = {};  // required
};
// X shifted by Y bits, direction LEFT or RIGHT, broadcast to one shape.
// (X: T, Y: T) -> (Z: T); T: uint8, uint16, uint32, uint64
Tensor BitShift(const Tensor& X, const Tensor& Y, const BitShiftAttrs& attrs,
    Loc loc = Loc::current());

// The bits that are set in A and B, broadcast to one shape.
// (A: T, B: T) -> (C: T); T: integers
Tensor BitwiseAnd(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// The bits that are set in A or B, broadcast to one shape.
// (A: T, B: T) -> (C: T); T: integers
Tensor BitwiseOr(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// The bits that differ between A and B, broadcast to one shape.
// (A: T, B: T) -> (C: T); T: integers
Tensor BitwiseXor(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// All bits of each element inverted.
// (X: T) -> (Y: T); T: integers
Tensor BitwiseNot(const Tensor& X, Loc loc = Loc::current());

// The square root of each element; NaN where it is negative.
// (X: T) -> (Y: T); T: floats
Tensor Sqrt(const Tensor& X, Loc loc = Loc::current());

// e to the power of each element.
// (input: T) -> (output: T); T: floats
Tensor Exp(const Tensor& input, Loc loc = Loc::current());

// The natural logarithm of each element; NaN where it is negative.
// (input: T) -> (output: T); T: floats
Tensor Log(const Tensor& input, Loc loc = Loc::current());

// Each element rounded up to an integer.
// (X: T) -> (Y: T); T: floats
Tensor Ceil(const Tensor& X, Loc loc = Loc::current());

// Each element rounded down to an integer.
// (X: T) -> (Y: T); T: floats
Tensor Floor(const Tensor& X, Loc loc = Loc::current());

// Each element rounded to the nearest integer, halves to the even one.
// (X: T) -> (Y: T); T: floats
Tensor Round(const Tensor& X, Loc loc = Loc::current());

// The error function of each element.
// (input: T) -> (output: T); T: floats
Tensor Erf(const Tensor& input, Loc loc = Loc::current());

// The sine of each element, in radians.
// (input: T) -> (output: T); T: floats
Tensor Sin(const Tensor& input, Loc loc = Loc::current());

// The cosine of each element, in radians.
// (input: T) -> (output: T); T: floats
Tensor Cos(const Tensor& input, Loc loc = Loc::current());

// The tangent of each element, in radians.
// (input: T) -> (output: T); T: floats
Tensor Tan(const Tensor& input, Loc loc = Loc::current());

// The arc sine of each element, in radians; NaN outside of [-1, 1].
// (input: T) -> (output: T); T: floats
Tensor Asin(const Tensor& input, Loc loc = Loc::current());

// The arc cosine of each element, in radians; NaN outside of [-1, 1].
// (input: T) -> (output: T); T: floats
Tensor Acos(const Tensor& input, Loc loc = Loc::current());

// The arc tangent of each element, in radians.
// (input: T) -> (output: T); T: floats
Tensor Atan(const Tensor& input, Loc loc = Loc::current());

// The hyperbolic sine of each element.
// (input: T) -> (output: T); T: floats
Tensor Sinh(const Tensor& input, Loc loc = Loc::current());

// The hyperbolic cosine of each element.
// (input: T) -> (output: T); T: floats
Tensor Cosh(const Tensor& input, Loc loc = Loc::current());

// The hyperbolic tangent of each element.
// (input: T) -> (output: T); T: floats
Tensor Tanh(const Tensor& input, Loc loc = Loc::current());

// The inverse of the hyperbolic sine of each element.
// (input: T) -> (output: T); T: floats
Tensor Asinh(const Tensor& input, Loc loc = Loc::current());

// The inverse of the hyperbolic cosine of each element; NaN below 1.
// (input: T) -> (output: T); T: floats
Tensor Acosh(const Tensor& input, Loc loc = Loc::current());

// The inverse of the hyperbolic tangent of each element; NaN outside of [-1, 1].
// (input: T) -> (output: T); T: floats
Tensor Atanh(const Tensor& input, Loc loc = Loc::current());

// Which elements are not a number.
// (X: T1) -> (Y: T2); T1: floats, 8-bit floats; T2: bool
Tensor IsNaN(const Tensor& X, Loc loc = Loc::current());

struct IsInfAttrs {
  int64_t detect_negative = 1;
  int64_t detect_positive = 1;
};
// Which elements are infinite; the attributes leave one sign out.
// (X: T1) -> (Y: T2); T1: floats, 8-bit floats; T2: bool
Tensor IsInf(const Tensor& X, const IsInfAttrs& attrs = {}, Loc loc = Loc::current());

// max(X, 0), element by element.
// (X: T) -> (Y: T); T: floats, int8, int16, int32, int64
Tensor Relu(const Tensor& X, Loc loc = Loc::current());

struct LeakyReluAttrs {
  float alpha = 0.01f;
};
// X where it is not negative, else alpha * X.
// (X: T) -> (Y: T); T: floats
Tensor LeakyRelu(const Tensor& X, const LeakyReluAttrs& attrs = {}, Loc loc = Loc::current());

// X where it is not negative, else slope * X; the slope is broadcast to the shape of X.
// (X: T, slope: T) -> (Y: T); T: floats, int32, int64, uint32, uint64
Tensor PRelu(const Tensor& X, const Tensor& slope, Loc loc = Loc::current());

struct EluAttrs {
  float alpha = 1.f;
};
// X where it is positive, else alpha * (exp(X) - 1).
// (X: T) -> (Y: T); T: floats
Tensor Elu(const Tensor& X, const EluAttrs& attrs = {}, Loc loc = Loc::current());

struct SeluAttrs {
  float alpha = 1.6732632f;
  float gamma = 1.050701f;
};
// gamma * X where X is positive, else gamma * alpha * (exp(X) - 1).
// (X: T) -> (Y: T); T: floats
Tensor Selu(const Tensor& X, const SeluAttrs& attrs = {}, Loc loc = Loc::current());

struct CeluAttrs {
  float alpha = 1.f;
};
// max(0, X) + min(0, alpha * (exp(X / alpha) - 1)).
// (X: T) -> (Y: T); T: float
Tensor Celu(const Tensor& X, const CeluAttrs& attrs = {}, Loc loc = Loc::current());

// 1 / (1 + exp(-X)), element by element.
// (X: T) -> (Y: T); T: floats
Tensor Sigmoid(const Tensor& X, Loc loc = Loc::current());

struct HardSigmoidAttrs {
  float alpha = 0.2f;
  float beta = 0.5f;
};
// max(0, min(1, alpha * X + beta)), element by element.
// (X: T) -> (Y: T); T: floats
Tensor HardSigmoid(const Tensor& X, const HardSigmoidAttrs& attrs = {}, Loc loc = Loc::current());

// X * max(0, min(1, X / 6 + 0.5)), element by element.
// (X: T) -> (Y: T); T: floats
Tensor HardSwish(const Tensor& X, Loc loc = Loc::current());

// X * tanh(softplus(X)), element by element.
// (X: T) -> (Y: T); T: floats
Tensor Mish(const Tensor& X, Loc loc = Loc::current());

// log(1 + exp(X)), element by element.
// (X: T) -> (Y: T); T: floats
Tensor Softplus(const Tensor& X, Loc loc = Loc::current());

// X / (1 + |X|), element by element.
// (input: T) -> (output: T); T: floats
Tensor Softsign(const Tensor& input, Loc loc = Loc::current());

struct ThresholdedReluAttrs {
  float alpha = 1.f;
};
// X where it is above alpha, else 0.
// (X: T) -> (Y: T); T: floats
Tensor ThresholdedRelu(const Tensor& X, const ThresholdedReluAttrs& attrs = {},
    Loc loc = Loc::current());

struct GeluAttrs {
  std::string approximate = "none";
};
// X times the normal distribution's share below it; approximate: "none" or "tanh".
// (X: T) -> (Y: T); T: floats
Tensor Gelu(const Tensor& X, const GeluAttrs& attrs = {}, Loc loc = Loc::current());

struct SwishAttrs {
  float alpha = 1.f;
};
// X * sigmoid(alpha * X), element by element.
// (X: T) -> (Y: T); T: floats
Tensor Swish(const Tensor& X, const SwishAttrs& attrs = {}, Loc loc = Loc::current());

struct ShrinkAttrs {
  float bias = 0.f;
  float lambd = 0.5f;
};
// X moved by bias toward 0 where |X| is above lambd, else 0.
// (input: T) -> (output: T); T: integers, float, float16, double
Tensor Shrink(const Tensor& input, const ShrinkAttrs& attrs = {}, Loc loc = Loc::current());

// Each element limited to [min, max], scalars of which either may be left out.
// (input: T, min?: T, max?: T) -> (output: T); T: integers, floats
Tensor Clip(const Tensor& input, const Tensor& min = {}, const Tensor& max = {},
    Loc loc = Loc::current());

struct DropoutAttrs {
  std::optional<int64_t> seed = {};
};
// In training mode zeros at random places, a share `ratio` of them, and the others scaled by 1 / (1
// - ratio); else the data. The mask (bool) says what was kept.
// (data: T, ratio?: T1, training_mode?: T2) -> (output: T, mask?: T2); T: floats, 8-bit floats; T1:
//   floats, 8-bit floats; T2: bool
Tensor Dropout(const Tensor& data, const Tensor& ratio = {}, const Tensor& training_mode = {},
    const DropoutAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> DropoutOutputs(size_t outputs, const Tensor& data, const Tensor& ratio = {},
    const Tensor& training_mode = {}, const DropoutAttrs& attrs = {}, Loc loc = Loc::current());

// Whether both elements are true, broadcast to one shape.
// (A: T, B: T) -> (C: T1); T: bool; T1: bool
Tensor And(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// Whether either element is true, broadcast to one shape.
// (A: T, B: T) -> (C: T1); T: bool; T1: bool
Tensor Or(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// Whether exactly one element is true, broadcast to one shape.
// (A: T, B: T) -> (C: T1); T: bool; T1: bool
Tensor Xor(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// Whether the element is false.
// (X: T) -> (Y: T); T: bool
Tensor Not(const Tensor& X, Loc loc = Loc::current());

// Whether the elements are equal, broadcast to one shape; NaN equals nothing.
// (A: T, B: T) -> (C: T1); T: integers, floats, string, bool; T1: bool
Tensor Equal(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// Whether A is greater than B, broadcast to one shape.
// (A: T, B: T) -> (C: T1); T: integers, floats; T1: bool
Tensor Greater(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// Whether A is greater than B or equal, broadcast to one shape.
// (A: T, B: T) -> (C: T1); T: integers, floats; T1: bool
Tensor GreaterOrEqual(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// Whether A is less than B, broadcast to one shape.
// (A: T, B: T) -> (C: T1); T: integers, floats; T1: bool
Tensor Less(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// Whether A is less than B or equal, broadcast to one shape.
// (A: T, B: T) -> (C: T1); T: integers, floats; T1: bool
Tensor LessOrEqual(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// X where the condition is true, else Y; all three are broadcast to one shape.
// (condition: B, X: T, Y: T) -> (output: T); B: bool; T: integers, floats, complex, string, bool
Tensor Where(const Tensor& condition, const Tensor& X, const Tensor& Y, Loc loc = Loc::current());

struct CastAttrs {
  std::string round_mode = "up";
  int64_t saturate = 1;
  std::optional<DType> to = {};  // required
};
// The elements in the type `to`; floats are truncated to integers, strings are parsed, and small
// floats round to the nearest, saturating where `saturate` says so.
// (input: T1) -> (output: T2); T1: integers, floats, 8-bit floats, 2- and 4-bit integers, string,
//   bool, float4e2m1, float8e8m0; T2: integers, floats, 8-bit floats, 2- and 4-bit integers,
//   string, bool, float4e2m1, float8e8m0
Tensor Cast(const Tensor& input, const CastAttrs& attrs, Loc loc = Loc::current());

struct CastLikeAttrs {
  std::string round_mode = "up";
  int64_t saturate = 1;
};
// The elements in the type of the second input, as Cast does it.
// (input: T1, target_type: T2) -> (output: T2); T1: integers, floats, 8-bit floats, 2- and 4-bit
//   integers, string, bool, float4e2m1, float8e8m0; T2: integers, floats, 8-bit floats, 2- and
//   4-bit integers, string, bool, float4e2m1, float8e8m0
Tensor CastLike(const Tensor& input, const Tensor& target_type, const CastLikeAttrs& attrs = {},
    Loc loc = Loc::current());

struct BitCastAttrs {
  std::optional<DType> to = {};  // required
};
// The same bits seen as the type `to`, which must have elements of the same size. Of bools, 0 is
// false and all else true.
// (input: T1) -> (output: T2); T1: integers, floats, complex, 8-bit floats, 2- and 4-bit integers,
//   bool, float4e2m1, float8e8m0; T2: integers, floats, complex, 8-bit floats, 2- and 4-bit
//   integers, bool, float4e2m1, float8e8m0
Tensor BitCast(const Tensor& input, const BitCastAttrs& attrs, Loc loc = Loc::current());

struct QuantizeLinearAttrs {
  int64_t axis = 1;
  int64_t block_size = 0;
  DType output_dtype = DType::kUndefined;
  int64_t precision = 0;
  int64_t saturate = 1;
};
// x / y_scale rounded to the nearest even integer, plus the zero point, limited to the type of the
// output: one scale, one for each index of `axis`, or one for each block.
// (x: T1, y_scale: T2, y_zero_point?: T3) -> (y: T3); T1: float, int32, float16, bfloat16; T2:
//   float, int32, float16, bfloat16, float8e8m0; T3: 8-bit floats, 2- and 4-bit integers, uint8,
//   int8, uint16, int16, float4e2m1
Tensor QuantizeLinear(const Tensor& x, const Tensor& y_scale, const Tensor& y_zero_point = {},
    const QuantizeLinearAttrs& attrs = {}, Loc loc = Loc::current());

struct DequantizeLinearAttrs {
  int64_t axis = 1;
  int64_t block_size = 0;
  DType output_dtype = DType::kUndefined;
};
// (x - x_zero_point) * x_scale: one scale, one for each index of `axis`, or one for each block.
// (x: T1, x_scale: T2, x_zero_point?: T1) -> (y: T3); T1: 8-bit floats, 2- and 4-bit integers,
//   uint8, int8, uint16, int16, int32, float4e2m1; T2: float, float16, bfloat16, float8e8m0; T3:
//   float, float16, bfloat16
Tensor DequantizeLinear(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero_point = {},
    const DequantizeLinearAttrs& attrs = {}, Loc loc = Loc::current());

// x as uint8, with the scale and zero point that its smallest and largest element lead to.
// (x: T1) -> (y: T2, y_scale: float, y_zero_point: T2); T1: float; T2: uint8
std::vector<Tensor> DynamicQuantizeLinear(const Tensor& x, Loc loc = Loc::current());


}  // namespace sardonyx::eager::op
