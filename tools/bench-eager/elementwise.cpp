#include "eager/functional/functional.h"
#include "tools/bench-eager/cases.h"

namespace sardonyx::bench_eager {

std::vector<Case> elementwise_cases() {
  const CaseInput a{{256, 1024}}, row{{1024}}, column{{256, 1}};
  const CaseInput mask{{256, 1024}, 2}, integers{{256, 1024}, 1'000'000'000};
  return {
      {"add", {a, a}, SARDONYX_BOTH(in[0] + in[1])},
      {"add of a row", {a, row}, SARDONYX_BOTH(in[0] + in[1])},
      {"mul by a column", {a, column}, SARDONYX_BOTH(in[0] * in[1])},
      {"mul", {a, a}, SARDONYX_BOTH(in[0] * in[1])},
      {"mul by a number", {a}, SARDONYX_BOTH(in[0] * 0.5)},
      {"div", {a, a}, SARDONYX_BOTH(in[0] / in[1])},
      {"pow 2", {a}, SARDONYX_BOTH(pow(in[0], 2.0))},
      {"pow 1.7", {a}, SARDONYX_BOTH(pow(abs(in[0]), 1.7))},
      {"sqrt", {a}, SARDONYX_BOTH(sqrt(abs(in[0])))},
      {"rsqrt", {a}, SARDONYX_BOTH(rsqrt(abs(in[0])))},
      {"exp", {a}, SARDONYX_BOTH(exp(in[0]))},
      {"log", {a}, SARDONYX_BOTH(log(abs(in[0])))},
      {"log1p", {a}, SARDONYX_BOTH(log1p(abs(in[0])))},
      {"expm1", {a}, SARDONYX_BOTH(expm1(in[0]))},
      {"sin", {a}, SARDONYX_BOTH(sin(in[0]))},
      {"cos", {a}, SARDONYX_BOTH(cos(in[0]))},
      {"tanh", {a}, SARDONYX_BOTH(tanh(in[0]))},
      {"erf", {a}, SARDONYX_BOTH(erf(in[0]))},
      {"abs", {a}, SARDONYX_BOTH(abs(in[0]))},
      {"neg", {a}, SARDONYX_BOTH(-in[0])},
      {"floor", {a}, SARDONYX_BOTH(floor(in[0])), false},
      {"sign", {a}, SARDONYX_BOTH(sign(in[0])), false},
      {"atan2", {a, a}, SARDONYX_BOTH(atan2(in[0], in[1]))},
      {"maximum", {a, a}, SARDONYX_BOTH(maximum(in[0], in[1]))},
      {"gcd", {integers, integers}, SARDONYX_BOTH(gcd(in[0], in[1])), false},
      {"clamp", {a}, SARDONYX_BOTH(clamp(in[0], -0.5, 0.5))},
      {"where", {a, a, mask}, SARDONYX_BOTH(where(in[2] == 1, in[0], in[1]))},
      {"comparison", {a, a}, SARDONYX_BOTH(in[0] < in[1]), false},
      {"lerp", {a, a}, SARDONYX_BOTH(lerp(in[0], in[1], 0.25))},
      {"addcmul", {a, a, a}, SARDONYX_BOTH(addcmul(in[0], in[1], in[2], 0.5))},
      {"masked_fill", {a, mask}, SARDONYX_BOTH(masked_fill(in[0], in[1] == 1, 0.0))},
      {"to double",
       {a},
       SARDONYX_OURS(in[0].to(DType::kDouble)),
       SARDONYX_THEIRS(in[0].to(at::kDouble))},
      {"relu", {a}, SARDONYX_BOTH(relu(in[0]))},
      {"leaky_relu", {a}, SARDONYX_BOTH(leaky_relu(in[0], 0.1))},
      {"elu", {a}, SARDONYX_BOTH(elu(in[0]))},
      {"selu", {a}, SARDONYX_BOTH(selu(in[0]))},
      {"gelu", {a}, SARDONYX_BOTH(gelu(in[0]))},
      {"gelu tanh", {a}, SARDONYX_BOTH(gelu(in[0], "tanh"))},
      {"silu", {a}, SARDONYX_BOTH(silu(in[0]))},
      {"sigmoid", {a}, SARDONYX_BOTH(sigmoid(in[0]))},
      {"softplus", {a}, SARDONYX_BOTH(softplus(in[0]))},
      {"hardswish", {a}, SARDONYX_BOTH(hardswish(in[0]))},
      {"hardsigmoid", {a}, SARDONYX_BOTH(hardsigmoid(in[0]))},
      {"mish", {a}, SARDONYX_BOTH(mish(in[0]))},
  };
}

}  // namespace sardonyx::bench_eager
