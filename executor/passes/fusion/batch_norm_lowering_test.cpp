// What becomes of a BatchNormalization that no layer takes in.
#include <cmath>

#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

Val single_batch_norm(Builder& b, const Val& x, int64_t channels) {
  return b.call("BatchNormalization",
                {x, b.constant({channels}), b.constant({channels}), b.constant({channels}),
                 b.positive({channels})},
                {{"epsilon", 1e-3f}});
}

TEST(LoneBatchNorm, TakesInFactorsAndTerms) {
  const Case cases[] = {
      {"all four",
       [](Builder& b) {
         Val y = single_batch_norm(b, b.input({2, 3, 4, 4}), 3);
         y = b.call("Mul", {b.constant({3, 1, 1}), y});
         y = b.call("Add", {y, b.constant({1, 3, 1, 1})});
         y = b.call("Sub", {y, b.scalar(0.5f)});
         b.output(b.call("Div", {y, b.positive({3, 1, 1})}));
       },
       {scale_batch_norm},
       {"BatchNormalization"},
       4},
      {"rows",
       [](Builder& b) {
         b.output(b.call("Mul", {single_batch_norm(b, b.input({5, 3}), 3), b.constant({3})}));
       },
       {scale_batch_norm},
       {"BatchNormalization"},
       1},
      {"a factor for each column",
       [](Builder& b) {
         b.output(b.call("Mul", {single_batch_norm(b, b.input({2, 3, 4, 3}), 3), b.constant({3})}));
       },
       {scale_batch_norm},
       {"BatchNormalization", "Mul"},
       0},
      {"a factor that is no constant",
       [](Builder& b) {
         b.output(b.call("Mul", {single_batch_norm(b, b.input({2, 3, 4}), 3), b.input({3, 1})}));
       },
       {scale_batch_norm},
       {"BatchNormalization", "Mul"},
       0},
      {"a difference from a constant",
       [](Builder& b) {
         b.output(b.call("Sub", {b.constant({3, 1}), single_batch_norm(b, b.input({2, 3, 4}), 3)}));
       },
       {scale_batch_norm},
       {"BatchNormalization", "Sub"},
       0},
      {"a factor that is not finite",
       [](Builder& b) {
         b.output(
             b.call("Mul", {single_batch_norm(b, b.input({2, 3, 4}), 3),
                            b.value(Tensor::vector<float>({1, INFINITY, 1}).reshaped({3, 1}))}));
       },
       {scale_batch_norm},
       {"BatchNormalization", "Mul"},
       0},
      {"another reader",
       [](Builder& b) {
         const Val y = single_batch_norm(b, b.input({2, 3, 4}), 3);
         b.output(b.call("Mul", {y, b.constant({3, 1})}));
         b.output(b.call("Relu", {y}));
       },
       {scale_batch_norm},
       {"BatchNormalization", "Mul", "Relu"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(LoneBatchNorm, BecomesPartOfAGroup) {
  const Case cases[] = {
      {"before an activation",
       [](Builder& b) {
         b.output(b.call("Relu", {single_batch_norm(b, b.input({2, 3, 4, 4}), 3)}));
       },
       {spell_batch_norm, group_elementwise},
       {"FusedElementwise"},
       3},
      {"rows with a residual",
       [](Builder& b) {
         b.output(b.call("Add", {b.input({4, 3}), single_batch_norm(b, b.input({4, 3}), 3)}));
       },
       {spell_batch_norm, group_elementwise},
       {"FusedElementwise"},
       3},
      {"blocks of channels that a convolution left",
       [](Builder& b) {
         const Val y = b.call("Conv", {b.input({1, 2, 5, 5}), b.constant({16, 2, 3, 3})});
         const Val all = b.call("Concat", {y, y}, {{"axis", int64_t{1}}});
         b.output(b.call("Relu", {single_batch_norm(b, all, 32)}));
       },
       {spell_batch_norm, group_elementwise},
       {"Conv", "Concat", "FusedElementwise"},
       3},
      {"nothing follows",
       [](Builder& b) {
         b.output(single_batch_norm(b, b.input({2, 3, 4}), 3));
       },
       {spell_batch_norm},
       {"BatchNormalization"},
       0},
      {"parameters that are no constants",
       [](Builder& b) {
         const Val y = b.call("BatchNormalization", {b.input({2, 3}), b.input({3}), b.constant({3}),
                                                     b.constant({3}), b.positive({3})});
         b.output(b.call("Relu", {y}));
       },
       {spell_batch_norm},
       {"BatchNormalization", "Relu"},
       0},
      {"another reader",
       [](Builder& b) {
         const Val y = single_batch_norm(b, b.input({2, 3, 4}), 3);
         b.output(b.call("Relu", {y}));
         b.output(y);
       },
       {spell_batch_norm},
       {"BatchNormalization", "Relu"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
