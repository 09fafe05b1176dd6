// Einsum by products against the reference, for equations of all kinds.
#include <gtest/gtest.h>

#include <random>

#include "ir/core/dtype_convert.h"
#include "ir/kernel.h"
#include "ir/reference_evaluator.h"
#include "ir/type.h"
#include "providers/cpu/provider.h"
#include "providers/onednn/provider.h"

namespace sardonyx::einsum {
namespace {

struct EinsumCase {
  std::string equation;
  std::vector<Shape> shapes;
};

Tensor drawn(const Shape& shape, DType dtype, std::mt19937& random) {
  Tensor made = Tensor::allocate(dtype, shape);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t i = 0; i < made.count(); ++i) {
    const double value = uniform(random);
    store_numbers(dtype, made.raw(), i, 1, &value);
  }
  return made;
}

// The kernel's name; expects its result to be the reference's.
std::string check(const EinsumCase& c, DType dtype, int threads = 1) {
  SCOPED_TRACE(c.equation);
  std::mt19937 random(7);
  const OpDef& op = op_named("Einsum");
  const Attrs attrs = Attrs::parse(*op.attrs, {{"equation", c.equation}});
  std::vector<Tensor> inputs;
  std::vector<Datum> data;
  std::vector<KernelTensor> described;
  for (const Shape& shape : c.shapes) {
    inputs.push_back(drawn(shape, dtype, random));
    data.emplace_back(inputs.back());
    described.push_back({dtype, shape, nullptr, nullptr});
  }
  const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
  const KernelTensor output{dtype, expected.shape(), nullptr, nullptr};
  const Provider* const providers[] = {&onednn_provider(), &cpu_provider()};
  const Prepared prepared =
      prepare_kernel(providers, {op, attrs, described, {&output, 1}, threads});
  Tensor got = Tensor::allocate(dtype, expected.shape());
  std::vector<const void*> pointers;
  for (const Tensor& input : inputs)
    pointers.push_back(input.raw());
  void* out = got.raw();
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes() + 1);
  prepared.kernel->run({pointers.data(), &out, scratch->data()});
  const std::vector<double> a = expected.to_doubles(), b = got.to_doubles();
  const double tolerance = dtype == DType::kFloat ? 2e-5 : 1e-13;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) > tolerance * (1 + std::abs(a[i]))) {
      ADD_FAILURE() << "element " << i << ": " << b[i] << ", expected " << a[i];
      break;
    }
  }
  return prepared.implementation;
}

