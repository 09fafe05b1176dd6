// Attention in the forms that exporters write.
#include <cmath>

#include "executor/passes/all_passes.h"
#include "ir/ops/attention/fused_attention.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

const AttrMap kLastAxis{{"axis", int64_t{-1}}};

Val transposed(Builder& b, const Val& x, const Ints& perm) {
  return b.call("Transpose", {x}, {{"perm", perm}});
}

// [2, 3, 4 (or 5), 6] out of [2, length, 18].
Val split(Builder& b, const Val& x, const Ints& perm) {
  return transposed(b, b.call("Reshape", {x, b.ints({0, 0, 3, 6})}), perm);
}

Val heads_of(Builder& b, int64_t length) {
  return split(b, b.input({2, length, 18}), {0, 2, 1, 3});
}

Val joined(Builder& b, const Val& y) {
  return b.call("Reshape", {transposed(b, y, {0, 2, 1, 3}), b.ints({0, 0, -1})});
}

Val weighted(Builder& b, const Val& scores, const Val& v, const AttrMap& axis = kLastAxis) {
  return b.call("MatMul", {b.call("Softmax", {scores}, axis), v});
}

Val products(Builder& b, const Val& q, const Val& k) {
  return b.call("MatMul", {q, transposed(b, k, {0, 1, 3, 2})});
}

using Mask = std::function<Val(Builder&, const Val& scores)>;

// Attention with `mask` put to the scores, [2, 3, 4, 5].
void attend(Builder& b, const Mask& mask) {
  const Val q = heads_of(b, 4), k = heads_of(b, 5), v = heads_of(b, 5);
  b.output(joined(b, weighted(b, mask(b, products(b, q, k)), v)));
}

// What is left of it where three Reshapes are left before it.
const std::vector<std::string> kRecognized{"Reshape", "Reshape", "Reshape", "FusedAttention",
                                           "Reshape"};

struct Form {
  const char* name;
  Mask mask;
  std::vector<std::string> between;  // nodes that are left between the third Reshape and attention
};

Val bools(Builder& b, const Shape& shape) {
  Tensor mask = Tensor::allocate(DType::kBool, shape);
  size_t i = 0;
  for (bool& kept : mask.mutable_values<bool>())
    kept = i++ % 3 != 1;
  return b.value(mask);
}

Val mul(Builder& b, const Val& x, float factor) {
  return b.call("Mul", {x, b.scalar(factor)});
}

TEST(RecognizeAttention, FormsOfScores) {
  const Form forms[] = {
      {"as they are", [](Builder&, const Val& s) { return s; }, {}},
      {"scaled", [](Builder& b, const Val& s) { return mul(b, s, 0.4f); }, {}},
      {"divided",
       [](Builder& b, const Val& s) {
         return b.call("Div", {s, b.scalar(2.5f)});
       },
       {}},
      {"an addend for each entry",
       [](Builder& b, const Val& s) {
         return b.call("Add", {mul(b, s, 0.4f), b.input({2, 1, 1, 5})});
       },
       {}},
      {"an addend in front",
       [](Builder& b, const Val& s) {
         return b.call("Add", {b.constant({4, 5}), s});
       },
       {}},
      {"filled",
       [](Builder& b, const Val& s) {
         return b.call("Where", {bools(b, {4, 5}), s, b.scalar(-1e4f)});
       },
       {}},
      {"filled where true, then added to",
       [](Builder& b, const Val& s) {
         const Val filled = b.call("Where", {bools(b, {4, 5}), b.scalar(-INFINITY), s});
         return b.call("Add", {filled, b.constant({3, 1, 1})});
       },
       {"Not"}},
      {"added to, then filled",
       [](Builder& b, const Val& s) {
         const Val sum = b.call("Add", {mul(b, s, 0.4f), b.constant({3, 1, 5})});
         return b.call("Where", {bools(b, {2, 1, 1, 5}), sum, b.scalar(-50)});
       },
       {}},
  };
  for (const Form& form : forms) {
    std::vector<std::string> left = kRecognized;
    left.insert(left.begin() + 3, form.between.begin(), form.between.end());
    const auto build = [&](Builder& b) { attend(b, form.mask); };
    SCOPED_TRACE(form.name);
    EXPECT_EQ(changes_of({form.name, build, {recognize_attention}, left, 1}, true), 1);
  }
}

