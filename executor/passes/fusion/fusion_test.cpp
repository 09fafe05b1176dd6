// Passes that make way for fusions.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

TEST(FusionTest, ViewsSinkBelowWhatCanBeFused) {
  const auto squeezed = [](Builder& b) {
    const Val y = b.call("Conv", {b.input({2, 3, 1, 8}), b.constant({4, 3, 1, 3})});
    return b.call("Squeeze", {y, b.ints({2})});
  };
  const Case cases[] = {
      {"bias of channels",
       [&](Builder& b) {
         b.output(b.call("Add", {squeezed(b), b.constant({1, 4, 1})}));
       },
       {sink_views},
       {"Conv", "Add", "Squeeze"},
       1},
      {"activation",
       [&](Builder& b) { b.output(b.call("Relu", {squeezed(b)})); },
       {sink_views},
       {"Conv", "Relu", "Squeeze"},
       1},
      {"another reader",
       [&](Builder& b) {
         const Val y = squeezed(b);
         b.output(y);
         b.output(b.call("Relu", {y}));
       },
       {sink_views},
       {"Conv", "Squeeze", "Relu"},
       0},
      {"a constant that enlarges",
       [&](Builder& b) {
         b.output(b.call("Add", {squeezed(b), b.constant({3, 1, 1, 1})}));
       },
       {sink_views},
       {"Conv", "Squeeze", "Add"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(FusionTest, ConcatOfNarrowedFloatsIsWidened) {
  const auto cast = [](Builder& b, const Val& x, DType to) {
    return b.call("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
  };
  const auto narrow = [=](Builder& b) { return cast(b, b.input({2, 3}), DType::kFloat16); };
  const AttrMap rows{{"axis", int64_t{0}}};
  const Case cases[] = {
      {"all were cast",
       [=](Builder& b) {
         const Val joined = b.call("Concat", {narrow(b), narrow(b)}, rows);
         b.output(cast(b, joined, DType::kFloat));
       },
       {widen_concat},
       {"Cast", "Cast", "Concat", "Cast", "Cast"},
       1},
      {"one was not",
       [=](Builder& b) {
         const Val x = narrow(b);
         b.output(cast(b, b.call("Concat", {x, b.call("Neg", {x})}, rows), DType::kFloat));
       },
       {widen_concat},
       {"Cast", "Neg", "Concat", "Cast"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
