// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op_calls_for_test.h"
#include "eager/op/math_fields.h"

namespace sardonyx::eager::op {

namespace {

const NamedCall kMathCalls[] = {
    {"Add",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Add(at(in, 0), at(in, 1))};
     }},
    {"Sub",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Sub(at(in, 0), at(in, 1))};
     }},
    {"Mul",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Mul(at(in, 0), at(in, 1))};
     }},
    {"Div",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Div(at(in, 0), at(in, 1))};
     }},
    {"Mod",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Mod(at(in, 0), at(in, 1), read<ModAttrs>(attrs))};
     }},
    {"Pow",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Pow(at(in, 0), at(in, 1))};
     }},
    {"Neg",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Neg(at(in, 0))};
     }},
    {"Abs",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Abs(at(in, 0))};
     }},
    {"Sign",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Sign(at(in, 0))};
     }},
    {"Reciprocal",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Reciprocal(at(in, 0))};
     }},
    {"Max",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Max(rest(in, 0))};
     }},
    {"Min",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Min(rest(in, 0))};
     }},
    {"Sum",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Sum(rest(in, 0))};
     }},
    {"Mean",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Mean(rest(in, 0))};
     }},
    {"BitShift",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BitShift(at(in, 0), at(in, 1), read<BitShiftAttrs>(attrs))};
     }},
    {"BitwiseAnd",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BitwiseAnd(at(in, 0), at(in, 1))};
     }},
    {"BitwiseOr",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BitwiseOr(at(in, 0), at(in, 1))};
     }},
    {"BitwiseXor",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BitwiseXor(at(in, 0), at(in, 1))};
     }},
    {"BitwiseNot",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BitwiseNot(at(in, 0))};
     }},
    {"Sqrt",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Sqrt(at(in, 0))};
     }},
    {"Exp",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Exp(at(in, 0))};
     }},
    {"Log",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Log(at(in, 0))};
     }},
    {"Ceil",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Ceil(at(in, 0))};
     }},
    {"Floor",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Floor(at(in, 0))};
     }},
    {"Round",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Round(at(in, 0))};
     }},
    {"Erf",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Erf(at(in, 0))};
     }},
    {"Sin",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Sin(at(in, 0))};
     }},
    {"Cos",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Cos(at(in, 0))};
     }},
    {"Tan",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Tan(at(in, 0))};
     }},
    {"Asin",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Asin(at(in, 0))};
     }},
    {"Acos",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Acos(at(in, 0))};
     }},
    {"Atan",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Atan(at(in, 0))};
     }},
    {"Sinh",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Sinh(at(in, 0))};
     }},
    {"Cosh",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Cosh(at(in, 0))};
     }},
    {"Tanh",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Tanh(at(in, 0))};
     }},
    {"Asinh",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Asinh(at(in, 0))};
     }},
    {"Acosh",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Acosh(at(in, 0))};
     }},
    {"Atanh",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Atanh(at(in, 0))};
     }},
    {"IsNaN",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{IsNaN(at(in, 0))};
     }},
    {"IsInf",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{IsInf(at(in, 0), read<IsInfAttrs>(attrs))};
     }},
    {"Relu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Relu(at(in, 0))};
     }},
    {"LeakyRelu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{LeakyRelu(at(in, 0), read<LeakyReluAttrs>(attrs))};
     }},
    {"PRelu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{PRelu(at(in, 0), at(in, 1))};
     }},
    {"Elu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Elu(at(in, 0), read<EluAttrs>(attrs))};
     }},
    {"Selu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Selu(at(in, 0), read<SeluAttrs>(attrs))};
     }},
    {"Celu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Celu(at(in, 0), read<CeluAttrs>(attrs))};
     }},
    {"Sigmoid",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Sigmoid(at(in, 0))};
     }},
    {"HardSigmoid",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{HardSigmoid(at(in, 0), read<HardSigmoidAttrs>(attrs))};
     }},
    {"HardSwish",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{HardSwish(at(in, 0))};
     }},
    {"Mish",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Mish(at(in, 0))};
     }},
    {"Softplus",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Softplus(at(in, 0))};
     }},
    {"Softsign",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Softsign(at(in, 0))};
     }},
    {"ThresholdedRelu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ThresholdedRelu(at(in, 0), read<ThresholdedReluAttrs>(attrs))};
     }},
    {"Gelu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Gelu(at(in, 0), read<GeluAttrs>(attrs))};
     }},
    {"Swish",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Swish(at(in, 0), read<SwishAttrs>(attrs))};
     }},
    {"Shrink",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Shrink(at(in, 0), read<ShrinkAttrs>(attrs))};
     }},
    {"Clip",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Clip(at(in, 0), at(in, 1), at(in, 2))};
     }},
    {"Dropout",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{Dropout(at(in, 0), at(in, 1), at(in, 2),
           read<DropoutAttrs>(attrs))};
       return DropoutOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), read<DropoutAttrs>(attrs));
     }},
    {"And",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{And(at(in, 0), at(in, 1))};
     }},
    {"Or",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Or(at(in, 0), at(in, 1))};
     }},
    {"Xor",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Xor(at(in, 0), at(in, 1))};
     }},
    {"Not",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Not(at(in, 0))};
     }},
    {"Equal",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Equal(at(in, 0), at(in, 1))};
     }},
    {"Greater",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Greater(at(in, 0), at(in, 1))};
     }},
    {"GreaterOrEqual",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GreaterOrEqual(at(in, 0), at(in, 1))};
     }},
    {"Less",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Less(at(in, 0), at(in, 1))};
     }},
    {"LessOrEqual",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{LessOrEqual(at(in, 0), at(in, 1))};
     }},
    {"Where",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Where(at(in, 0), at(in, 1), at(in, 2))};
     }},
    {"Cast",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Cast(at(in, 0), read<CastAttrs>(attrs))};
     }},
    {"CastLike",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{CastLike(at(in, 0), at(in, 1), read<CastLikeAttrs>(attrs))};
     }},
    {"BitCast",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BitCast(at(in, 0), read<BitCastAttrs>(attrs))};
     }},
    {"QuantizeLinear",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QuantizeLinear(at(in, 0), at(in, 1), at(in, 2),
           read<QuantizeLinearAttrs>(attrs))};
     }},
    {"DequantizeLinear",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{DequantizeLinear(at(in, 0), at(in, 1), at(in, 2),
           read<DequantizeLinearAttrs>(attrs))};
     }},
    {"DynamicQuantizeLinear",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return DynamicQuantizeLinear(at(in, 0));
     }},
};

}  // namespace

std::vector<std::span<const NamedCall>> math_calls() {
  return {kMathCalls};
}

}  // namespace sardonyx::eager::op
