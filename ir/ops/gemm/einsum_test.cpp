#include "ir/ops/gemm/einsum.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "ir/reference_evaluator.h"

namespace sardonyx::ops {
namespace {

using Terms = std::vector<std::string>;

struct Case {
  const char* equation;
  std::vector<Shape> shapes;
  // The same written out: plain letters, operands and then output, for the loops below.
  Terms plain;
};

Tensor counting(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::kInt32, shape);
  std::span<int32_t> values = tensor.mutable_values<int32_t>();
  std::iota(values.begin(), values.end(), -3);
  return tensor;
}

// Element offset of `term` at `index`; dims of 1 repeat.
size_t offset(const std::string& term, const Shape& shape, const std::map<char, int64_t>& index) {
  int64_t at = 0;
  for (size_t i = 0; i < term.size(); ++i) {
    at = at * shape[i] + (shape[i] == 1 ? 0 : index.at(term[i]));
  }
  return static_cast<size_t>(at);
}

// One loop for each letter.
void sum_over(std::map<char, int64_t>::const_iterator letter, const std::map<char, int64_t>& sizes,
              std::map<char, int64_t>& index, const std::function<void()>& visit) {
  if (letter == sizes.end()) return visit();
  for (int64_t i = 0; i < letter->second; ++i) {
    index[letter->first] = i;
    sum_over(std::next(letter), sizes, index, visit);
  }
}

Tensor by_loops(const Case& c, const std::vector<Tensor>& operands) {
  std::map<char, int64_t> sizes, index;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t axis = 0; axis < c.plain[i].size(); ++axis) {
      int64_t& size = sizes.try_emplace(c.plain[i][axis], 1).first->second;
      size = c.shapes[i][axis] == 1 ? size : c.shapes[i][axis];
    }
  }
  Shape shape;
  for (const char letter : c.plain.back())
    shape.push_back(sizes.at(letter));
  Tensor out = Tensor::zeros(DType::kInt32, shape);
  sum_over(sizes.begin(), sizes, index, [&] {
    int32_t product = 1;
    for (size_t i = 0; i < operands.size(); ++i) {
      product *= operands[i].values<int32_t>()[offset(c.plain[i], c.shapes[i], index)];
    }
    out.mutable_values<int32_t>()[offset(c.plain.back(), shape, index)] += product;
  });
  return out;
}

Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands) {
  const std::vector<Datum> inputs(operands.begin(), operands.end());
  return evaluate(op_named("Einsum"), EinsumAttrs{equation}, inputs, 1)[0].tensor();
}

TEST(Einsum, AgreesWithLoops) {
  const Case cases[] = {
      {"ij,jk->ik", {{2, 3}, {3, 4}}, {"ij", "jk", "ik"}},
      {" i j , jk ", {{2, 3}, {3, 4}}, {"ij", "jk", "ik"}},
      {"ba", {{2, 3}}, {"ba", "ab"}},
      {"bA->Ab", {{2, 3}}, {"bA", "Ab"}},
      {"aB", {{2, 3}}, {"aB", "Ba"}},  // capitals first
      {"ii", {{3, 3}}, {"ii", ""}},
      {"iij->ji", {{3, 3, 2}}, {"iij", "ji"}},
      {"...ij,...jk", {{2, 1, 2, 3}, {1, 5, 3, 2}}, {"xyij", "xyjk", "xyik"}},
      {"a...b->b...a", {{2, 3, 4, 5}}, {"axyb", "bxya"}},
      {"a...->a", {{2, 3, 4}}, {"axy", "a"}},
      {"...->...", {{2, 3}}, {"xy", "xy"}},
      {"ab,bc,cd,a->d", {{2, 3}, {3, 4}, {4, 2}, {2}}, {"ab", "bc", "cd", "a", "d"}},
      {",i->i", {{}, {3}}, {"", "i", "i"}},
      {"ij,ij->", {{2, 3}, {2, 3}}, {"ij", "ij", ""}},
      {"ij,ij->ij", {{1, 3}, {2, 1}}, {"ij", "ij", "ij"}},
      {"ij,jk->ik", {{2, 0}, {0, 3}}, {"ij", "jk", "ik"}},
      {"i,j->ji", {{2}, {3}}, {"i", "j", "ji"}},
  };
  for (const Case& c : cases) {
    std::vector<Tensor> operands;
    for (const Shape& shape : c.shapes)
      operands.push_back(counting(shape));
    EXPECT_EQ(einsum(c.equation, operands), by_loops(c, operands)) << c.equation;
  }
}

TEST(Einsum, RejectsBrokenEquations) {
  const std::pair<const char*, std::vector<size_t>> cases[] = {
      {"ij,jk->ik", {2}},    {"ij->ik", {2}},   {"ij->ii", {2}},  {"i1", {2}},
      {"i..j", {3}},         {"......", {3}},   {"ij", {3}},      {"...ij", {1}},
      {"...i,...j", {2, 3}}, {"ij->i->j", {2}}, {"ij->i,j", {2}}, {"i\xc3\xa9", {3}},
  };
  for (const auto& [equation, ranks] : cases) {
    EXPECT_THROW(parse_einsum(equation, ranks), Error) << equation;
  }
  EXPECT_THROW(einsum("ij,jk", {counting({2, 3}), counting({4, 2})}), Error);
  EXPECT_THROW(einsum("ii", {counting({2, 3})}), Error);
}

}  // namespace
}  // namespace sardonyx::ops
