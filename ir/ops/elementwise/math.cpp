#include <cmath>
#include <numbers>

#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/elementwise.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

using Reference = void (*)(const KernelCall&);
using Samples = std::vector<Sample> (*)();
using Gradient = Vals (*)(Emitter&, const GradCall&);

// A function of one floating number; spec names its parameters input and output, or X and Y.
OpDef function(std::string_view name, int since, Reference reference, Gradient grad,
               Samples samples, std::string_view signature = "(input: T) -> (output: T)") {
  return {.name = name,
          .since = since,
          .signature = signature,
          .types = {{"T", kFloats}},
          .infer = same_as_first,
          .reference = reference,
          .grad = grad,
          .facts = kElementwise,
          .samples = samples};
}

constexpr std::string_view kXToY = "(X: T) -> (Y: T)";

std::vector<Sample> any_number() {
  return unary_float_samples(-4, 4);
}
std::vector<Sample> positive_number() {
  return unary_float_samples(0.1, 4);
}
std::vector<Sample> above_one() {
  return unary_float_samples(1.1, 4);
}
std::vector<Sample> within_one() {
  return unary_float_samples(-0.9, 0.9);
}

// Halves and their neighbours, where rounding to even shows.
std::vector<Sample> halves() {
  std::vector<Sample> samples = any_number();
  samples.push_back(
      {.inputs = {{.value = Tensor::vector<float>({-2.5f, -1.5f, -0.5f, 0.5f, 0.49999997f, 1.5f,
                                                   2.5f, 8388607.5f, 16777217.0f})}},
       .only = DType::kFloat});
  return samples;
}

struct IsInfAttrs {
  int64_t detect_negative = 1;
  int64_t detect_positive = 1;
  static auto fields() {
    return std::tuple{field("detect_negative", &IsInfAttrs::detect_negative),
                      field("detect_positive", &IsInfAttrs::detect_positive)};
  }
};

