// Functions of single elements.
#include "eager/functional/functional.h"
#include "eager/functional/special.h"
#include "tests/function_exports/table.h"

namespace sardonyx::eager::exports {
namespace {

void add_unary(std::vector<Function>& all) {
  const Tensors x{signed_numbers({2, 3, 4})}, p{positive_numbers({2, 3, 4})};
  const Tensors unit{signed_numbers({2, 3, 4}) * 0.45}, above_one{positive_numbers({3, 4}) + 1};
  const Function of_signed[] = {
      {"abs", x, SARDONYX_OF(abs(in[0]))},
      {"neg", x, SARDONYX_OF(-in[0])},
      {"exp", x, SARDONYX_OF(exp(in[0]))},
      {"exp2", x, SARDONYX_OF(exp2(in[0]))},
      {"expm1", x, SARDONYX_OF(expm1(in[0]))},
      {"square", x, SARDONYX_OF(square(in[0]))},
      {"sin", x, SARDONYX_OF(sin(in[0]))},
      {"cos", x, SARDONYX_OF(cos(in[0]))},
      {"tan", unit, SARDONYX_OF(tan(in[0]))},
      {"asin", unit, SARDONYX_OF(asin(in[0]))},
      {"acos", unit, SARDONYX_OF(acos(in[0]))},
      {"atan", x, SARDONYX_OF(atan(in[0]))},
      {"sinh", x, SARDONYX_OF(sinh(in[0]))},
      {"cosh", x, SARDONYX_OF(cosh(in[0]))},
      {"tanh", x, SARDONYX_OF(tanh(in[0]))},
      {"asinh", x, SARDONYX_OF(asinh(in[0]))},
      {"acosh", above_one, SARDONYX_OF(acosh(in[0]))},
      {"atanh", unit, SARDONYX_OF(atanh(in[0]))},
      {"erf", x, SARDONYX_OF(erf(in[0]))},
      {"erfc", x, SARDONYX_OF(erfc(in[0]))},
      {"lgamma", x, SARDONYX_OF(lgamma(in[0])), {11, "Round"}},
      {"digamma", x, SARDONYX_OF(digamma(in[0])), {11, "Round"}},
      {"erfinv", unit, SARDONYX_OF(erfinv(in[0]))},
      {"floor", x, SARDONYX_OF(floor(in[0]))},
      {"ceil", x, SARDONYX_OF(ceil(in[0]))},
      {"round", x, SARDONYX_OF(round(in[0])), {11, "Round"}},
      {"trunc", x, SARDONYX_OF(trunc(in[0]))},
      {"frac", x, SARDONYX_OF(frac(in[0]))},
      {"sign", x, SARDONYX_OF(sign(in[0]))},
      {"signbit", x, SARDONYX_OF(signbit(in[0]))},
      {"sinc", x, SARDONYX_OF(sinc(in[0]))},
      {"isnan", x, SARDONYX_OF(isnan(in[0]))},
      {"isinf", x, SARDONYX_OF(isinf(in[0]))},
      {"isfinite", x, SARDONYX_OF(isfinite(in[0]))},
      {"isposinf", x, SARDONYX_OF(isposinf(in[0]))},
      {"isneginf", x, SARDONYX_OF(isneginf(in[0]))},
      {"nan_to_num", x, SARDONYX_OF(nan_to_num(in[0]))},
      {"deg2rad", x, SARDONYX_OF(deg2rad(in[0]))},
      {"rad2deg", x, SARDONYX_OF(rad2deg(in[0]))},
      {"clamp", x, SARDONYX_OF(clamp(in[0], -1, 0.5))},
      {"clamp_min", x, SARDONYX_OF(clamp_min(in[0], 0.25))},
      {"clamp_max", x, SARDONYX_OF(clamp_max(in[0], 0.25))},
      {"logical_not", x, SARDONYX_OF(logical_not(in[0]))},
      {"log", p, SARDONYX_OF(log(in[0]))},
      {"log1p", p, SARDONYX_OF(log1p(in[0]))},
      {"log2", p, SARDONYX_OF(log2(in[0]))},
      {"log10", p, SARDONYX_OF(log10(in[0]))},
      {"logit", p, SARDONYX_OF(logit(in[0], 1e-3))},
      {"sqrt", p, SARDONYX_OF(sqrt(in[0]))},
      {"rsqrt", p, SARDONYX_OF(rsqrt(in[0]))},
      {"reciprocal", p, SARDONYX_OF(reciprocal(in[0]))},
      {"to int64", x, SARDONYX_OF(in[0].to(DType::kInt64))},
      {"to bool", x, SARDONYX_OF(in[0].to(DType::kBool))},
      {"to double", x, SARDONYX_OF(in[0].to(DType::kDouble) * 2)},
      {"to float16", x, SARDONYX_OF(in[0].to(DType::kFloat16))},
      {"to bfloat16", x, SARDONYX_OF(in[0].to(DType::kBFloat16).to(DType::kFloat)), {13, "Cast"}},
  };
  all.insert(all.end(), std::begin(of_signed), std::end(of_signed));
}

void add_activations(std::vector<Function>& all) {
  const Tensors x{signed_numbers({2, 3, 4})};
  const Tensors with_slopes{signed_numbers({2, 3, 4}), positive_numbers({3})};
  const Function activations[] = {
      {"relu", x, SARDONYX_OF(relu(in[0]))},
      {"relu6", x, SARDONYX_OF(relu6(in[0]))},
      {"leaky_relu", x, SARDONYX_OF(leaky_relu(in[0], 0.1))},
      {"prelu", with_slopes, SARDONYX_OF(prelu(in[0], in[1]))},
      {"elu", x, SARDONYX_OF(elu(in[0], 0.5))},
      {"selu", x, SARDONYX_OF(selu(in[0]))},
      {"celu", x, SARDONYX_OF(celu(in[0], 0.5)), {12, "Celu"}},
      {"gelu", x, SARDONYX_OF(gelu(in[0]))},
      {"gelu by tanh", x, SARDONYX_OF(gelu(in[0], "tanh"))},
      {"silu", x, SARDONYX_OF(silu(in[0]))},
      {"mish", x, SARDONYX_OF(mish(in[0]))},
      {"sigmoid", x, SARDONYX_OF(sigmoid(in[0]))},
      {"logsigmoid", x, SARDONYX_OF(logsigmoid(in[0]))},
      {"hardsigmoid", x, SARDONYX_OF(hardsigmoid(in[0]))},
      {"hardswish", x, SARDONYX_OF(hardswish(in[0]))},
      {"hardtanh", x, SARDONYX_OF(hardtanh(in[0]))},
      {"softplus", x, SARDONYX_OF(softplus(in[0]))},
      {"softplus of beta", x, SARDONYX_OF(softplus(in[0], 2))},
      {"softsign", x, SARDONYX_OF(softsign(in[0]))},
      {"softshrink", x, SARDONYX_OF(softshrink(in[0]))},
      {"hardshrink", x, SARDONYX_OF(hardshrink(in[0]))},
      {"tanhshrink", x, SARDONYX_OF(tanhshrink(in[0]))},
      {"threshold", x, SARDONYX_OF(threshold(in[0], 0.5, -1))},
      {"softmax", x, SARDONYX_OF(softmax(in[0]))},
      {"softmax of a middle axis", x, SARDONYX_OF(softmax(in[0], 1))},
      {"log_softmax", x, SARDONYX_OF(log_softmax(in[0]))},
      {"log_softmax of a middle axis", x, SARDONYX_OF(log_softmax(in[0], 1))},
      {"softmin", x, SARDONYX_OF(softmin(in[0]))},
      {"glu", x, SARDONYX_OF(glu(in[0]))},
  };
  all.insert(all.end(), std::begin(activations), std::end(activations));
}

void add_binary(std::vector<Function>& all) {
  const Tensor x = signed_numbers({2, 3, 4}), y = signed_numbers({3, 4}, 2);
  const Tensors both{x, y}, same{x, x}, p{positive_numbers({2, 3, 4}), signed_numbers({4})};
  const Tensors three{x, y, positive_numbers({2, 3, 4})};
  const Tensors bools{x > 0, y > 0};
  const Function functions[] = {
      {"add", both, SARDONYX_OF(in[0] + in[1])},
      {"sub", both, SARDONYX_OF(in[0] - in[1])},
      {"mul", both, SARDONYX_OF(in[0] * in[1])},
      {"div", both, SARDONYX_OF(in[0] / in[1])},
      {"pow", p, SARDONYX_OF(pow(in[0], in[1]))},
      {"pow of a number", p, SARDONYX_OF(pow(in[0], 1.7))},
      {"float_power", p, SARDONYX_OF(float_power(in[0], in[1]))},
      {"remainder", both, SARDONYX_OF(remainder(in[0], in[1])), {10, "Mod"}},
      {"fmod", both, SARDONYX_OF(fmod(in[0], in[1])), {10, "Mod"}},
      {"floor_divide", both, SARDONYX_OF(floor_divide(in[0], in[1])), {11, "Round"}},
      {"maximum", both, SARDONYX_OF(maximum(in[0], in[1]))},
      {"minimum", both, SARDONYX_OF(minimum(in[0], in[1]))},
      {"where", three, SARDONYX_OF(where(in[0] > in[1], in[0], in[2]))},
      {"atan2", both, SARDONYX_OF(atan2(in[0], in[1]))},
      {"hypot", both, SARDONYX_OF(hypot(in[0], in[1]))},
      {"logaddexp", both, SARDONYX_OF(logaddexp(in[0], in[1]))},
      {"xlogy", {x, positive_numbers({3, 4})}, SARDONYX_OF(xlogy(in[0], in[1]))},
      {"copysign", both, SARDONYX_OF(copysign(in[0], in[1]))},
      {"heaviside", both, SARDONYX_OF(heaviside(in[0], in[1]))},
      {"lerp", three, SARDONYX_OF(lerp(in[0], in[1], in[2]))},
      {"addcmul", three, SARDONYX_OF(addcmul(in[0], in[1], in[2], 0.5))},
      {"addcdiv", three, SARDONYX_OF(addcdiv(in[0], in[1], in[2], 0.5))},
      {"eq", same, SARDONYX_OF(in[0] == in[1])},
      {"eq of a number", both, SARDONYX_OF(in[0] == 0.0)},
      {"ne", both, SARDONYX_OF(in[0] != in[1])},
      {"lt", both, SARDONYX_OF(in[0] < in[1])},
      {"le", both, SARDONYX_OF(in[0] <= in[1])},
      {"gt", both, SARDONYX_OF(in[0] > in[1])},
      {"ge", both, SARDONYX_OF(in[0] >= in[1])},
      {"isclose", both, SARDONYX_OF(isclose(in[0], in[1]))},
      {"logical_and", bools, SARDONYX_OF(in[0] && in[1])},
      {"logical_or", bools, SARDONYX_OF(in[0] || in[1])},
      {"logical_xor", bools, SARDONYX_OF(logical_xor(in[0], in[1]))},
      {"not", bools, SARDONYX_OF(!in[0])},
      {"and of bools", bools, SARDONYX_OF(in[0] & in[1])},
      {"eq of bools", bools, SARDONYX_OF(in[0] == in[1])},
      {"where of bools", bools, SARDONYX_OF(where(in[0], in[1], in[0])), {.may_lack_kernel = true}},
      {"sum of bools", bools, SARDONYX_OF(in[0] + in[1])},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

// Integers and float64, which older opsets have for fewer ops.
void add_types(std::vector<Function>& all) {
  const Tensors i{integers(-5, 6, {2, 3}), integers(1, 4, {3}, 2)};
  const Tensors d{signed_numbers({2, 3}).to(DType::kDouble),
                  positive_numbers({3}, 2).to(DType::kDouble)};
  const Function functions[] = {
      {"add of integers", i, SARDONYX_OF(in[0] + in[1])},
      {"div of integers", i, SARDONYX_OF(in[0] / in[1])},
      {"pow of integers", i, SARDONYX_OF(pow(in[0], in[1])), {12, "Pow"}},
      {"remainder of integers", i, SARDONYX_OF(remainder(in[0], in[1])), {10, "Mod"}},
      {"fmod of integers", i, SARDONYX_OF(fmod(in[0], in[1])), {10, "Mod"}},
      {"floor_divide of integers", i, SARDONYX_OF(floor_divide(in[0], in[1])), {10, "Mod"}},
      {"gcd", i, SARDONYX_OF(gcd(in[0], in[1])), {10, "Mod"}},
      {"lcm", i, SARDONYX_OF(lcm(in[0], in[1])), {10, "Mod"}},
      {"maximum of integers", i, SARDONYX_OF(maximum(in[0], in[1]))},
      {"minimum of integers", i, SARDONYX_OF(minimum(in[0], in[1]))},
      {"clamp of integers", i, SARDONYX_OF(clamp(in[0], -2, 3))},
      {"abs of integers", i, SARDONYX_OF(abs(in[0]))},
      {"neg of integers", i, SARDONYX_OF(-in[0])},
      {"sign of integers", i, SARDONYX_OF(sign(in[0]))},
      {"relu of integers",
       i,
       SARDONYX_OF(relu(in[0])),
       {.since = 14, .lacking = "Relu", .may_lack_kernel = true}},
      {"eq of integers", i, SARDONYX_OF(in[0] == in[1])},
      {"lt of integers", i, SARDONYX_OF(in[0] < in[1])},
      {"le of integers", i, SARDONYX_OF(in[0] <= in[1])},
      {"where of integers", i, SARDONYX_OF(where(in[0] > 0, in[0], in[1]))},
      {"bitwise_and", i, SARDONYX_OF(in[0] & in[1]), {18, "BitwiseAnd"}},
      {"bitwise_or", i, SARDONYX_OF(in[0] | in[1]), {18, "BitwiseOr"}},
      {"bitwise_xor", i, SARDONYX_OF(in[0] ^ in[1]), {18, "BitwiseXor"}},
      {"bitwise_not", i, SARDONYX_OF(~in[0]), {18, "BitwiseNot"}},
      {"cumsum of integers", i, SARDONYX_OF(cumsum(in[0], 0)), {11, "CumSum"}},
      {"sum of integers", i, SARDONYX_OF(in[0].sum({1}))},
      {"amax of integers", i, SARDONYX_OF(in[0].amax({1}))},
      {"softmax of float64", d, SARDONYX_OF(softmax(in[0]))},
      {"exp of float64", d, SARDONYX_OF(exp(in[0]))},
      {"div of float64", d, SARDONYX_OF(in[0] / in[1])},
      {"pow of float64", d, SARDONYX_OF(pow(in[1], in[0]))},
      {"maximum of float64", d, SARDONYX_OF(maximum(in[0], in[1]))},
      {"clamp of float64", d, SARDONYX_OF(clamp(in[0], -0.5, 0.5)), {.may_lack_kernel = true}},
      {"eq of float64", d, SARDONYX_OF(in[0] == in[1])},
      {"mean of float64", d, SARDONYX_OF(in[0].mean({1}))},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

}  // namespace

std::vector<Function> elementwise_functions() {
  std::vector<Function> all;
  add_unary(all);
  add_activations(all);
  add_binary(all);
  add_types(all);
  return all;
}

}  // namespace sardonyx::eager::exports
