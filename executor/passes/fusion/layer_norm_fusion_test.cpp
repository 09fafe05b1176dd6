// Normalizations in the forms that exporters write.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

const std::vector<Apply> kBoth = {recognize_normalization, fuse_normalization_scale};

Val mean_of(Builder& b, const Val& x, const Ints& axes = {-1}) {
  return b.call("ReduceMean", {x, b.ints(axes)});
}
Val plus_epsilon(Builder& b, const Val& variance) {
  return b.call("Add", {variance, b.scalar(1e-5f)});
}
Val square(Builder& b, const Val& x) {
  return b.call("Pow", {x, b.scalar(2)});
}

TEST(RecognizeNormalization, LayerNormalization) {
  const Case cases[] = {
      {"torch",
       [](Builder& b) {
         const Val x = b.input({2, 3, 7});
         const Val d = b.call("Sub", {x, mean_of(b, x)});
         const Val root = b.call("Sqrt", {plus_epsilon(b, mean_of(b, square(b, d)))});
         const Val y = b.call("Mul", {b.call("Div", {d, root}), b.constant({7})});
         b.output(b.call("Add", {y, b.constant({7})}));
       },
       kBoth,
       {"ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "LayerNormalization"},
       3},
      {"two axes, inverse root first",
       [](Builder& b) {
         const Val x = b.input({2, 3, 7});
         const Val d = b.call("Sub", {x, mean_of(b, x, {1, 2})});
         const Val variance = mean_of(b, b.call("Mul", {d, d}), {-1, -2});
         const Val inverse = b.call("Reciprocal", {b.call("Sqrt", {plus_epsilon(b, variance)})});
         b.output(b.call("Mul", {b.constant({1, 3, 7}), b.call("Mul", {inverse, d})}));
       },
       kBoth,
       {"ReduceMean", "Sub", "Mul", "ReduceMean", "Add", "Sqrt", "Reciprocal",
        "LayerNormalization"},
       2},
      {"Keras",
       [](Builder& b) {
         const Val x = b.input({5, 6});
         const Val mean = mean_of(b, x);
         const Val d = b.call("Sub", {x, mean});
         const Val inverse = b.call(
             "Reciprocal", {b.call("Sqrt", {plus_epsilon(b, mean_of(b, b.call("Mul", {d, d})))})});
         const Val k = b.call("Mul", {inverse, b.constant({6})});
         const Val shift = b.call("Sub", {b.constant({6}), b.call("Mul", {mean, k})});
         b.output(b.call("Add", {b.call("Mul", {x, k}), shift}));
       },
       kBoth,
       {"ReduceMean", "Sub", "Mul", "ReduceMean", "Add", "Sqrt", "Reciprocal", "Mul", "Mul", "Sub",
        "Mul", "LayerNormalization"},
       1},
      {"an axis that is not the last",
       [](Builder& b) {
         const Val x = b.input({2, 3, 7});
         const Val d = b.call("Sub", {x, mean_of(b, x, {1})});
         const Val root = b.call("Sqrt", {plus_epsilon(b, mean_of(b, square(b, d), {1}))});
         b.output(b.call("Div", {d, root}));
       },
       kBoth,
       {"ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Div"},
       0},
      {"other axes of the variance",
       [](Builder& b) {
         const Val x = b.input({2, 3, 7});
         const Val d = b.call("Sub", {x, mean_of(b, x)});
         const Val root = b.call("Sqrt", {plus_epsilon(b, mean_of(b, square(b, d), {1, 2}))});
         b.output(b.call("Div", {b.call("Neg", {d}), root}));
       },
       kBoth,
       {"ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Neg", "Div"},
       0},
      {"a scale of each row",
       [](Builder& b) {
         const Val x = b.input({3, 7});
         const Val d = b.call("Sub", {x, mean_of(b, x)});
         const Val root = b.call("Sqrt", {plus_epsilon(b, mean_of(b, square(b, d)))});
         b.output(b.call("Mul", {b.call("Div", {d, root}), b.constant({3, 1})}));
       },
       kBoth,
       {"ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "LayerNormalization", "Mul"},
       1},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(RecognizeNormalization, RmsNormalization) {
  const Case cases[] = {
      {"by Div",
       [](Builder& b) {
         const Val x = b.input({2, 9});
         const Val root = b.call("Sqrt", {plus_epsilon(b, mean_of(b, square(b, x)))});
         b.output(b.call("Mul", {b.constant({9}), b.call("Div", {x, root})}));
       },
       kBoth,
       {"Pow", "ReduceMean", "Add", "Sqrt", "RMSNormalization"},
       2},
      {"by Pow, with an addend that is not taken in",
       [](Builder& b) {
         const Val x = b.input({2, 9});
         const Val inverse =
             b.call("Pow", {plus_epsilon(b, mean_of(b, b.call("Mul", {x, x}))), b.scalar(-0.5f)});
         const Val y = b.call("Mul", {b.call("Mul", {x, inverse}), b.constant({9})});
         b.output(b.call("Add", {y, b.constant({9})}));
       },
       kBoth,
       {"Mul", "ReduceMean", "Add", "Pow", "RMSNormalization", "Add"},
       2},
      {"no epsilon",
       [](Builder& b) {
         const Val x = b.input({2, 9});
         b.output(b.call("Div", {x, b.call("Sqrt", {mean_of(b, square(b, x))})}));
       },
       kBoth,
       {"Pow", "ReduceMean", "Sqrt", "Div"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
