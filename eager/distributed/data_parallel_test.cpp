// Every rank runs all of these, started by mpirun with some number of ranks.
#include "eager/distributed/data_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/distributed/ranks_for_test.h"
#include "eager/functional/functional.h"
#include "eager/generator.h"
#include "eager/nn.h"
#include "eager/optim.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager::distributed {
namespace {

struct Perceptron : nn::Layer<Perceptron> {
  nn::Linear first = add("first", nn::Linear(5, 16));
  nn::Linear second = add("second", nn::Linear(16, 16));
  nn::Linear last = add("last", nn::Linear(16, 3));
  Tensor forward(const Tensor& x) const { return last(relu(second(relu(first(x))))); }
};

Tensor loss_of(const Tensor& scores, int step, int rank) {
  const Tensor difference = scores - batch_of(step + 50, rank, 3);
  return (difference * difference).mean();
}

// What one process does with as many accumulation steps as there are ranks.
void reference_step(const Perceptron& model, optim::Optimizer& optimizer, int step) {
  optimizer.zero_grad();
  for (int rank = 0; rank < world().size(); ++rank)
    loss_of(model(batch_of(step, rank, 5)), step, rank).backward();
  const auto ranks = static_cast<float>(world().size());
  for (const Tensor& parameter : model.parameters())
    parameter.set_grad(parameter.grad() / Tensor::scalar(ranks));
  optimizer.step();
}

void check_equals_accumulation(const DataParallelOptions& options, size_t buckets) {
  manual_seed(1);
  const Perceptron reference;
  manual_seed(1 + static_cast<uint64_t>(world().rank()));  // rank 0's values count
  const DataParallel model(Perceptron(), world(), options);
  EXPECT_EQ(model.reducer().bucket_count(), world().size() > 1 ? buckets : 0);
  EXPECT_EQ(model.reducer().uses_host_memory(), world().size() > 1 && options.host_memory);
  optim::Adam adam(model.parameters(), {.lr = 0.01}), other(reference.parameters(), {.lr = 0.01});
  for (int step = 0; step < 4; ++step) {
    adam.zero_grad();
    loss_of(model(batch_of(step, world().rank(), 5)), step, world().rank()).backward();
    adam.step();
    reference_step(reference, other, step);
  }
  expect_same_bits(model.module(), reference);
}

TEST(DataParallelTest, EqualsAccumulationBitForBit) {
  check_equals_accumulation({}, 1);
}

TEST(DataParallelTest, EqualsAccumulationInManyBuckets) {
  // last.bias with last.weight; second.bias with second.weight; first.bias with first.weight.
  check_equals_accumulation({.bucket_bytes = 100, .first_bucket_bytes = 100}, 3);
  check_equals_accumulation({.bucket_bytes = 1, .first_bucket_bytes = 1}, 6);
}

TEST(DataParallelTest, EqualsAccumulationWhereGradientsAreSent) {
  check_equals_accumulation({.host_memory = false}, 1);
  check_equals_accumulation({.bucket_bytes = 1, .first_bucket_bytes = 1, .host_memory = false}, 6);
}

// Each rank keeps the means of another number of steps: all stay as they were, also when the
// DataParallel that made them is gone.
TEST(DataParallelTest, GradientsOfEarlierStepsMayBeHeld) {
  for (const bool host_memory : {true, false}) {
    manual_seed(1);
    const Perceptron reference;
    std::vector<std::vector<Tensor>> kept;
    std::vector<std::vector<std::vector<float>>> expected;
    {
      manual_seed(1);
      const DataParallel model(Perceptron(), world(), {.host_memory = host_memory});
      optim::SGD sgd(model.parameters(), {.lr = 0.1}), other(reference.parameters(), {.lr = 0.1});
      for (int step = 0; step < 7; ++step) {
        sgd.zero_grad();
        loss_of(model(batch_of(step, world().rank(), 5)), step, world().rank()).backward();
        sgd.step();
        reference_step(reference, other, step);
        kept.emplace_back();
        expected.emplace_back();
        for (size_t i = 0; i < model.parameters().size(); ++i) {
          kept.back().push_back(model.parameters()[i].grad());
          const auto mean = reference.parameters()[i].grad().data().values<float>();
          expected.back().emplace_back(mean.begin(), mean.end());
        }
        if (std::ssize(kept) <= world().rank()) continue;
        kept.erase(kept.begin());
        expected.erase(expected.begin());
      }
      expect_same_bits(model.module(), reference);
    }
    for (size_t step = 0; step < kept.size(); ++step) {
      for (size_t i = 0; i < kept[step].size(); ++i)
        EXPECT_THAT(kept[step][i].data().values<float>(),
                    testing::ElementsAreArray(expected[step][i]));
    }
  }
}

TEST(DataParallelTest, FastIsClose) {
  manual_seed(1);
  const Perceptron reference;
  manual_seed(1);
  const DataParallel model(Perceptron(), world(),
                           {.reduction = Reduction::kFast, .host_memory = false});
  optim::SGD sgd(model.parameters(), {.lr = 0.1}), other(reference.parameters(), {.lr = 0.1});
  for (int step = 0; step < 3; ++step) {
    sgd.zero_grad();
    loss_of(model(batch_of(step, world().rank(), 5)), step, world().rank()).backward();
    sgd.step();
    reference_step(reference, other, step);
  }
  const auto ours = model.parameters(), theirs = reference.parameters();
  for (size_t i = 0; i < ours.size(); ++i) {
    const auto a = ours[i].data().to_doubles(), b = theirs[i].data().to_doubles();
    for (size_t j = 0; j < a.size(); ++j)
      EXPECT_NEAR(a[j], b[j], 1e-5);
  }
}

// Sums of local gradients, then one mean over the ranks.
TEST(DataParallelTest, NoSyncAccumulates) {
  manual_seed(7);
  const DataParallel model(Perceptron(), world());
  const auto local_sum = [&](int rank) {
    model.module().zero_grad();
    for (int step = 0; step < 3; ++step)
      loss_of(model.module()(batch_of(step, rank, 5)), step, rank).backward();
    std::vector<Tensor> sums;
    for (const Tensor& parameter : model.parameters())
      sums.push_back(parameter.grad());
    return sums;
  };
  std::vector<Tensor> expected;
  {
    const auto guard = model.no_sync();
    for (int rank = 0; rank < world().size(); ++rank) {
      const std::vector<Tensor> sums = local_sum(rank);
      for (size_t i = 0; i < sums.size(); ++i) {
        if (rank == 0)
          expected.push_back(sums[i]);
        else
          expected[i] = expected[i] + sums[i];
      }
    }
    model.module().zero_grad();
    for (int step = 0; step < 2; ++step)
      loss_of(model(batch_of(step, world().rank(), 5)), step, world().rank()).backward();
  }
  loss_of(model(batch_of(2, world().rank(), 5)), 2, world().rank()).backward();
  const auto ranks = static_cast<float>(world().size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(model.parameters()[i].grad().data() == (expected[i] / Tensor::scalar(ranks)).data())
        << i;
  }
}

struct TwoHeads : nn::Layer<TwoHeads> {
  nn::Linear body = add("body", nn::Linear(5, 4));
  nn::Linear even = add("even", nn::Linear(4, 3));
  nn::Linear odd = add("odd", nn::Linear(4, 3));
  nn::Linear never = add("never", nn::Linear(4, 3));
  Tensor forward(const Tensor& x, bool is_odd) const {
    const Tensor hidden = relu(body(x));
    return is_odd ? odd(hidden) : even(hidden);
  }
};

TEST(DataParallelTest, UnusedParametersCountAsZeros) {
  manual_seed(3);
  const DataParallel model(TwoHeads(), world(), {.find_unused_parameters = true});
  const bool is_odd = world().rank() % 2 == 1;
  for (int round = 0; round < 2; ++round) {
    model.module().zero_grad();
    model(batch_of(0, 0, 5), is_odd).sum().backward();
  }
  EXPECT_FALSE(model.module().never.weight.grad().defined());
  const int ranks = world().size(), odd_ranks = ranks / 2;
  // d(sum)/d(bias) is the number of rows, 6, on the ranks that use the head.
  const Tensor even = model.module().even.bias.grad(), odd = model.module().odd.bias.grad();
  EXPECT_FLOAT_EQ(even.to_vector<float>()[0],
                  6.0f * static_cast<float>(ranks - odd_ranks) / static_cast<float>(ranks));
  ASSERT_EQ(odd.defined(), ranks > 1);
  if (ranks > 1) {
    EXPECT_FLOAT_EQ(odd.to_vector<float>()[0],
                    6.0f * static_cast<float>(odd_ranks) / static_cast<float>(ranks));
  }
}

// Rank r has 2 + r batches; who has none left takes part with zeros.
TEST(DataParallelTest, UnevenInputs) {
  manual_seed(1);
  const Perceptron reference;
  manual_seed(1);
  for (const bool find_unused : {false, true}) {
    const DataParallel model(Perceptron(), world(),
                             {.first_bucket_bytes = 100, .find_unused_parameters = find_unused});
    model.module().load_state_dict(reference.state_dict());
    Perceptron alone;
    alone.load_state_dict(reference.state_dict());
    optim::Adam adam(model.parameters(), {.lr = 0.01}), other(alone.parameters(), {.lr = 0.01});
    const auto has_batch = [](int step, int rank) { return step < 2 + rank; };
    int steps = 0;
    for (; model.reducer().any_has_batch(has_batch(steps, world().rank())); ++steps) {
      adam.zero_grad();
      if (has_batch(steps, world().rank()))
        loss_of(model(batch_of(steps, world().rank(), 5)), steps, world().rank()).backward();
      else
        model.reducer().step_without_batch();
      adam.step();
      other.zero_grad();
      for (int rank = 0; rank < world().size(); ++rank) {
        if (has_batch(steps, rank))
          loss_of(alone(batch_of(steps, rank, 5)), steps, rank).backward();
      }
      for (const Tensor& parameter : alone.parameters())
        parameter.set_grad(parameter.grad() / Tensor::scalar(static_cast<float>(world().size())));
      other.step();
    }
    EXPECT_EQ(steps, 1 + world().size());
    expect_same_bits(model.module(), alone);
  }
}

TEST(DataParallelTest, UnusedParametersAreAnErrorOtherwise) {
  if (world().size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  const DataParallel model(TwoHeads(), world());
  const std::string message = message_of([&] { model(batch_of(0, 0, 5), false).sum().backward(); });
  EXPECT_THAT(message, testing::HasSubstr("no gradient for 4 of 8 parameters: 'odd.weight'"));
  EXPECT_THAT(message, testing::HasSubstr("find_unused_parameters"));
  world().barrier();
}

struct Odd : nn::Layer<Odd> {
  explicit Odd(int64_t width) : second(add("second", nn::Linear(4, width))) {}
  nn::Linear first = add("first", nn::Linear(4, 4));
  nn::Linear second;
};

TEST(DataParallelTest, DifferentModulesAreNamed) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const int64_t width = world().rank() == world().size() - 1 ? 5 : 3;
  const std::string message = message_of([&] { const DataParallel model(Odd(width), world()); });
  EXPECT_THAT(message, testing::HasSubstr("tensor 2 is parameter 'second.weight' float[3, 4] on "
                                          "rank 0, but parameter 'second.weight' float[5, 4]"));
  EXPECT_THAT(message, testing::HasSubstr("on rank " + std::to_string(world().size() - 1)));
}

TEST(DataParallelTest, BuffersAreThoseOfTheFirstRank) {
  const DataParallel model(Counting(), world());
  for (int step = 0; step < 3; ++step)
    model(batch_of(step, 0, 5)).sum().backward();
  // The last call adds the rank's own number to what rank 0 had.
  const float expected = 3.0f + static_cast<float>(world().rank());
  EXPECT_FLOAT_EQ(model.module().count.item<float>(), world().size() == 1 ? 3.0f : expected);
}

// Half the bytes on the wire: the same bits on all ranks, and means that are off by what 8 bits
// leave out.
TEST(DataParallelTest, GradientsInBFloat16) {
  manual_seed(1);
  const Perceptron reference;
  manual_seed(1);
  const DataParallel model(Perceptron(), world(), {.bfloat16_gradients = true});
  loss_of(model(batch_of(0, world().rank(), 5)), 0, world().rank()).backward();
  optim::SGD unused(reference.parameters(), {.lr = 0});
  reference_step(reference, unused, 0);
  bool is_rounded = true;
  for (size_t i = 0; i < model.parameters().size(); ++i) {
    const Tensor ours = model.parameters()[i].grad(), theirs = reference.parameters()[i].grad();
    const auto a = ours.data().to_doubles(), b = theirs.data().to_doubles();
    const double greatest = theirs.abs().amax().item<double>();
    for (size_t j = 0; j < a.size(); ++j)
      EXPECT_NEAR(a[j], b[j], greatest / 128) << i;
    is_rounded = is_rounded && ours.to(DType::kBFloat16).to(DType::kFloat).data() == ours.data();
    const std::string bytes(static_cast<const char*>(ours.data().raw()), ours.data().bytes());
    for (const std::string& there : world().all_gather(bytes))
      EXPECT_EQ(there, bytes) << i;
  }
  EXPECT_EQ(is_rounded, world().size() > 1);
}

TEST(DataParallelTest, ClippedByTheNormOverAllRanks) {
  manual_seed(1);
  const Perceptron reference;
  manual_seed(1);
  const DataParallel model(Perceptron(), world());
  loss_of(model(batch_of(0, world().rank(), 5)), 0, world().rank()).backward();
  optim::SGD unused(reference.parameters(), {.lr = 0});
  reference_step(reference, unused, 0);
  const Tensor norm = optim::clip_grad_norm(model.parameters(), 0.01);
  EXPECT_EQ(norm.item<float>(), optim::clip_grad_norm(reference.parameters(), 0.01).item<float>());
  EXPECT_GT(norm.item<float>(), 0.01f);
  for (size_t i = 0; i < model.parameters().size(); ++i) {
    EXPECT_TRUE(model.parameters()[i].grad().data() == reference.parameters()[i].grad().data());
  }
}

TEST(ProcessGroupTest, AllReduce) {
  const auto rank = static_cast<float>(world().rank());
  const auto ranks = static_cast<float>(world().size());
  std::vector<float> values, sums;
  for (int i = 0; i < 7; ++i) {  // no multiple of the ranks
    values.push_back(rank + static_cast<float>(i));
    sums.push_back(ranks * (ranks - 1) / 2 + ranks * static_cast<float>(i));
  }
  for (const DType dtype : {DType::kFloat, DType::kDouble, DType::kFloat16, DType::kBFloat16,
                            DType::kInt32, DType::kInt64}) {
    for (const Reduction reduction : {Reduction::kRankOrder, Reduction::kFast}) {
      const Tensor reduced =
          world().all_reduce(floats(values, {7}).to(dtype), ReduceOp::kSum, reduction);
      EXPECT_EQ(reduced.to(DType::kFloat).to_vector<float>(), sums) << dtype;
    }
  }
  const Tensor x = floats({rank, -rank}, {2});
  EXPECT_EQ(world().all_reduce(x, ReduceOp::kMax).to_vector<float>(),
            (std::vector<float>{ranks - 1, 0}));
  EXPECT_EQ(world().all_reduce(x, ReduceOp::kMin).to_vector<float>(),
            (std::vector<float>{0, 1 - ranks}));
  EXPECT_EQ(world().all_reduce(x, ReduceOp::kMean).to_vector<float>()[0], (ranks - 1) / 2);
  EXPECT_EQ(world().all_reduce(floats({}, {0})).data().count(), 0);
  EXPECT_THAT(message_of([] { world().all_reduce(zeros({2}, {.dtype = DType::kUInt8})); }),
              testing::HasSubstr("uint8"));
  EXPECT_THAT(
      message_of([] { world().all_reduce(zeros({2}, {.dtype = DType::kInt64}), ReduceOp::kMean); }),
      testing::HasSubstr("a mean of type int64"));
}

// Rounded after each addition, in the order of the ranks.
TEST(ProcessGroupTest, SumsAreThoseOfOneProcess) {
  std::vector<Tensor> by_rank;
  for (int rank = 0; rank < world().size(); ++rank) {
    std::vector<float> values;
    for (int i = 0; i < 1001; ++i)
      values.push_back(std::sin(static_cast<float>(i * 31 + rank * 7)) * std::pow(10.0f, i % 9));
    by_rank.push_back(floats(values, {1001}));
  }
  for (const DType dtype : {DType::kFloat, DType::kBFloat16, DType::kFloat16}) {
    Tensor expected = by_rank[0].to(dtype);
    for (int rank = 1; rank < world().size(); ++rank)
      expected = expected + by_rank[static_cast<size_t>(rank)].to(dtype);
    const Tensor own = by_rank[static_cast<size_t>(world().rank())].to(dtype);
    EXPECT_TRUE(world().all_reduce(own).data() == expected.data()) << dtype;
  }
}

TEST(ProcessGroupTest, BroadcastAndGather) {
  const int last = world().size() - 1;
  const Tensor a = floats({static_cast<float>(world().rank()), 2}, {2});
  const Tensor b = Tensor::scalar<int64_t>(10 * world().rank());
  world().broadcast(std::vector<Tensor>{a, b}, last);
  EXPECT_EQ(a.to_vector<float>()[0], static_cast<float>(last));
  EXPECT_EQ(b.item<int64_t>(), 10 * last);
  EXPECT_THROW(world().broadcast(std::vector<Tensor>{a}, world().size()), Error);
  const std::string own(static_cast<size_t>(world().rank()), 'x');
  const std::vector<std::string> all = world().all_gather(own);
  ASSERT_EQ(static_cast<int>(all.size()), world().size());
  for (size_t rank = 0; rank < all.size(); ++rank)
    EXPECT_EQ(all[rank].size(), rank);
}

TEST(ProcessGroupTest, VariablesAsOfTorch) {
  EXPECT_EQ(std::getenv("RANK"), std::to_string(world().rank()));
  EXPECT_EQ(std::getenv("WORLD_SIZE"), std::to_string(world().size()));
  EXPECT_NE(std::getenv("LOCAL_RANK"), nullptr);
}

}  // namespace
}  // namespace sardonyx::eager::distributed
