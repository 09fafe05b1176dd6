// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op/math.h"

#include "eager/op/math_fields.h"
#include "eager/dispatch/op_row.h"

namespace sardonyx::eager::op {

Tensor Add(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("Add");
  return row.call({A, B}, nullptr, loc);
}
Tensor Sub(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("Sub");
  return row.call({A, B}, nullptr, loc);
}
Tensor Mul(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("Mul");
  return row.call({A, B}, nullptr, loc);
}
Tensor Div(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("Div");
  return row.call({A, B}, nullptr, loc);
}
Tensor Mod(const Tensor& A, const Tensor& B, const ModAttrs& attrs, Loc loc) {
  static const OpRow row("Mod", fields_of(attrs));
  return row.call({A, B}, &attrs, loc);
}
Tensor Pow(const Tensor& X, const Tensor& Y, Loc loc) {
  static const OpRow row("Pow");
  return row.call({X, Y}, nullptr, loc);
}
Tensor Neg(const Tensor& X, Loc loc) {
  static const OpRow row("Neg");
  return row.call({X}, nullptr, loc);
}
Tensor Abs(const Tensor& X, Loc loc) {
  static const OpRow row("Abs");
  return row.call({X}, nullptr, loc);
}
Tensor Sign(const Tensor& input, Loc loc) {
  static const OpRow row("Sign");
  return row.call({input}, nullptr, loc);
}
Tensor Reciprocal(const Tensor& X, Loc loc) {
  static const OpRow row("Reciprocal");
  return row.call({X}, nullptr, loc);
}
Tensor Max(const std::vector<Tensor>& data_0, Loc loc) {
  static const OpRow row("Max");
  return row.call(data_0, nullptr, loc);
}
Tensor Min(const std::vector<Tensor>& data_0, Loc loc) {
  static const OpRow row("Min");
  return row.call(data_0, nullptr, loc);
}
Tensor Sum(const std::vector<Tensor>& data_0, Loc loc) {
  static const OpRow row("Sum");
  return row.call(data_0, nullptr, loc);
}
Tensor Mean(const std::vector<Tensor>& data_0, Loc loc) {
  static const OpRow row("Mean");
  return row.call(data_0, nullptr, loc);
}
Tensor BitShift(const Tensor& X, const Tensor& Y, const BitShiftAttrs& attrs, Loc loc) {
  static const OpRow row("BitShift", fields_of(attrs));
  return row.call({X, Y}, &attrs, loc);
}
Tensor BitwiseAnd(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("BitwiseAnd");
  return row.call({A, B}, nullptr, loc);
}
Tensor BitwiseOr(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("BitwiseOr");
  return row.call({A, B}, nullptr, loc);
}
Tensor BitwiseXor(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("BitwiseXor");
  return row.call({A, B}, nullptr, loc);
}
Tensor BitwiseNot(const Tensor& X, Loc loc) {
  static const OpRow row("BitwiseNot");
  return row.call({X}, nullptr, loc);
}
Tensor Sqrt(const Tensor& X, Loc loc) {
  static const OpRow row("Sqrt");
  return row.call({X}, nullptr, loc);
}
Tensor Exp(const Tensor& input, Loc loc) {
  static const OpRow row("Exp");
  return row.call({input}, nullptr, loc);
}
Tensor Log(const Tensor& input, Loc loc) {
  static const OpRow row("Log");
  return row.call({input}, nullptr, loc);
}
Tensor Ceil(const Tensor& X, Loc loc) {
  static const OpRow row("Ceil");
  return row.call({X}, nullptr, loc);
}
Tensor Floor(const Tensor& X, Loc loc) {
  static const OpRow row("Floor");
  return row.call({X}, nullptr, loc);
}
Tensor Round(const Tensor& X, Loc loc) {
  static const OpRow row("Round");
  return row.call({X}, nullptr, loc);
}
Tensor Erf(const Tensor& input, Loc loc) {
  static const OpRow row("Erf");
  return row.call({input}, nullptr, loc);
}
Tensor Sin(const Tensor& input, Loc loc) {
  static const OpRow row("Sin");
  return row.call({input}, nullptr, loc);
}
Tensor Cos(const Tensor& input, Loc loc) {
  static const OpRow row("Cos");
  return row.call({input}, nullptr, loc);
}
Tensor Tan(const Tensor& input, Loc loc) {
  static const OpRow row("Tan");
  return row.call({input}, nullptr, loc);
}
Tensor Asin(const Tensor& input, Loc loc) {
  static const OpRow row("Asin");
  return row.call({input}, nullptr, loc);
}
Tensor Acos(const Tensor& input, Loc loc) {
  static const OpRow row("Acos");
  return row.call({input}, nullptr, loc);
}
Tensor Atan(const Tensor& input, Loc loc) {
  static const OpRow row("Atan");
  return row.call({input}, nullptr, loc);
}
Tensor Sinh(const Tensor& input, Loc loc) {
  static const OpRow row("Sinh");
  return row.call({input}, nullptr, loc);
}
Tensor Cosh(const Tensor& input, Loc loc) {
  static const OpRow row("Cosh");
  return row.call({input}, nullptr, loc);
}
Tensor Tanh(const Tensor& input, Loc loc) {
  static const OpRow row("Tanh");
  return row.call({input}, nullptr, loc);
}
Tensor Asinh(const Tensor& input, Loc loc) {
  static const OpRow row("Asinh");
  return row.call({input}, nullptr, loc);
}
Tensor Acosh(const Tensor& input, Loc loc) {
  static const OpRow row("Acosh");
  return row.call({input}, nullptr, loc);
}
Tensor Atanh(const Tensor& input, Loc loc) {
  static const OpRow row("Atanh");
  return row.call({input}, nullptr, loc);
}
Tensor IsNaN(const Tensor& X, Loc loc) {
  static const OpRow row("IsNaN");
  return row.call({X}, nullptr, loc);
}
Tensor IsInf(const Tensor& X, const IsInfAttrs& attrs, Loc loc) {
  static const OpRow row("IsInf", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Relu(const Tensor& X, Loc loc) {
  static const OpRow row("Relu");
  return row.call({X}, nullptr, loc);
}
Tensor LeakyRelu(const Tensor& X, const LeakyReluAttrs& attrs, Loc loc) {
  static const OpRow row("LeakyRelu", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor PRelu(const Tensor& X, const Tensor& slope, Loc loc) {
  static const OpRow row("PRelu");
  return row.call({X, slope}, nullptr, loc);
}
Tensor Elu(const Tensor& X, const EluAttrs& attrs, Loc loc) {
  static const OpRow row("Elu", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Selu(const Tensor& X, const SeluAttrs& attrs, Loc loc) {
  static const OpRow row("Selu", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Celu(const Tensor& X, const CeluAttrs& attrs, Loc loc) {
  static const OpRow row("Celu", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Sigmoid(const Tensor& X, Loc loc) {
  static const OpRow row("Sigmoid");
  return row.call({X}, nullptr, loc);
}
Tensor HardSigmoid(const Tensor& X, const HardSigmoidAttrs& attrs, Loc loc) {
  static const OpRow row("HardSigmoid", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor HardSwish(const Tensor& X, Loc loc) {
  static const OpRow row("HardSwish");
  return row.call({X}, nullptr, loc);
}
Tensor Mish(const Tensor& X, Loc loc) {
  static const OpRow row("Mish");
  return row.call({X}, nullptr, loc);
}
Tensor Softplus(const Tensor& X, Loc loc) {
  static const OpRow row("Softplus");
  return row.call({X}, nullptr, loc);
}
Tensor Softsign(const Tensor& input, Loc loc) {
  static const OpRow row("Softsign");
  return row.call({input}, nullptr, loc);
}
Tensor ThresholdedRelu(const Tensor& X, const ThresholdedReluAttrs& attrs, Loc loc) {
  static const OpRow row("ThresholdedRelu", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Gelu(const Tensor& X, const GeluAttrs& attrs, Loc loc) {
  static const OpRow row("Gelu", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Swish(const Tensor& X, const SwishAttrs& attrs, Loc loc) {
  static const OpRow row("Swish", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Shrink(const Tensor& input, const ShrinkAttrs& attrs, Loc loc) {
  static const OpRow row("Shrink", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor Clip(const Tensor& input, const Tensor& min, const Tensor& max, Loc loc) {
  static const OpRow row("Clip");
  return row.call({input, min, max}, nullptr, loc);
}
Tensor Dropout(const Tensor& data, const Tensor& ratio, const Tensor& training_mode,
    const DropoutAttrs& attrs, Loc loc) {
  static const OpRow row("Dropout", fields_of(attrs));
  return row.call({data, ratio, training_mode}, &attrs, loc);
}
std::vector<Tensor> DropoutOutputs(size_t outputs, const Tensor& data, const Tensor& ratio,
    const Tensor& training_mode, const DropoutAttrs& attrs, Loc loc) {
  static const OpRow row("Dropout", fields_of(attrs));
  return row.call_many({data, ratio, training_mode}, &attrs, outputs, loc);
}
Tensor And(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("And");
  return row.call({A, B}, nullptr, loc);
}
Tensor Or(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("Or");
  return row.call({A, B}, nullptr, loc);
}
Tensor Xor(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("Xor");
  return row.call({A, B}, nullptr, loc);
}
Tensor Not(const Tensor& X, Loc loc) {
  static const OpRow row("Not");
  return row.call({X}, nullptr, loc);
}
Tensor Equal(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("Equal");
  return row.call({A, B}, nullptr, loc);
}
Tensor Greater(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("Greater");
  return row.call({A, B}, nullptr, loc);
}
Tensor GreaterOrEqual(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("GreaterOrEqual");
  return row.call({A, B}, nullptr, loc);
}
Tensor Less(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("Less");
  return row.call({A, B}, nullptr, loc);
}
Tensor LessOrEqual(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("LessOrEqual");
  return row.call({A, B}, nullptr, loc);
}
Tensor Where(const Tensor& condition, const Tensor& X, const Tensor& Y, Loc loc) {
  static const OpRow row("Where");
  return row.call({condition, X, Y}, nullptr, loc);
}
Tensor Cast(const Tensor& input, const CastAttrs& attrs, Loc loc) {
  static const OpRow row("Cast", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor CastLike(const Tensor& input, const Tensor& target_type, const CastLikeAttrs& attrs,
    Loc loc) {
  static const OpRow row("CastLike", fields_of(attrs));
  return row.call({input, target_type}, &attrs, loc);
}
Tensor BitCast(const Tensor& input, const BitCastAttrs& attrs, Loc loc) {
  static const OpRow row("BitCast", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor QuantizeLinear(const Tensor& x, const Tensor& y_scale, const Tensor& y_zero_point,
    const QuantizeLinearAttrs& attrs, Loc loc) {
  static const OpRow row("QuantizeLinear", fields_of(attrs));
  return row.call({x, y_scale, y_zero_point}, &attrs, loc);
}
Tensor DequantizeLinear(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero_point,
    const DequantizeLinearAttrs& attrs, Loc loc) {
  static const OpRow row("DequantizeLinear", fields_of(attrs));
  return row.call({x, x_scale, x_zero_point}, &attrs, loc);
}
std::vector<Tensor> DynamicQuantizeLinear(const Tensor& x, Loc loc) {
  static const OpRow row("DynamicQuantizeLinear");
  return row.call_many({x}, nullptr, 3, loc);
}

}  // namespace sardonyx::eager::op
