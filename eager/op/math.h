// Elementwise ops: arithmetic, functions, activations, logic and types.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

// (A: T, B: T) -> (C: T)
Tensor Add(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T)
Tensor Sub(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T)
Tensor Mul(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T)
Tensor Div(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

struct ModAttrs {
  int64_t fmod = 0;
};
// (A: T, B: T) -> (C: T)
Tensor Mod(const Tensor& A, const Tensor& B, const ModAttrs& attrs = {}, Loc loc = Loc::current());

// (X: T, Y: T1) -> (Z: T)
Tensor Pow(const Tensor& X, const Tensor& Y, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Neg(const Tensor& X, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Abs(const Tensor& X, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Sign(const Tensor& input, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Reciprocal(const Tensor& X, Loc loc = Loc::current());

// (data_0...: T) -> (max: T)
Tensor Max(const std::vector<Tensor>& data_0, Loc loc = Loc::current());

// (data_0...: T) -> (min: T)
Tensor Min(const std::vector<Tensor>& data_0, Loc loc = Loc::current());

// (data_0...: T) -> (sum: T)
Tensor Sum(const std::vector<Tensor>& data_0, Loc loc = Loc::current());

// (data_0...: T) -> (mean: T)
Tensor Mean(const std::vector<Tensor>& data_0, Loc loc = Loc::current());

struct BitShiftAttrs {
  std::optional<std::string> direction = {};  // required
};
// (X: T, Y: T) -> (Z: T)
Tensor BitShift(const Tensor& X, const Tensor& Y, const BitShiftAttrs& attrs,
    Loc loc = Loc::current());

// (A: T, B: T) -> (C: T)
Tensor BitwiseAnd(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T)
Tensor BitwiseOr(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T)
Tensor BitwiseXor(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor BitwiseNot(const Tensor& X, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Sqrt(const Tensor& X, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Exp(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Log(const Tensor& input, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Ceil(const Tensor& X, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Floor(const Tensor& X, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Round(const Tensor& X, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Erf(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Sin(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Cos(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Tan(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Asin(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Acos(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Atan(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Sinh(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Cosh(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Tanh(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Asinh(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Acosh(const Tensor& input, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Atanh(const Tensor& input, Loc loc = Loc::current());

// (X: T1) -> (Y: T2)
Tensor IsNaN(const Tensor& X, Loc loc = Loc::current());

struct IsInfAttrs {
  int64_t detect_negative = 1;
  int64_t detect_positive = 1;
};
// (X: T1) -> (Y: T2)
Tensor IsInf(const Tensor& X, const IsInfAttrs& attrs = {}, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Relu(const Tensor& X, Loc loc = Loc::current());

struct LeakyReluAttrs {
  float alpha = 0.01f;
};
// (X: T) -> (Y: T)
Tensor LeakyRelu(const Tensor& X, const LeakyReluAttrs& attrs = {}, Loc loc = Loc::current());

// (X: T, slope: T) -> (Y: T)
Tensor PRelu(const Tensor& X, const Tensor& slope, Loc loc = Loc::current());

struct EluAttrs {
  float alpha = 1.f;
};
// (X: T) -> (Y: T)
Tensor Elu(const Tensor& X, const EluAttrs& attrs = {}, Loc loc = Loc::current());

struct SeluAttrs {
  float alpha = 1.6732632f;
  float gamma = 1.050701f;
};
// (X: T) -> (Y: T)
Tensor Selu(const Tensor& X, const SeluAttrs& attrs = {}, Loc loc = Loc::current());

struct CeluAttrs {
  float alpha = 1.f;
};
// (X: T) -> (Y: T)
Tensor Celu(const Tensor& X, const CeluAttrs& attrs = {}, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Sigmoid(const Tensor& X, Loc loc = Loc::current());

struct HardSigmoidAttrs {
  float alpha = 0.2f;
  float beta = 0.5f;
};
// (X: T) -> (Y: T)
Tensor HardSigmoid(const Tensor& X, const HardSigmoidAttrs& attrs = {}, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor HardSwish(const Tensor& X, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Mish(const Tensor& X, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Softplus(const Tensor& X, Loc loc = Loc::current());

// (input: T) -> (output: T)
Tensor Softsign(const Tensor& input, Loc loc = Loc::current());

struct ThresholdedReluAttrs {
  float alpha = 1.f;
};
// (X: T) -> (Y: T)
Tensor ThresholdedRelu(const Tensor& X, const ThresholdedReluAttrs& attrs = {},
    Loc loc = Loc::current());

struct GeluAttrs {
  std::string approximate = "none";
};
// (X: T) -> (Y: T)
Tensor Gelu(const Tensor& X, const GeluAttrs& attrs = {}, Loc loc = Loc::current());

struct SwishAttrs {
  float alpha = 1.f;
};
// (X: T) -> (Y: T)
Tensor Swish(const Tensor& X, const SwishAttrs& attrs = {}, Loc loc = Loc::current());

struct ShrinkAttrs {
  float bias = 0.f;
  float lambd = 0.5f;
};
// (input: T) -> (output: T)
Tensor Shrink(const Tensor& input, const ShrinkAttrs& attrs = {}, Loc loc = Loc::current());

// (input: T, min?: T, max?: T) -> (output: T)
Tensor Clip(const Tensor& input, const Tensor& min = {}, const Tensor& max = {},
    Loc loc = Loc::current());

struct DropoutAttrs {
  std::optional<int64_t> seed = {};
};
// (data: T, ratio?: T1, training_mode?: T2) -> (output: T, mask?: T2)
Tensor Dropout(const Tensor& data, const Tensor& ratio = {}, const Tensor& training_mode = {},
    const DropoutAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> DropoutOutputs(size_t outputs, const Tensor& data, const Tensor& ratio = {},
    const Tensor& training_mode = {}, const DropoutAttrs& attrs = {}, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T1)
Tensor And(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T1)
Tensor Or(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T1)
Tensor Xor(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Not(const Tensor& X, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T1)
Tensor Equal(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T1)
Tensor Greater(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T1)
Tensor GreaterOrEqual(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T1)
Tensor Less(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T1)
Tensor LessOrEqual(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (condition: B, X: T, Y: T) -> (output: T)
Tensor Where(const Tensor& condition, const Tensor& X, const Tensor& Y, Loc loc = Loc::current());

struct CastAttrs {
  std::string round_mode = "up";
  int64_t saturate = 1;
  std::optional<DType> to = {};  // required
};
// (input: T1) -> (output: T2)
Tensor Cast(const Tensor& input, const CastAttrs& attrs, Loc loc = Loc::current());

struct CastLikeAttrs {
  std::string round_mode = "up";
  int64_t saturate = 1;
};
// (input: T1, target_type: T2) -> (output: T2)
Tensor CastLike(const Tensor& input, const Tensor& target_type, const CastLikeAttrs& attrs = {},
    Loc loc = Loc::current());

struct BitCastAttrs {
  std::optional<DType> to = {};  // required
};
// (input: T1) -> (output: T2)
Tensor BitCast(const Tensor& input, const BitCastAttrs& attrs, Loc loc = Loc::current());

struct QuantizeLinearAttrs {
  int64_t axis = 1;
  int64_t block_size = 0;
  DType output_dtype = DType::kUndefined;
  int64_t precision = 0;
  int64_t saturate = 1;
};
// (x: T1, y_scale: T2, y_zero_point?: T3) -> (y: T3)
Tensor QuantizeLinear(const Tensor& x, const Tensor& y_scale, const Tensor& y_zero_point = {},
    const QuantizeLinearAttrs& attrs = {}, Loc loc = Loc::current());

struct DequantizeLinearAttrs {
  int64_t axis = 1;
  int64_t block_size = 0;
  DType output_dtype = DType::kUndefined;
};
// (x: T1, x_scale: T2, x_zero_point?: T1) -> (y: T3)
Tensor DequantizeLinear(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero_point = {},
    const DequantizeLinearAttrs& attrs = {}, Loc loc = Loc::current());

// (x: T1) -> (y: T2, y_scale: float, y_zero_point: T2)
std::vector<Tensor> DynamicQuantizeLinear(const Tensor& x, Loc loc = Loc::current());


}  // namespace sardonyx::eager::op
