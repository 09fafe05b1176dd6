// Transposes that meet and vanish, and those that stay.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

const AttrMap kLast = {{"perm", Ints{0, 2, 3, 1}}}, kFirst = {{"perm", Ints{0, 3, 1, 2}}};

Val last(Builder& b, const Val& x) {
  return b.call("Transpose", {x}, kLast);
}
Val first(Builder& b, const Val& x) {
  return b.call("Transpose", {x}, kFirst);
}
Val pool(Builder& b, const Val& x) {
  return b.call("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{1, 1}}});
}

const std::vector<Apply> kMoves = {merge_transposes, move_transposes, merge_transposes};

// How many changes there are does not matter, and Transposes that nobody reads go with dead nodes.
void check_settled(const Case& c) {
  SCOPED_TRACE(c.name);
  EXPECT_EQ(changes_of(c, /*cleans=*/true) > 0, c.changes > 0);
}

TEST(MoveTransposes, MeetsTheNextOnes) {
  const std::vector<Case> cases = {
      {"one behind the other",
       [](Builder& b) {
         b.output(first(b, last(b, b.input({2, 3, 4, 5}))));
         b.output(last(b, last(b, b.input({2, 3, 4, 5}))));
       },
       {merge_transposes},
       {"Transpose", "Transpose"},
       1},
      {"activations and constants",
       [](Builder& b) {
         Val x = b.call("Relu", {last(b, pool(b, b.input({2, 3, 4, 5})))});
         x = b.call("Add", {x, b.constant({3})});
         x = b.call("Mul", {b.scalar(2), x});
         x = b.call("Sub", {x, b.constant({1, 3, 4, 1})});
         b.output(pool(b, first(b, x)));
       },
       kMoves,
       {"MaxPool", "Relu", "Add", "Mul", "Sub", "MaxPool"},
       1},
      {"a residual",
       [](Builder& b) {
         const Val x = last(b, pool(b, b.input({2, 3, 4, 5})));
         const Val y = last(b, pool(b, first(b, b.call("Relu", {x}))));
         const Val sum = b.call(
             "Add", {y, b.call("Slice", {x, b.ints({1, 0}), b.ints({4, 2}), b.ints({2, 1})})});
         b.output(pool(b, first(b, sum)));
       },
       kMoves,
       {"MaxPool", "Relu", "MaxPool", "Slice", "Add", "MaxPool"},
       1},
      {"along axes",
       [](Builder& b) {
         Val x = last(b, b.input({2, 3, 4, 5}));
         x = b.call("Concat", {x, last(b, b.input({2, 6, 4, 5}))}, {{"axis", int64_t{-1}}});
         x = b.call("Pad", {x, b.ints({0, 1, 2, 0, 0, 3, 1, 0})});
         x = b.call("Resize", {x, Val(), b.value(Tensor::vector<float>({1, 2, 3, 1}))});
         b.output(first(b, x));
       },
       kMoves,
       {"Concat", "Pad", "Resize"},
       1},
      {"a mean of each channel",
       [](Builder& b) {
         const Val x = last(b, pool(b, b.input({2, 3, 4, 5})));
         b.output(b.call("ReduceMean", {x, b.ints({1, 2})}, {{"keepdims", int64_t{0}}}));
       },
       kMoves,
       {"MaxPool", "ReduceMean"},
       1},
      {"an operand that is transposed instead of two",
       [](Builder& b) {
         const Val x = last(b, pool(b, b.input({2, 3, 4, 5})));
         b.output(first(b, b.call("Add", {x, b.input({2, 3, 4, 3})})));
       },
       kMoves,
       {"MaxPool", "Transpose", "Add"},
       1},
      {"a gate of each channel",
       [](Builder& b) {
         const Val x = last(b, pool(b, b.input({2, 3, 4, 5})));
         const Val mean = b.call("ReduceMean", {x, b.ints({1, 2})}, {{"keepdims", int64_t{0}}});
         const Val gate = b.call("Reshape", {b.call("Sigmoid", {mean}), b.ints({2, 1, 1, 3})});
         b.output(pool(b, first(b, b.call("Mul", {x, gate}))));
       },
       kMoves,
       {"MaxPool", "ReduceMean", "Sigmoid", "Reshape", "Transpose", "Mul", "MaxPool"},
       1},
      {"an activation gets next to its convolution",
       [](Builder& b) {
         const Val x = b.call("Conv", {b.input({2, 3, 4, 5}), b.constant({4, 3, 1, 1})});
         b.output(b.call("Relu", {last(b, x)}));
       },
       kMoves,
       {"Conv", "Relu", "Transpose"},
       1},
  };
  for (const Case& c : cases)
    check_settled(c);
}

TEST(MoveTransposes, SlicesKeepTheTypeOfTheirIndices) {
  const auto sliced = [](auto zero) {
    using T = decltype(zero);
    return [](Builder& b) {
      const auto list = [&](std::vector<T> values) { return b.value(Tensor::vector(values)); };
      const Val x = last(b, pool(b, b.input({2, 3, 4, 5})));
      const Val part =
          b.call("Slice", {x, list({1, 0}), list({4, 2}), list({2, -1}), list({1, 1})});
      b.output(pool(b, first(b, part)));
    };
  };
  for (const auto& build : {std::function<void(Builder&)>(sliced(int32_t{0})),
                            std::function<void(Builder&)>(sliced(int64_t{0}))}) {
    check_settled({"a slice", build, kMoves, {"MaxPool", "Slice", "MaxPool"}, 1});
  }
}

TEST(MoveTransposes, StaysWhereNothingIsGained) {
  const std::vector<Case> cases = {
      {"nobody undoes it",
       [](Builder& b) {
         b.output(b.call("Relu", {last(b, pool(b, b.input({2, 3, 4, 5})))}));
       },
       kMoves,
       {"MaxPool", "Transpose", "Relu"},
       0},
      {"a normalization of the last dim",
       [](Builder& b) {
         const Val x = last(b, pool(b, b.input({2, 3, 4, 5})));
         b.output(first(b, b.call("Sub", {x, b.call("ReduceMean", {x, b.ints({-1})})})));
       },
       kMoves,
       {"MaxPool", "Transpose", "ReduceMean", "Sub", "Transpose"},
       0},
      {"a product",
       [](Builder& b) {
         const Val x = b.call("Mul", {last(b, b.input({2, 3, 4, 5})), b.scalar(2)});
         b.output(b.call("MatMul", {x, b.constant({3, 6})}));
       },
       kMoves,
       {"Transpose", "Mul", "MatMul"},
       0},
  };
  for (const Case& c : cases)
    check_settled(c);
}

}  // namespace
}  // namespace sardonyx::passes
