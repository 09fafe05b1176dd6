// The passes around matrix products.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

TEST(FuseMatMul, TakesItsSurroundingsIn) {
  const std::vector<Case> cases = {
      {"everything",
       [](Builder& b) {
         const Val k = b.call("Transpose", {b.input({2, 5, 4})}, {{"perm", Ints{0, 2, 1}}});
         Val y = b.call("MatMul", {b.input({2, 3, 4}), k});
         y = b.call("Div", {y, b.scalar(2)});
         y = b.call("Add", {b.constant({5}), y});
         y = b.call("Add", {y, b.input({2, 3, 5})});
         b.output(b.call("Gelu", {y}));
       },
       {fuse_matmul_transpose, fuse_matmul_scale, fuse_matmul_bias, fuse_matmul_residual,
        fuse_matmul_activation},
       {"Transpose", "FusedMatMul"},
       5},
      {"Gemm",
       [](Builder& b) {
         const Val y = b.call("Gemm", {b.input({3, 4}), b.constant({5, 4}), b.constant({5})},
                              {{"transB", int64_t{1}}, {"alpha", 0.5f}});
         b.output(b.call("Tanh", {y}));
       },
       {fuse_matmul_activation},
       {"FusedMatMul"},
       1},
      {"both operands transposed",
       [](Builder& b) {
         const Val x = b.call("Transpose", {b.input({4, 3})});
         b.output(b.call("MatMul", {x, b.call("Transpose", {b.input({5, 4})})}));
       },
       {fuse_matmul_transpose},
       {"Transpose", "Transpose", "FusedMatMul"},
       2},
      {"another permutation",
       [](Builder& b) {
         const Val k = b.call("Transpose", {b.input({4, 2, 5})}, {{"perm", Ints{1, 0, 2}}});
         b.output(b.call("MatMul", {b.input({2, 3, 4}), k}));
       },
       {fuse_matmul_transpose},
       {"Transpose", "MatMul"},
       0},
      {"Gemm with a scaled column",
       [](Builder& b) {
         b.output(b.call("Gemm", {b.input({3, 4}), b.constant({5, 4}), b.input({3, 1})},
                         {{"transB", int64_t{1}}, {"alpha", -2.0f}, {"beta", 0.5f}}));
       },
       {split_gemm_addend},
       {"Gemm", "Mul", "Add"},
       1},
      {"Gemm with one number",
       [](Builder& b) {
         b.output(b.call("Gemm", {b.input({3, 4}), b.constant({4, 5}), b.input({})}));
       },
       {split_gemm_addend},
       {"Gemm", "Add"},
       1},
      {"Gemm with a row",
       [](Builder& b) {
         b.output(b.call("Gemm", {b.input({3, 4}), b.constant({4, 5}), b.input({5})}));
       },
       {split_gemm_addend},
       {"Gemm"},
       0},
      {"Gemm with a scaled addend",
       [](Builder& b) {
         const Val y = b.call("Gemm", {b.input({3, 4}), b.constant({4, 5}), b.constant({5})},
                              {{"beta", 0.5f}});
         b.output(b.call("Relu", {y}));
       },
       {fuse_matmul_activation},
       {"Gemm", "Relu"},
       0},
      {"a bias of many rows",
       [](Builder& b) {
         const Val y = b.call("MatMul", {b.input({3, 4}), b.constant({4, 5})});
         b.output(b.call("Add", {y, b.constant({3, 1})}));
       },
       {fuse_matmul_bias, fuse_matmul_residual},
       {"MatMul", "Add"},
       0},
      {"a factor for each column",
       [](Builder& b) {
         const Val y = b.call("MatMul", {b.input({3, 4}), b.constant({4, 5})});
         b.output(b.call("Mul", {y, b.constant({5})}));
       },
       {fuse_matmul_scale},
       {"MatMul", "Mul"},
       0},
      {"a factor after the bias",
       [](Builder& b) {
         Val y = b.call("MatMul", {b.input({3, 4}), b.constant({4, 5})});
         y = b.call("Add", {y, b.constant({5})});
         b.output(b.call("Mul", {y, b.scalar(2)}));
       },
       {fuse_matmul_bias, fuse_matmul_scale},
       {"FusedMatMul", "Mul"},
       1},
      {"a second activation",
       [](Builder& b) {
         const Val y = b.call("MatMul", {b.input({3, 4}), b.constant({4, 5})});
         b.output(b.call("Relu", {b.call("Tanh", {y})}));
       },
       {fuse_matmul_activation},
       {"FusedMatMul", "Relu"},
       1},
      {"another reader",
       [](Builder& b) {
         const Val y = b.call("MatMul", {b.input({3, 4}), b.constant({4, 5})});
         b.output(b.call("Relu", {y}));
         b.output(y);
       },
       {fuse_matmul_activation},
       {"MatMul", "Relu"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
