#include "eager/distributed/exchanged_tensors.h"

#include <gmock/gmock.h>

#include <bit>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/distributed/ranks_for_test.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"

namespace sardonyx::eager::distributed {
namespace {

Tensor embeddings_of(int rank) {
  return nn::normalize(batch_of(0, rank, 5));
}

// Each rank's rows against those of all ranks; `first` is the number of its first row.
Tensor contrastive_loss(const Tensor& own, const Tensor& all, int64_t first) {
  const Tensor labels = arange(own.size(0)) + first;
  return nn::cross_entropy(matmul(own, all.t()) / 0.1, labels);
}

void expect_near(const Tensor& ours, const Tensor& theirs) {
  EXPECT_TRUE(allclose(ours, theirs, {.rtol = 1e-4, .atol = 1e-6}));
}

// What one process computes that has the rows of all: the sum of the ranks' losses.
Tensor gradient_in_one_process() {
  std::vector<Tensor> parts;
  for (int rank = 0; rank < world().size(); ++rank)
    parts.push_back(embeddings_of(rank).detach());
  const Tensor all = cat(parts).set_requires_grad();
  Tensor total = zeros({});
  for (int64_t rank = 0; rank < world().size(); ++rank)
    total = total + contrastive_loss(all.slice(0, {6 * rank, 6 * rank + 6}), all, 6 * rank);
  const int64_t first = 6 * int64_t{world().rank()};
  return grad({total}, {all})[0].slice(0, {first, first + 6});
}

TEST(ExchangedTensorsTest, ContrastiveLossOverAllRanks) {
  const int64_t first = 6 * int64_t{world().rank()};
  const Tensor own = embeddings_of(world().rank()).detach().set_requires_grad();
  const Tensor expected = gradient_in_one_process();
  const auto step = [&](const Tensor& x) {
    own.zero_grad();
    contrastive_loss(x, gathered_from_ranks(x, world()).flatten(0, 1), first).backward();
    return own.grad();
  };
  expect_near(step(own), expected);
  expect_near(compile([&](const Tensor&) { return step(own); })(zeros({1})), expected);
}

TEST(ExchangedTensorsTest, AllTypesInOrder) {
  for (const DType dtype : {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64}) {
    const Tensor own = full({2}, world().rank() - 1, {.dtype = dtype});
    const Tensor all = gathered_from_ranks(own, world());
    EXPECT_EQ(all.shape(), (Dims{world().size(), 2}));
    for (int rank = 0; rank < world().size(); ++rank)
      EXPECT_TRUE(equal(all.select(0, rank), full({2}, rank - 1, {.dtype = dtype})));
  }
}

// Gathered values are moved, not computed with: a -0 and a NaN's payload arrive as they were sent.
TEST(ExchangedTensorsTest, EveryBitOfEveryType) {
  const auto payload = static_cast<float>(std::bit_cast<float>(uint32_t{0x7fc01234}));
  const Tensor own = tensor({-0.f, payload, 1.f + static_cast<float>(world().rank())});
  const auto words_of = [](const Tensor& x) {
    std::vector<uint32_t> words;
    for (const float element : x.to_vector<float>())
      words.push_back(std::bit_cast<uint32_t>(element));
    return words;
  };
  const Tensor compiled =
      compile([&](const Tensor& x) { return gathered_from_ranks(x, world()); })(own);
  for (const Tensor& all : {gathered_from_ranks(own, world()), compiled}) {
    for (int rank = 0; rank < world().size(); ++rank) {
      const float last = 1.f + static_cast<float>(rank);
      EXPECT_EQ(words_of(all.select(0, rank)),
                (std::vector<uint32_t>{0x80000000, 0x7fc01234, std::bit_cast<uint32_t>(last)}));
    }
  }
  for (const DType dtype : {DType::kBool, DType::kUInt8, DType::kBFloat16}) {
    const Tensor all = gathered_from_ranks(full({1}, world().rank(), {.dtype = dtype}), world());
    for (int rank = 0; rank < world().size(); ++rank)
      EXPECT_TRUE(equal(all.select(0, rank), full({1}, rank, {.dtype = dtype})));
  }
  EXPECT_EQ(gathered_from_ranks(zeros({0, 2}), world()).shape(), (Dims{world().size(), 0, 2}));
}

TEST(ExchangedTensorsTest, SecondDerivatives) {
  const Tensor own = tensor({1.0 + world().rank()}).set_requires_grad();
  const Tensor all = gathered_from_ranks(own, world());
  // Every rank's loss has the cube of every rank's x: their sum has it `ranks` times.
  const double x = 1.0 + world().rank(), ranks = world().size();
  const Tensor first = grad({(all * all * all).sum()}, {own}, {.create_graph = true})[0];
  EXPECT_EQ(first.to_vector<double>(), (std::vector<double>{3 * x * x * ranks}));
  const Tensor second = grad({first.sum()}, {own})[0];
  EXPECT_EQ(second.to_vector<double>(), (std::vector<double>{6 * x * ranks}));
}

}  // namespace
}  // namespace sardonyx::eager::distributed