void is_inf(const KernelCall& call) {
  const auto& attrs = call.attrs<IsInfAttrs>();
  const bool negative = attrs.detect_negative != 0;
  const bool positive = attrs.detect_positive != 0;
  map_floats(call, [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

std::vector<Sample> is_inf_samples() {
  std::vector<Sample> samples = unary_float_samples();
  for (const auto& [negative, positive] : {std::pair{0, 1}, {1, 0}, {0, 0}}) {
    samples = joined(
        samples, with_attributes(unary_float_samples(), {{"detect_negative", int64_t{negative}},
                                                         {"detect_positive", int64_t{positive}}}));
  }
  return samples;
}

}  // namespace

std::span<const OpDef> math_ops() {
  static const OpDef rows[] = {
      function("Sqrt", 13, floats<[](auto x) { return std::sqrt(x); }>,
               unary_gradient<[](Term d, Term, Term y) { return d * 0.5 / y; }>, positive_number,
               kXToY)
          .documented("The square root of each element; NaN where it is negative.")
          .with(kFusable | kFloat32Kernels),
      function("Exp", 13, floats<[](auto x) { return std::exp(x); }>,
               unary_gradient<[](Term d, Term, Term y) { return d * y; }>, any_number)
          .documented("e to the power of each element.")
          .with(kFloat32InMixed | kFusable | kFloat32Kernels),
      function("Log", 13, floats<[](auto x) { return std::log(x); }>,
               unary_gradient<[](Term d, Term x, Term) { return d / x; }>, positive_number)
          .documented("The natural logarithm of each element; NaN where it is negative.")
          .with(kFloat32InMixed | kFusable | kFloat32Kernels),
      function("Ceil", 13, floats<[](auto x) { return std::ceil(x); }>, zero_gradient, halves,
               kXToY)
          .documented("Each element rounded up to an integer.")
          .with(kFusable),
      function("Floor", 13, floats<[](auto x) { return std::floor(x); }>, zero_gradient, halves,
               kXToY)
          .documented("Each element rounded down to an integer.")
          .with(kFusable),
      function("Round", 22, floats<[](auto x) { return std::nearbyint(x); }>, zero_gradient, halves,
               kXToY)
          .documented("Each element rounded to the nearest integer, halves to the even one.")
          .with(kFusable),
      function("Erf", 13, floats<[](auto x) { return std::erf(x); }>,
               unary_gradient<[](Term d, Term x, Term) {
                 return d * (2 * std::numbers::inv_sqrtpi * apply("Exp", -square(x)));
               }>,
               any_number)
          .documented("The error function of each element.")
          .with(kFusable | kFloat32Kernels),
      function("Sin", 22, floats<[](auto x) { return std::sin(x); }>,
               unary_gradient<[](Term d, Term x, Term) { return d * apply("Cos", x); }>, any_number)
          .documented("The sine of each element, in radians.")
          .with(kFusable | kFloat32Kernels),
      function("Cos", 22, floats<[](auto x) { return std::cos(x); }>,
               unary_gradient<[](Term d, Term x, Term) { return -(d * apply("Sin", x)); }>,
               any_number)
          .documented("The cosine of each element, in radians.")
          .with(kFusable | kFloat32Kernels),
      function("Tan", 22, floats<[](auto x) { return std::tan(x); }>,
               unary_gradient<[](Term d, Term, Term y) { return d * (square(y) + 1); }>, within_one)
          .documented("The tangent of each element, in radians.")
          .with(kFloat32InMixed),
      function(
          "Asin", 22, floats<[](auto x) { return std::asin(x); }>,
          unary_gradient<[](Term d, Term x, Term) { return d / apply("Sqrt", (1 - x) * (1 + x)); }>,
          within_one)
          .documented("The arc sine of each element, in radians; NaN outside of [-1, 1].")
          .with(kFloat32InMixed),
      function("Acos", 22, floats<[](auto x) { return std::acos(x); }>,
               unary_gradient<[](Term d, Term x, Term) {
                 return -(d / apply("Sqrt", (1 - x) * (1 + x)));
               }>,
               within_one)
          .documented("The arc cosine of each element, in radians; NaN outside of [-1, 1].")
          .with(kFloat32InMixed),
      function("Atan", 22, floats<[](auto x) { return std::atan(x); }>,
               unary_gradient<[](Term d, Term x, Term) { return d / (square(x) + 1); }>, any_number)
          .documented("The arc tangent of each element, in radians."),
      function("Sinh", 22, floats<[](auto x) { return std::sinh(x); }>,
               unary_gradient<[](Term d, Term x, Term) { return d * apply("Cosh", x); }>,
               any_number)
          .documented("The hyperbolic sine of each element.")
          .with(kFloat32InMixed),
      function("Cosh", 22, floats<[](auto x) { return std::cosh(x); }>,
               unary_gradient<[](Term d, Term x, Term) { return d * apply("Sinh", x); }>,
               any_number)
          .documented("The hyperbolic cosine of each element.")
          .with(kFloat32InMixed),
      function("Tanh", 13, floats<[](auto x) { return std::tanh(x); }>,
               unary_gradient<[](Term d, Term, Term y) { return d * (1 - square(y)); }>, any_number)
          .documented("The hyperbolic tangent of each element.")
          .with(kFusable | kActivation | kBFloat16Between | kFloat32Kernels),
      function(
          "Asinh", 22, floats<[](auto x) { return std::asinh(x); }>,
          unary_gradient<[](Term d, Term x, Term) { return d / apply("Sqrt", square(x) + 1); }>,
          any_number)
          .documented("The inverse of the hyperbolic sine of each element."),
      function(
          "Acosh", 22, floats<[](auto x) { return std::acosh(x); }>,
          unary_gradient<[](Term d, Term x, Term) { return d / apply("Sqrt", (x - 1) * (x + 1)); }>,
          above_one)
          .documented("The inverse of the hyperbolic cosine of each element; NaN below 1.")
          .with(kFloat32InMixed),
      function("Atanh", 22, floats<[](auto x) { return std::atanh(x); }>,
               unary_gradient<[](Term d, Term x, Term) { return d / ((1 - x) * (1 + x)); }>,
               within_one)
          .documented(
              "The inverse of the hyperbolic tangent of each element; NaN outside of [-1, 1].")
          .with(kFloat32InMixed),
      {.name = "IsNaN",
       .doc = "Which elements are not a number.",
       .since = 20,
       .signature = "(X: T1) -> (Y: T2)",
       .types = {{"T1", kFloats | kFloat8s}, {"T2", DType::kBool}},
       .infer = [](InferContext& c) { c.set(0, DType::kBool, shape_of(c, 0)); },
       .reference = floats<[](auto x) { return std::isnan(x); }>,
       .facts = kElementwise,
       .samples = any_number},
      {.name = "IsInf",
       .doc = "Which elements are infinite; the attributes leave one sign out.",
       .since = 20,
       .signature = "(X: T1) -> (Y: T2)",
       .types = {{"T1", kFloats | kFloat8s}, {"T2", DType::kBool}},
       .attrs = attr_schema<IsInfAttrs>(),
       .infer = [](InferContext& c) { c.set(0, DType::kBool, shape_of(c, 0)); },
       .reference = is_inf,
       .facts = kElementwise,
       .samples = is_inf_samples},
  };
  return rows;
}

}  // namespace sardonyx::ops
