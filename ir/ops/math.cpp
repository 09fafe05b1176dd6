#include <cmath>

#include "ir/ops/elementwise.h"
#include "ir/ops/infer.h"
#include "ir/ops/samples.h"
#include "ir/ops/tables.h"

namespace sardonyx::ops {
namespace {

using Reference = void (*)(const KernelCall&);
using Samples = std::vector<Sample> (*)();

// A function of one floating number; spec names its parameters input and output, or X and Y.
OpDef function(std::string_view name, int since, Reference reference, Samples samples,
               std::string_view signature = "(input: T) -> (output: T)") {
  return {.name = name,
          .since = since,
          .signature = signature,
          .types = {{"T", kFloats}},
          .infer = same_as_first,
          .reference = reference,
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
      function("Sqrt", 13, floats<[](auto x) { return std::sqrt(x); }>, positive_number, kXToY),
      function("Exp", 13, floats<[](auto x) { return std::exp(x); }>, any_number),
      function("Log", 13, floats<[](auto x) { return std::log(x); }>, positive_number),
      function("Ceil", 13, floats<[](auto x) { return std::ceil(x); }>, halves, kXToY),
      function("Floor", 13, floats<[](auto x) { return std::floor(x); }>, halves, kXToY),
      function("Round", 22, floats<[](auto x) { return std::nearbyint(x); }>, halves, kXToY),
      function("Erf", 13, floats<[](auto x) { return std::erf(x); }>, any_number),
      function("Sin", 22, floats<[](auto x) { return std::sin(x); }>, any_number),
      function("Cos", 22, floats<[](auto x) { return std::cos(x); }>, any_number),
      function("Tan", 22, floats<[](auto x) { return std::tan(x); }>, within_one),
      function("Asin", 22, floats<[](auto x) { return std::asin(x); }>, within_one),
      function("Acos", 22, floats<[](auto x) { return std::acos(x); }>, within_one),
      function("Atan", 22, floats<[](auto x) { return std::atan(x); }>, any_number),
      function("Sinh", 22, floats<[](auto x) { return std::sinh(x); }>, any_number),
      function("Cosh", 22, floats<[](auto x) { return std::cosh(x); }>, any_number),
      function("Tanh", 13, floats<[](auto x) { return std::tanh(x); }>, any_number),
      function("Asinh", 22, floats<[](auto x) { return std::asinh(x); }>, any_number),
      function("Acosh", 22, floats<[](auto x) { return std::acosh(x); }>, above_one),
      function("Atanh", 22, floats<[](auto x) { return std::atanh(x); }>, within_one),
      {.name = "IsNaN",
       .since = 20,
       .signature = "(X: T1) -> (Y: T2)",
       .types = {{"T1", kFloats | kFloat8s}, {"T2", DType::kBool}},
       .infer = [](InferContext& c) { c.set(0, DType::kBool, shape_of(c, 0)); },
       .reference = floats<[](auto x) { return std::isnan(x); }>,
       .facts = kElementwise,
       .samples = any_number},
      {.name = "IsInf",
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
