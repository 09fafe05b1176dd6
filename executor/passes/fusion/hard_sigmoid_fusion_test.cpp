// HardSigmoid and HardSwish in the forms that exporters write; pools written as reductions.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

Val clipped_sum(Builder& b, const Val& x, float offset = 3, float high = 6) {
  return b.call("Clip", {b.call("Add", {x, b.scalar(offset)}), b.scalar(0), b.scalar(high)});
}

const std::vector<Apply> kHardForms = {recognize_clip, recognize_hard_sigmoid, recognize_swish};

TEST(RecognizeHardSigmoid, InItsForms) {
  const std::vector<Case> cases = {
      {"divided",
       [](Builder& b) {
         b.output(b.call("Div", {clipped_sum(b, b.input({2, 3})), b.scalar(6)}));
       },
       kHardForms,
       {"HardSigmoid"},
       1},
      {"multiplied, of another slope",
       [](Builder& b) {
         b.output(b.call("Mul", {b.scalar(0.25f), clipped_sum(b, b.input({2, 3}), 1, 4)}));
       },
       kHardForms,
       {"HardSigmoid"},
       1},
      {"bounds by Relu and Min",
       [](Builder& b) {
         Val x = b.call("Relu", {b.call("Add", {b.scalar(3), b.input({2, 3})})});
         b.output(b.call("Div", {b.call("Min", {x, b.scalar(6)}), b.scalar(6)}));
       },
       kHardForms,
       {"HardSigmoid"},
       2},
      {"bounds by Max and Min",
       [](Builder& b) {
         const Val x = b.call("Max", {b.input({2, 3}), b.scalar(-0.1f)});
         b.output(b.call("Min", {b.scalar(0.2f), x}));
       },
       kHardForms,
       {"Clip"},
       1},
      {"gate of its own input",
       [](Builder& b) {
         const Val x = b.input({2, 3});
         b.output(b.call("Mul", {x, b.call("Div", {clipped_sum(b, x), b.scalar(6)})}));
       },
       kHardForms,
       {"HardSwish"},
       2},
      {"divided at the end",
       [](Builder& b) {
         const Val x = b.input({2, 3});
         b.output(b.call("Div", {b.call("Mul", {x, clipped_sum(b, x)}), b.scalar(6)}));
         b.output(b.call("Mul", {b.call("Mul", {clipped_sum(b, x), x}), b.scalar(1.f / 6)}));
       },
       kHardForms,
       {"HardSwish", "HardSwish"},
       2},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(RecognizeHardSigmoid, LeavesOthers) {
  const std::vector<Case> cases = {
      {"another height",
       [](Builder& b) {
         b.output(b.call("Div", {clipped_sum(b, b.input({2, 3})), b.scalar(5)}));
       },
       kHardForms,
       {"Add", "Clip", "Div"},
       0},
      {"the clip is read",
       [](Builder& b) {
         const Val clip = clipped_sum(b, b.input({2, 3}));
         b.output(clip);
         b.output(b.call("Div", {clip, b.scalar(6)}));
       },
       kHardForms,
       {"Add", "Clip", "Div"},
       0},
      {"the result is larger",
       [](Builder& b) {
         const Val six = b.value(Tensor::of(std::vector<float>{6}, {1, 1, 1}));
         b.output(b.call("Div", {clipped_sum(b, b.input({2, 3})), six}));
       },
       kHardForms,
       {"Add", "Clip", "Div"},
       0},
      {"a divisor that is divided",
       [](Builder& b) {
         b.output(b.call("Div", {b.scalar(6), clipped_sum(b, b.input({2, 3}))}));
       },
       kHardForms,
       {"Add", "Clip", "Div"},
       0},
      {"another gate",
       [](Builder& b) {
         const Val x = b.input({2, 3}), y = b.input({2, 3});
         b.output(b.call("Div", {b.call("Mul", {x, clipped_sum(b, y)}), b.scalar(6)}));
       },
       kHardForms,
       {"Add", "Clip", "Mul", "Div"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(RecognizeGlobalPool, OfConvolutions) {
  const auto conv = [](Builder& b) {
    const Val x = b.call("Conv", {b.input({2, 3, 4, 5}), b.constant({4, 3, 1, 1})});
    return b.call("Relu", {x});
  };
  const std::vector<Case> cases = {
      {"mean",
       [&](Builder& b) {
         b.output(b.call("ReduceMean", {conv(b), b.ints({-1, -2})}));
       },
       {recognize_global_pool},
       {"Conv", "Relu", "GlobalAveragePool"},
       1},
      {"dims dropped",
       [&](Builder& b) {
         b.output(b.call("ReduceMean", {conv(b), b.ints({2, 3})}, {{"keepdims", int64_t{0}}}));
       },
       {recognize_global_pool},
       {"Conv", "Relu", "GlobalAveragePool", "Reshape"},
       1},
      {"a maximum, which pooling would take without its NaN",
       [&](Builder& b) {
         b.output(b.call("ReduceMax", {conv(b), b.ints({2, 3})}));
       },
       {recognize_global_pool},
       {"Conv", "Relu", "ReduceMax"},
       0},
      {"channels too",
       [&](Builder& b) {
         b.output(b.call("ReduceMean", {conv(b), b.ints({1, 2, 3})}));
       },
       {recognize_global_pool},
       {"Conv", "Relu", "ReduceMean"},
       0},
      {"of an input",
       [](Builder& b) {
         b.output(b.call("ReduceMean", {b.input({2, 3, 4, 5}), b.ints({2, 3})}));
       },
       {recognize_global_pool},
       {"ReduceMean"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