TEST(EinsumProducts, EquationsOfAllKinds) {
  const EinsumCase cases[] = {
      {"ij,jk->ik", {{5, 7}, {7, 3}}},
      {"ij,kj->ik", {{5, 7}, {3, 7}}},
      {"ji,jk->ik", {{7, 5}, {7, 3}}},
      {"ji,kj->ki", {{7, 5}, {3, 7}}},
      {"bij,bjk->bik", {{4, 5, 7}, {4, 7, 3}}},
      {"bij,bkj->bki", {{4, 5, 7}, {4, 3, 7}}},
      {"bnd,de->bne", {{4, 5, 7}, {7, 3}}},
      {"bnd,bne->de", {{4, 5, 7}, {4, 5, 3}}},
      {"bhqd,bhkd->bhqk", {{2, 3, 5, 7}, {2, 3, 4, 7}}},
      {"bqhd,bkhd->bhqk", {{2, 5, 3, 7}, {2, 4, 3, 7}}},
      {"bhqk,bkhd->bqhd", {{2, 3, 5, 4}, {2, 4, 3, 7}}},
      {"i,i->", {{9}, {9}}},
      {"i,j->ij", {{9}, {4}}},
      {"i,j->ji", {{9}, {4}}},
      {"ij,ij->ij", {{5, 7}, {5, 7}}},
      {"ij,j->i", {{5, 7}, {7}}},
      {"ij,j->ij", {{5, 7}, {7}}},
      {"ij,ik->ijk", {{5, 7}, {5, 3}}},
      {"ij,jk,kl->il", {{5, 7}, {7, 3}, {3, 4}}},
      {"ab,bc,cd->da", {{2, 3}, {3, 4}, {4, 2}}},
      {"...i,kij,...j->...k", {{2, 3, 5}, {4, 5, 6}, {2, 3, 6}}},
      {"...ij,...jk", {{2, 1, 5, 7}, {1, 3, 7, 4}}},
      {"ijk,jil->kl", {{2, 3, 4}, {3, 2, 5}}},
      {"ijk,ijl->kl", {{2, 3, 4}, {2, 3, 5}}},
      {"ijx,jk->ik", {{5, 7, 2}, {7, 3}}},
      {"iij,jk->ik", {{5, 5, 7}, {7, 3}}},
      {"ii,ij->j", {{5, 5}, {5, 3}}},
      {"iix,jj->xj", {{3, 3, 2}, {4, 4}}},
      {"ij,jk->ik", {{5, 1}, {7, 3}}},
      {"ij,jk->ik", {{1, 7}, {7, 1}}},
      {",ij->ji", {{}, {5, 7}}},
      {"ij->ji", {{5, 7}}},
      {"ij->j", {{5, 7}}},
      {"ijk->ki", {{5, 7, 3}}},
      {"bijd,bjkd->bikd", {{2, 3, 4, 5}, {2, 4, 6, 5}}},
  };
  for (const EinsumCase& c : cases) {
    for (const DType dtype : {DType::kFloat, DType::kDouble})
      EXPECT_EQ(check(c, dtype), "products") << c.equation;
  }
}

TEST(EinsumProducts, WhatIsLeftToTheReference) {
  EXPECT_EQ(check({"ii->i", {{5, 5}}}, DType::kFloat), "reference");
  EXPECT_EQ(check({"ii", {{5, 5}}}, DType::kFloat), "reference");
  EXPECT_EQ(check({"ij->ij", {{5, 4}}}, DType::kFloat), "reference");
  EXPECT_EQ(check({"ij,jk->ik", {{5, 0}, {0, 3}}}, DType::kFloat), "reference");
  EXPECT_EQ(check({"ij,jk->ik", {{5, 2}, {2, 3}}}, DType::kInt64), "reference");
}

// Two or three operands over a few indices, some of size 1 in one of them.
TEST(EinsumProducts, RandomEquations) {
  std::mt19937 random(3);
  const auto below = [&](int limit) { return static_cast<int>(random() % uint32_t(limit)); };
  for (int round = 0; round < 400; ++round) {
    int64_t sizes[5];
    for (int64_t& size : sizes)
      size = 1 + below(4);
    EinsumCase c;
    std::string seen;
    const int operands = 2 + below(2);
    for (int i = 0; i < operands; ++i) {
      if (i > 0) c.equation += ',';
      Shape& shape = c.shapes.emplace_back();
      const int rank = below(5);
      std::string own;
      for (int axis = 0; axis < rank; ++axis) {
        const int label = below(5);
        const char letter = static_cast<char>('a' + label);
        // A diagonal has one size throughout.
        const bool is_repeated = own.find(letter) != own.npos;
        shape.push_back(!is_repeated && below(8) == 0 ? 1 : sizes[label]);
        if (is_repeated) shape.back() = shape[own.find(letter)];
        own += letter;
        if (seen.find(letter) == seen.npos) seen += letter;
      }
      c.equation += own;
    }
    std::shuffle(seen.begin(), seen.end(), random);
    c.equation +=
        "->" + seen.substr(0, static_cast<size_t>(below(static_cast<int>(seen.size()) + 1)));
    check(c, round % 2 == 0 ? DType::kFloat : DType::kDouble, 1 + round % 2);
  }
}

}  // namespace
}  // namespace sardonyx::einsum
