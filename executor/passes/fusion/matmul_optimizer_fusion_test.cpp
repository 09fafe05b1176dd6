// Steps by gradients that are products.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

const AttrMap kTransposed{{"transA", int64_t{1}}};

// One step of SGD of a weight [5, 6] by `gradient`.
void step(Builder& b, const Val& gradient, const Val& rate) {
  b.output(b.call("sardonyx::SgdStep", {b.input({5, 6}), gradient, rate},
                  {{"weight_decay", std::vector<float>{0.1f}}}));
}

TEST(FuseProductStep, TakesTheProductIn) {
  const std::vector<Case> cases = {
      {"a linear layer's gradient",
       [](Builder& b) {
         step(b, b.call("Gemm", {b.input({4, 5}), b.input({4, 6})}, kTransposed), b.scalar(0.5f));
       },
       {fuse_product_step},
       {"SgdProductStep"},
       1},
      {"an addend without weight",
       [](Builder& b) {
         step(b, b.call("Gemm", {b.input({5, 4}), b.input({4, 6}), b.input({6})}, {{"beta", 0.f}}),
              b.scalar(0.5f));
       },
       {fuse_product_step},
       {"SgdProductStep"},
       1},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(FuseProductStep, LeavesOtherGradientsAlone) {
  const std::vector<Case> cases = {
      {"another reader",
       [](Builder& b) {
         const Val g = b.call("Gemm", {b.input({4, 5}), b.input({4, 6})}, kTransposed);
         step(b, g, b.scalar(0.5f));
         b.output(g);
       },
       {fuse_product_step},
       {"Gemm", "SgdStep"},
       0},
      {"an addend",
       [](Builder& b) {
         step(b, b.call("Gemm", {b.input({5, 4}), b.input({4, 6}), b.input({6})}), b.scalar(0.5f));
       },
       {fuse_product_step},
       {"Gemm", "SgdStep"},
       0},
      {"a scaled product",
       [](Builder& b) {
         step(b, b.call("Gemm", {b.input({5, 4}), b.input({4, 6})}, {{"alpha", 2.f}}),
              b.scalar(0.5f));
       },
       {fuse_product_step},
       {"Gemm", "SgdStep"},
       0},
      {"a second operand that is transposed",
       [](Builder& b) {
         step(b, b.call("Gemm", {b.input({5, 4}), b.input({6, 4})}, {{"transB", int64_t{1}}}),
              b.scalar(0.5f));
       },
       {fuse_product_step},
       {"Gemm", "SgdStep"},
       0},
      {"a rate that is computed behind the product",
       [](Builder& b) {
         const Val g = b.call("Gemm", {b.input({5, 4}), b.input({4, 6})});
         step(b, g, b.call("ReduceMax", {b.input({3})}, {{"keepdims", int64_t{0}}}));
       },
       {fuse_product_step},
       {"Gemm", "ReduceMax", "SgdStep"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
