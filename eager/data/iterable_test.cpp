#include "eager/data/iterable.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <stdexcept>

#include "eager/create.h"
#include "eager/data/loader.h"
#include "eager/functional/functional.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::data {
namespace {

using Numbers = std::vector<int64_t>;
using Batches = std::vector<Numbers>;

// [0, count): part i of n gives those that are i modulo n.
class Counting : public IterableDataset {
 public:
  explicit Counting(int64_t count, int64_t parts = 0) : count_(count), parts_(parts) {}
  SampleStream stream(const WorkerInfo& part) const override {
    return [at = part.id, step = part.count, end = count_]() mutable -> std::optional<Sample> {
      if (at >= end) return std::nullopt;
      return Sample{Tensor::scalar(std::exchange(at, at + step))};
    };
  }
  int64_t parts() const override { return parts_; }

 private:
  int64_t count_, parts_;
};

Batches batches_of(DataLoader& loader) {
  Batches found;
  for (const Sample& batch : loader)
    found.push_back(batch[0].to_vector<int64_t>());
  return found;
}

TEST(IterableDataset, BatchesOfUnknownNumber) {
  DataLoader loader(Counting(7), {.batch_size = 3});
  EXPECT_EQ(batches_of(loader), (Batches{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(loader.position(), (DataPosition{1, 0}));
  DataLoader whole(Counting(7), {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(batches_of(whole), (Batches{{0, 1, 2}, {3, 4, 5}}));
  DataLoader none(Counting(0), {.workers = 2});
  EXPECT_TRUE(batches_of(none).empty());
  DataLoader reversed(Counting(4), {.batch_size = 2, .collate = [](std::span<const Sample> all) {
                                      return Sample{stack({all[1][0], all[0][0]})};
                                    }});
  EXPECT_EQ(batches_of(reversed), (Batches{{1, 0}, {3, 2}}));
}

TEST(IterableDataset, SamplesThatAreNotBatched) {
  DataLoader loader(Counting(3), {.batch_size = std::nullopt});
  Numbers seen;
  for (const Sample& sample : loader) {
    EXPECT_EQ(sample[0].rank(), 0u);
    seen.push_back(sample[0].item<int64_t>());
  }
  EXPECT_EQ(seen, (Numbers{0, 1, 2}));
  DataLoader by_number(TensorDataset({arange(3)}), {.batch_size = std::nullopt, .workers = 2});
  EXPECT_EQ(by_number.size(), 3);
  for (const Sample& sample : by_number)
    EXPECT_EQ(sample[0].rank(), 0u);
}

// As torch gives them: a part to each worker, their batches round-robin, each with a last one.
TEST(IterableDataset, OnePartToEachWorker) {
  DataLoader loader(Counting(9), {.batch_size = 2, .workers = 2});
  EXPECT_EQ(batches_of(loader), (Batches{{0, 2}, {1, 3}, {4, 6}, {5, 7}, {8}}));
  DataLoader three(Counting(7), {.batch_size = 2, .drop_last = true, .workers = 3});
  EXPECT_EQ(batches_of(three), (Batches{{0, 3}, {1, 4}, {2, 5}}));
}

TEST(IterableDataset, PartsOfItsOwnGiveOneOrderForAnyWorkers) {
  for (const int64_t parts : {1, 3, 5}) {
    DataLoader alone(Counting(23, parts), {.batch_size = 2});
    const Batches expected = batches_of(alone);
    Numbers all;
    for (const Numbers& batch : expected)
      all.insert(all.end(), batch.begin(), batch.end());
    std::ranges::sort(all);
    EXPECT_EQ(all, arange(23).to_vector<int64_t>());
    for (const int workers : {1, 2, 3, 4, 7}) {
      for (const int64_t prefetch : {0, 1, 4}) {
        DataLoader loader(Counting(23, parts),
                          {.batch_size = 2, .workers = workers, .prefetch = prefetch});
        EXPECT_EQ(batches_of(loader), expected) << parts << " parts, " << workers << " workers";
      }
    }
  }
}

// Draws when a part begins and at each sample.
class NoisyStream : public Counting {
 public:
  using Counting::Counting;
  SampleStream stream(const WorkerInfo& part) const override {
    const float first = rand({}).item<float>();
    return [first, numbers = Counting::stream(part)]() -> std::optional<Sample> {
      if (!numbers()) return std::nullopt;
      return Sample{rand({}) + first};
    };
  }
};

std::vector<float> noise_of(DataLoader& loader) {
  std::vector<float> all;
  for (const Sample& batch : loader) {
    for (const float value : batch[0].to_vector<float>())
      all.push_back(value);
  }
  return all;
}

TEST(IterableDataset, RandomNumbersOfSeedEpochAndPlace) {
  const LoaderOptions options{.batch_size = 2, .seed = 3};
  DataLoader alone(NoisyStream(10, 3), options);
  LoaderOptions with_workers = options, other_seed = options;
  with_workers.workers = 2;
  other_seed.seed = 4;
  DataLoader loader(NoisyStream(10, 3), with_workers), other(NoisyStream(10, 3), other_seed);
  const std::vector<float> first = noise_of(alone), second = noise_of(alone);
  EXPECT_EQ(std::set<float>(first.begin(), first.end()).size(), 10u);
  EXPECT_NE(first, second);
  EXPECT_NE(first, noise_of(other));
  EXPECT_EQ(noise_of(loader), first);
  EXPECT_EQ(noise_of(loader), second);
}

TEST(IterableDataset, GoesOnWithinAnEpoch) {
  for (const int workers : {0, 2}) {
    const LoaderOptions options{.batch_size = 2, .workers = workers};
    DataLoader whole(NoisyStream(11, 2), options), resumed(NoisyStream(11, 2), options);
    const std::vector<float> all = noise_of(whole), next = noise_of(whole);
    resumed.set_position({0, 2});
    EXPECT_EQ(noise_of(resumed), std::vector<float>(all.begin() + 4, all.end()));
    EXPECT_EQ(noise_of(resumed), next);
    resumed.set_position({1, 100});
    EXPECT_EQ(resumed.begin(), resumed.end());
  }
}

TEST(IterableDataset, ExceptionsEndTheirPart) {
  struct Faulty : Counting {
    Faulty() : Counting(100, 2) {}
    SampleStream stream(const WorkerInfo& part) const override {
      return [numbers = Counting::stream(part)]() -> std::optional<Sample> {
        std::optional<Sample> sample = numbers();
        if (sample && (*sample)[0].item<int64_t>() == 5) throw std::runtime_error("5 is broken");
        return sample;
      };
    }
  };
  for (const int workers : {0, 1, 2}) {
    DataLoader loader(Faulty(), {.batch_size = 2, .workers = workers});
    Batches seen;
    auto at = loader.begin();
    const auto read_on = [&] {
      for (; at != loader.end(); ++at)
        seen.push_back((*at)[0].to_vector<int64_t>());
    };
    EXPECT_THROW(read_on(), std::runtime_error);
    EXPECT_EQ(seen, (Batches{{0, 2}, {1, 3}, {4, 6}}));
    ++at;
    EXPECT_EQ((*at)[0].to_vector<int64_t>(), (Numbers{8, 10}));
  }
}

TEST(IterableDataset, WorkersWaitForTheLoopAndEndWithIt) {
  struct Endless : IterableDataset {
    std::shared_ptr<std::atomic<int64_t>> read = std::make_shared<std::atomic<int64_t>>(0);
    SampleStream stream(const WorkerInfo&) const override {
      return [read = read]() -> std::optional<Sample> { return Sample{Tensor::scalar(++*read)}; };
    }
  };
  const Endless endless;
  DataLoader loader(endless, {.batch_size = 4, .workers = 2, .prefetch = 2});
  int64_t batches = 0;
  for (const Sample& batch : loader) {
    EXPECT_EQ(batch[0].numel(), 4);
    if (++batches == 10) break;
  }
  // Each worker has up to two batches ready, and one in its hands.
  EXPECT_LE(*endless.read, (batches + 2 * 3) * 4);
}

TEST(IterableDataset, Sizes) {
  struct Known : Counting {
    Known() : Counting(10) {}
    std::optional<int64_t> size() const override { return 10; }
  };
  EXPECT_EQ(DataLoader(Known(), {.batch_size = 3}).size(), 4);
  EXPECT_EQ(DataLoader(Known(), {.batch_size = 3, .drop_last = true}).size(), 3);
  EXPECT_EQ(DataLoader(Known(), {.batch_size = 3}).sample_count(), 10);
  const auto known = std::make_shared<Known>();
  const auto counting = std::make_shared<Counting>(3);
  EXPECT_EQ(ChainDataset({known, known}).size(), 20);
  EXPECT_EQ(ChainDataset({known, counting}).size(), std::nullopt);
  EXPECT_EQ(ShuffleBuffer(known, 3).size(), 10);
}

TEST(ChainDataset, OneAfterTheOther) {
  const auto three = std::make_shared<Counting>(3), five = std::make_shared<Counting>(5);
  DataLoader loader(ChainDataset({three, five}), {.batch_size = 4});
  EXPECT_EQ(batches_of(loader), (Batches{{0, 1, 2, 0}, {1, 2, 3, 4}}));
  DataLoader shared(ChainDataset({three, five}), {.batch_size = 4, .workers = 2});
  EXPECT_EQ(batches_of(shared), (Batches{{0, 2, 0, 2}, {1, 1, 3}, {4}}));
}

TEST(ShuffleBuffer, OrdersOfSeedAndEpoch) {
  const auto counting = std::make_shared<Counting>(40, 2);
  const auto order_of = [](DataLoader& loader) {
    Numbers all;
    for (const Numbers& batch : batches_of(loader))
      all.insert(all.end(), batch.begin(), batch.end());
    return all;
  };
  DataLoader loader(ShuffleBuffer(counting, 8), {.batch_size = 4, .seed = 2});
  DataLoader other(ShuffleBuffer(counting, 8), {.batch_size = 4, .seed = 2, .workers = 2});
  const Numbers first = order_of(loader), second = order_of(loader);
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 40u);
  EXPECT_NE(first, second);
  EXPECT_EQ(order_of(other), first);
  EXPECT_EQ(order_of(other), second);
  // No sample comes before the buffer has reached it.
  for (size_t i = 0; i < 4; ++i)
    EXPECT_LT(first[i], 2 * (8 + static_cast<int64_t>(i)));
  DataLoader plain(ShuffleBuffer(std::make_shared<Counting>(5), 1), {.batch_size = 5});
  EXPECT_EQ(batches_of(plain), (Batches{{0, 1, 2, 3, 4}}));
}

TEST(IterableDataset, Refusals) {
  const auto counting = std::make_shared<Counting>(3);
  const auto sampler = std::make_shared<SequentialSampler>(3);
  const auto made = [&](const LoaderOptions& options) { DataLoader loader(counting, options); };
  struct Negative : Counting {
    Negative() : Counting(1, -1) {}
  };
  expect_refusals({
      {"DataLoader: expected a dataset", [] { DataLoader loader(IterableDatasetPtr(), {}); }},
      {"expected no shuffle for an IterableDataset", [&] { made({.shuffle = true}); }},
      {"expected no sampler for an IterableDataset", [&] { made({.sampler = sampler}); }},
      {"expected no batch_sampler for an IterableDataset",
       [&] { made({.batch_sampler = std::make_shared<BatchSampler>(sampler, 2)}); }},
      {"expected a batch_size for drop_last, got samples that are not batched",
       [&] { made({.batch_size = std::nullopt, .drop_last = true}); }},
      {"expected a batch_size for collate",
       [&] { made({.batch_size = std::nullopt, .collate = default_collate}); }},
      {"a positive batch_size and 0 to", [&] { made({.batch_size = 0}); }},
      {"does not know how many samples it has; override its size()",
       [&] { DataLoader(counting).size(); }},
      {"expected 0 or more parts, got -1", [] { DataLoader(Negative()).begin(); }},
      {"ChainDataset: expected one or more datasets", [] { ChainDataset chain({}); }},
      {"ChainDataset: expected one or more datasets", [] { ChainDataset chain({nullptr}); }},
      {"datasets of as many parts, got 0 and 2",
       [&] {
         ChainDataset chain({counting, std::make_shared<Counting>(3, 2)});
       }},
      {"a capacity of 1 or more, got capacity 0", [&] { ShuffleBuffer buffer(counting, 0); }},
      {"got no dataset", [] { ShuffleBuffer buffer(nullptr, 2); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::data
