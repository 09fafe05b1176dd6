// Einsum as a matrix product.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

Case einsum(const char* equation, const Shape& a, const Shape& b,
            const std::vector<std::string>& ops, int changes = 1) {
  return {equation,
          [=](Builder& builder) {
            builder.output(builder.call("Einsum", {builder.input(a), builder.input(b)},
                                        {{"equation", std::string(equation)}}));
          },
          {einsum_to_matmul},
          ops,
          changes};
}

TEST(EinsumToMatMul, BringsTheOperandsIntoOrder) {
  const std::vector<Case> cases = {
      einsum("ij,jk->ik", {2, 3}, {3, 4}, {"MatMul"}),
      einsum("ij,jk", {2, 3}, {3, 4}, {"MatMul"}),
      einsum("bij,kj->kbi", {2, 3, 4}, {5, 4},
             {"Transpose", "Reshape", "MatMul", "Reshape", "Transpose"}),
      einsum("bhid,bhjd->bhij", {2, 2, 3, 4}, {2, 2, 5, 4}, {"Transpose", "MatMul"}),
      einsum("bhwc,hkc->bhwk", {2, 3, 4, 5}, {3, 6, 5},
             {"Transpose", "Transpose", "Reshape", "MatMul", "Reshape", "Transpose"}),
      einsum("i,i", {3}, {3}, {"Reshape", "Reshape", "MatMul", "Reshape"}),
      einsum("ij,j->i", {2, 3}, {3}, {"Reshape", "MatMul", "Reshape"}),
      einsum("...ij,jk->...ik", {2, 3, 4}, {4, 5}, {"Reshape", "MatMul", "Reshape"}),
      einsum("i,j->ji", {2}, {3}, {"Unsqueeze", "Unsqueeze", "Mul", "Transpose"}),
      einsum("bi,bj->bij", {2, 3}, {2, 4}, {"Unsqueeze", "Unsqueeze", "Mul"}),
      einsum("ij,kj->i", {2, 3}, {4, 3}, {"Einsum"}, 0),
      einsum("ii,ij->ij", {3, 3}, {3, 4}, {"Einsum"}, 0),
      einsum("ij,jk->ik", {2, 1}, {3, 4}, {"Einsum"}, 0),
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