TEST(RecognizeAttention, FormsOfOperands) {
  const Case cases[] = {
      {"keys transposed at once",
       [](Builder& b) {
         const Val q = heads_of(b, 4), k = split(b, b.input({2, 5, 18}), {0, 2, 3, 1});
         b.output(joined(b, weighted(b, b.call("MatMul", {q, k}), heads_of(b, 5))));
       },
       {recognize_attention},
       kRecognized,
       1},
      {"both scaled",
       [](Builder& b) {
         const Val q = mul(b, heads_of(b, 4), 0.6f);
         const Val k = mul(b, transposed(b, heads_of(b, 5), {0, 1, 3, 2}), 0.6f);
         b.output(joined(b, weighted(b, b.call("MatMul", {q, k}), heads_of(b, 5))));
       },
       {recognize_attention},
       kRecognized,
       1},
      {"a product that is fused already",
       [](Builder& b) {
         const Val q = heads_of(b, 4), k = heads_of(b, 5), v = heads_of(b, 5);
         b.output(joined(b, weighted(b, mul(b, products(b, q, k), 0.4f), v)));
       },
       {fuse_matmul_transpose, fuse_matmul_scale, recognize_attention},
       kRecognized,
       3},
      {"parts of one tensor",
       [](Builder& b) {
         const Val all = transposed(b, b.input({2, 4, 3, 2, 6}), {2, 0, 3, 1, 4});
         Vals parts;
         for (const int64_t i : {0, 1, -1})
           parts.push_back(b.call("Gather", {all, b.value(Tensor::scalar(i))}));
         b.output(joined(b, weighted(b, products(b, parts[0], parts[1]), parts[2])));
       },
       {recognize_attention},
       {"FusedAttention", "Reshape"},
       1},
      {"batch and heads as one",
       [](Builder& b) {
         Vals parts;
         for (const int64_t length : {4, 5, 5})
           parts.push_back(transposed(b, b.input({length, 3, 6}), {1, 0, 2}));
         const Val s = b.call("MatMul", {parts[0], transposed(b, parts[1], {0, 2, 1})});
         const Val sum = b.call("Add", {s, b.constant({3, 4, 5})});
         b.output(transposed(b, weighted(b, sum, parts[2]), {1, 0, 2}));
       },
       {recognize_attention},
       {"Unsqueeze", "Unsqueeze", "Unsqueeze", "FusedAttention", "Squeeze"},
       1},
      {"heads to repeat",
       [](Builder& b) {
         const Val k = b.input({1, 1, 5, 6}), v = b.input({2, 1, 5, 7});
         b.output(weighted(b, products(b, b.input({2, 3, 4, 6}), k), v));
       },
       {recognize_attention},
       {"FusedAttention"},
       1},
      {"each head of keys and values serves two of queries",
       [](Builder& b) {
         const auto repeated = [&](const Val& x) {
           const Val one = b.call("Unsqueeze", {x, b.ints({2})});
           const Val many = b.call("Expand", {one, b.ints({2, 3, 2, 5, 6})});
           return b.call("Reshape", {many, b.ints({2, 6, 5, 6})});
         };
         const Val k = repeated(heads_of(b, 5)), v = repeated(heads_of(b, 5));
         b.output(joined(b, weighted(b, products(b, b.input({2, 6, 4, 6}), k), v)));
       },
       {recognize_attention},
       {"Reshape", "Reshape", "FusedAttention", "Reshape"},
       1},
      {"values that are scaled stay so",
       [](Builder& b) {
         const Val q = heads_of(b, 4), k = heads_of(b, 5), v = heads_of(b, 5);
         b.output(joined(b, weighted(b, products(b, q, k), mul(b, v, 0.3f))));
       },
       {recognize_attention},
       {"Reshape", "Reshape", "Reshape", "Transpose", "Mul", "FusedAttention", "Reshape"},
       1},
      {"weights without NaNs",
       [](Builder& b) {
         const Val q = heads_of(b, 4), k = heads_of(b, 5), v = heads_of(b, 5);
         Tensor mask = Tensor::allocate(DType::kFloat, {4, 5});
         std::ranges::fill(mask.mutable_values<float>(), 0.f);
         std::ranges::fill(mask.mutable_values<float>().subspan(5, 5), -INFINITY);
         const Val s = b.call("Add", {products(b, q, k), b.value(mask)});
         const Val p = b.call("Softmax", {s}, kLastAxis);
         const Val w = b.call("Where", {b.call("IsNaN", {p}), b.scalar(0), p});
         b.output(joined(b, b.call("MatMul", {w, v})));
       },
       {recognize_attention},
       kRecognized,
       1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(changes_of(c, true), c.changes);
  }
}

TEST(RecognizeAttention, LeavesOthersAlone) {
  const auto plain = [](Builder& b, const std::function<void(const Val&, const Val&)>& finish) {
    const Val s = products(b, b.input({2, 3, 4, 6}), b.input({2, 3, 4, 6}));
    finish(s, b.input({2, 3, 4, 6}));
  };
  const Case cases[] = {
      {"weights are asked for",
       [=](Builder& b) {
         plain(b, [&](const Val& s, const Val& v) {
           const Val p = b.call("Softmax", {s}, kLastAxis);
           b.output(b.call("MatMul", {p, v}));
           b.output(p);
         });
       },
       {recognize_attention},
       {"Transpose", "MatMul", "Softmax", "MatMul"},
       0},
      {"scores are asked for",
       [=](Builder& b) {
         plain(b, [&](const Val& s, const Val& v) {
           b.output(weighted(b, s, v));
           b.output(s);
         });
       },
       {recognize_attention},
       {"Transpose", "MatMul", "Softmax", "MatMul"},
       0},
      {"another axis",
       [=](Builder& b) {
         plain(b, [&](const Val& s, const Val& v) {
           b.output(weighted(b, s, v, {{"axis", int64_t{2}}}));
         });
       },
       {recognize_attention},
       {"Transpose", "MatMul", "Softmax", "MatMul"},
       0},
      {"a mask before the scale",
       [=](Builder& b) {
         plain(b, [&](const Val& s, const Val& v) {
           b.output(weighted(b, mul(b, b.call("Add", {s, b.constant({4, 4})}), 0.5f), v));
         });
       },
       {recognize_attention},
       {"Transpose", "MatMul", "Add", "Mul", "Softmax", "MatMul"},
       0},
      {"a scale that is no number",
       [=](Builder& b) {
         plain(b, [&](const Val& s, const Val& v) {
           b.output(weighted(b, b.call("Mul", {s, b.constant({4})}), v));
         });
       },
       {recognize_attention},
       {"Transpose", "MatMul", "Mul", "Softmax", "MatMul"},
       0},
      {"values on the left",
       [=](Builder& b) {
         plain(b, [&](const Val& s, const Val&) {
           b.output(b.call("MatMul", {b.input({2, 3, 6, 4}), b.call("Softmax", {s}, kLastAxis)}));
         });
       },
       {recognize_attention},
       {"Transpose", "MatMul", "Softmax", "MatMul"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

// Far more than a stack holds.
TEST(RecognizeAttention, WalksNoLongChains) {
  Builder b;
  Val scores = b.call("MatMul", {b.input({1, 1, 2, 3}), b.input({1, 1, 3, 2})});
  Val values = b.input({1, 1, 2, 2});
  for (int i = 0; i < 50'000; ++i) {
    scores = b.call("Mul", {scores, b.scalar(1)});
    values = b.call("Transpose", {values}, {{"perm", Ints{0, 1, 3, 2}}});
  }
  b.output(b.call("MatMul", {b.call("Softmax", {scores}, kLastAxis), values}));
  for (const auto& node : b.graph().nodes())
    EXPECT_FALSE(recognize_attention(b.graph(), *node));
}

}  // namespace
}  // namespace sardonyx::passes
