// Which nodes become groups.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

Val cast(Builder& b, const Val& x, DType to) {
  return b.call("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}

TEST(GroupElementwise, TakesInWhatOneNodeReads) {
  const Case cases[] = {
      {"a chain with broadcasts",
       [](Builder& b) {
         const Val y = b.call("Mul", {b.input({2, 3, 4}), b.input({4})});
         b.output(b.call("Relu", {b.call("Add", {b.input({3, 1}), y})}));
       },
       {group_elementwise},
       {"FusedElementwise"},
       2},
      {"values that are read twice within",
       [](Builder& b) {
         const Val y = b.call("Add", {b.input({5}), b.input({5})});
         const Val gate = b.call("Sigmoid", {y});
         b.output(b.call("Mul", {b.call("Mul", {gate, y}), b.call("Sub", {y, gate})}));
       },
       {group_elementwise},
       {"FusedElementwise"},
       1},
      {"parameters and choices",
       [](Builder& b) {
         const Val x = b.input({3, 5});
         const Val y = b.call("LeakyRelu", {x}, {{"alpha", 0.3f}});
         const Val z = b.call("Clip", {x, b.scalar(-0.1f), b.scalar(0.2f)});
         const Val mask = b.call("And", {b.call("Less", {x, y}), b.call("Greater", {x, z})});
         b.output(b.call("Where", {mask, b.call("Mul", {y, cast(b, mask, DType::kFloat)}), z}));
       },
       {group_elementwise},
       {"FusedElementwise"},
       3},
      {"another reader of the values between",
       [](Builder& b) {
         const Val y = b.call("Exp", {b.input({5})});
         b.output(b.call("Neg", {y}));
         b.output(y);
       },
       {group_elementwise},
       {"Exp", "Neg"},
       0},
      {"another shape",
       [](Builder& b) {
         b.output(b.call("Add", {b.call("Exp", {b.input({5})}), b.input({3, 5})}));
       },
       {group_elementwise},
       {"Exp", "Add"},
       0},
      {"another type",
       [](Builder& b) {
         const Val x = cast(b, b.input({5}), DType::kDouble);
         b.output(cast(b, b.call("Neg", {b.call("Exp", {x})}), DType::kFloat));
       },
       {group_elementwise},
       {"Cast", "Exp", "Neg", "Cast"},
       0},
      {"channels of a convolution",
       [](Builder& b) {
         Val y = b.call("Conv", {b.input({1, 2, 5, 5}), b.constant({16, 2, 3, 3})});
         y = b.call("Mul", {y, b.constant({16, 1, 1})});
         b.output(b.call("Exp", {b.call("Abs", {y})}));
       },
       {group_elementwise},
       {"Conv", "FusedElementwise"},
       2},
      {"a row for pixels of a convolution",
       [](Builder& b) {
         Val y = b.call("Conv", {b.input({1, 2, 5, 5}), b.constant({16, 2, 3, 3})});
         y = b.call("Mul", {y, b.constant({3})});
         b.output(b.call("Exp", {b.call("Abs", {y})}));
       },
       {group_elementwise},
       {"Conv", "Mul", "FusedElementwise"},
       1},
      {"blocks of channels that are not full",
       [](Builder& b) {
         Val y = b.call("Conv", {b.input({1, 2, 5, 5}), b.constant({6, 2, 3, 3})});
         b.output(b.call("Exp", {b.call("Mul", {y, b.constant({6, 1, 1})})}));
       },
       {group_elementwise},
       {"Conv", "Mul", "Exp"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(GroupElementwise, StaysWithinItsBounds) {
  Builder b;
  Val x = b.input({3});
  const Val y = b.input({3});
  for (int i = 0; i < 50; ++i)
    x = b.call(i % 2 ? "Add" : "Mul", {x, y});
  b.output(x);
  const std::vector<Datum> expected = b.evaluate();
  apply_everywhere(b.graph(), group_elementwise);
  EXPECT_EQ(op_names(b.graph()),
            (std::vector<std::string>{"FusedElementwise", "FusedElementwise"}));
  expect_same(b.evaluate(), expected);
}

}  // namespace
}  // namespace sardonyx::passes
