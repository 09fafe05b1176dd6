#include "tests/extend/signed_square.h"

#include <cmath>

#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/reference/elementwise.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::extend {
namespace {

void signed_square(const KernelCall& call) {
  ops::map_floats(call, [](auto x) { return x * std::abs(x); });
}

// dx = 2 |x| dy
Vals signed_square_gradient(Emitter& e, const GradCall& call) {
  const ops::Term dy{&e, call.d_outputs[0]}, x{&e, call.inputs[0]};
  return {2 * dy * ops::apply("Abs", x)};
}

}  // namespace

const OpDef& signed_square_row() {
  static const OpDef row{.name = "SignedSquare",
                         .doc = "x * |x|, element by element.",
                         .domain = "toy",
                         .signature = "(X: T) -> (Y: T)",
                         .types = {{"T", kFloats}},
                         .infer = ops::same_as_first,
                         .reference = signed_square,
                         .grad = signed_square_gradient,
                         .facts = kElementwise,
                         .samples = [] { return ops::unary_float_samples(); }};
  return row;
}

}  // namespace sardonyx::extend
