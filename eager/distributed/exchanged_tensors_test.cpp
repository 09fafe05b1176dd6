#include "eager/distributed/exchanged_tensors.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace sardonyx::eager::distributed
