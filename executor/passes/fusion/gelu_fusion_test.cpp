// GELU and Swish in the forms that exporters write.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

Val times(Builder& b, const Val& x, float factor) {
  return b.call("Mul", {x, b.scalar(factor)});
}
Val plus_one(Builder& b, const Val& x) {
  return b.call("Add", {x, b.scalar(1)});
}

// sqrt(2/pi) * (x + 0.044715 * cube)
Val tanh_argument(Builder& b, const Val& x, const Val& cube) {
  return times(b, b.call("Add", {x, times(b, cube, 0.044715f)}), 0.7978846f);
}

TEST(RecognizeGelu, ByErf) {
  const Case cases[] = {
      {"torch",
       [](Builder& b) {
         const Val x = b.input({2, 5});
         const Val gate = b.call("Erf", {b.call("Div", {x, b.scalar(1.4142135f)})});
         b.output(times(b, b.call("Mul", {x, plus_one(b, gate)}), 0.5f));
       },
       {recognize_gelu},
       {"Div", "Erf", "Add", "Mul", "Gelu"},
       1},
      {"the half on x",
       [](Builder& b) {
         const Val x = b.input({2, 5});
         const Val gate = plus_one(b, b.call("Erf", {times(b, x, 0.70710678f)}));
         b.output(b.call("Mul", {gate, times(b, x, 0.5f)}));
       },
       {recognize_gelu},
       {"Mul", "Erf", "Add", "Mul", "Gelu"},
       1},
      {"the half inside",
       [](Builder& b) {
         const Val x = b.input({2, 5});
         const Val gate = plus_one(b, b.call("Erf", {times(b, x, 0.70710678f)}));
         b.output(b.call("Mul", {x, times(b, gate, 0.5f)}));
       },
       {recognize_gelu},
       {"Mul", "Erf", "Add", "Mul", "Gelu"},
       1},
      {"a gate that is read elsewhere",
       [](Builder& b) {
         const Val x = b.input({2, 5});
         const Val gate = b.call("Erf", {times(b, x, 0.70710678f)});
         b.output(times(b, b.call("Mul", {x, plus_one(b, gate)}), 0.5f));
         b.output(gate);
       },
       {recognize_gelu},
       {"Mul", "Erf", "Add", "Mul", "Mul"},
       0},
      {"another constant",
       [](Builder& b) {
         const Val x = b.input({2, 5});
         const Val gate = plus_one(b, b.call("Erf", {times(b, x, 0.7f)}));
         b.output(b.call("Mul", {gate, times(b, x, 0.5f)}));
       },
       {recognize_gelu},
       {"Mul", "Erf", "Add", "Mul", "Mul"},
       0},
      {"a constant that enlarges",
       [](Builder& b) {
         const Val x = b.input({2});
         const Val half = b.call("Mul", {x, b.value(Tensor::scalar(0.5f).reshaped({1, 1}))});
         const Val gate = plus_one(b, b.call("Erf", {times(b, x, 0.70710678f)}));
         b.output(b.call("Mul", {gate, half}));
       },
       {recognize_gelu},
       {"Mul", "Mul", "Erf", "Add", "Mul"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(RecognizeGelu, ByTanh) {
  const Case cases[] = {
      {"cube by Pow",
       [](Builder& b) {
         const Val x = b.input({3, 7});
         const Val gate = b.call("Tanh", {tanh_argument(b, x, b.call("Pow", {x, b.scalar(3)}))});
         b.output(b.call("Mul", {times(b, x, 0.5f), plus_one(b, gate)}));
       },
       {recognize_gelu},
       {"Pow", "Mul", "Add", "Mul", "Tanh", "Mul", "Add", "Gelu"},
       1},
      {"cube by products",
       [](Builder& b) {
         const Val x = b.input({3, 7});
         const Val cube = b.call("Mul", {x, b.call("Mul", {x, x})});
         const Val gate = b.call("Tanh", {tanh_argument(b, x, cube)});
         b.output(b.call("Mul", {x, times(b, plus_one(b, gate), 0.5f)}));
       },
       {recognize_gelu},
       {"Mul", "Mul", "Mul", "Add", "Mul", "Tanh", "Add", "Mul", "Gelu"},
       1},
      {"x taken out of the sum",
       [](Builder& b) {
         const Val x = b.input({3, 7});
         const Val sum = plus_one(b, times(b, b.call("Pow", {x, b.scalar(2)}), 0.044715f));
         const Val gate = b.call("Tanh", {b.call("Mul", {times(b, x, 0.79788456f), sum})});
         b.output(b.call("Mul", {times(b, x, 0.5f), plus_one(b, gate)}));
       },
       {recognize_gelu},
       {"Pow", "Mul", "Add", "Mul", "Mul", "Tanh", "Mul", "Add", "Gelu"},
       1},
      {"by the sigmoid",
       [](Builder& b) {
         const Val x = b.input({3, 7});
         const Val argument = tanh_argument(b, x, b.call("Pow", {x, b.scalar(3)}));
         b.output(b.call("Mul", {x, b.call("Sigmoid", {times(b, argument, 2)})}));
       },
       {recognize_gelu},
       {"Pow", "Mul", "Add", "Mul", "Mul", "Sigmoid", "Gelu"},
       1},
      {"without the cube",
       [](Builder& b) {
         const Val x = b.input({3, 7});
         const Val gate = b.call("Tanh", {times(b, x, 0.79788456f)});
         b.output(b.call("Mul", {times(b, x, 0.5f), plus_one(b, gate)}));
       },
       {recognize_gelu},
       {"Mul", "Tanh", "Mul", "Add", "Mul"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(RecognizeGelu, SwishWithAFactor) {
  const Case cases[] = {
      {"1.702",
       [](Builder& b) {
         const Val x = b.input({4});
         b.output(b.call("Mul", {x, b.call("Sigmoid", {times(b, x, 1.702f)})}));
       },
       {recognize_gelu},
       {"Mul", "Sigmoid", "Swish"},
       1},
      {"a shifted gate",
       [](Builder& b) {
         const Val x = b.input({4});
         b.output(b.call("Mul", {x, b.call("Sigmoid", {plus_one(b, x)})}));
       },
       {recognize_gelu},
       {"Add", "Sigmoid", "Mul"},
       0},
      {"a gate of something else",
       [](Builder& b) {
         b.output(b.call("Mul", {b.input({4}), b.call("Sigmoid", {b.input({4})})}));
       },
       {recognize_gelu},
       {"Sigmoid", "Mul"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
