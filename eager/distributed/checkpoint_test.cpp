#include "eager/distributed/checkpoint.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "eager/create.h"
#include "eager/distributed/data_parallel.h"
#include "eager/distributed/ranks_for_test.h"
#include "eager/distributed/sharded_optimizer.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/optim.h"

namespace sardonyx::eager::distributed {
namespace {

namespace fs = std::filesystem;

// One for all ranks.
class SharedFolder {
 public:
  SharedFolder() {
    std::string name;
    if (world().rank() == 0) {
      name = (fs::temp_directory_path() / "checkpoints-XXXXXX").string();
      if (!mkdtemp(name.data())) name.clear();
    }
    path_ = world().all_gather(name)[0];
  }
  ~SharedFolder() {
    world().barrier();
    if (world().rank() == 0) fs::remove_all(path_);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Noisy : nn::Layer<Noisy> {
  nn::Linear first = add("first", nn::Linear(3, 130));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(130));
  nn::Dropout dropout = add("dropout", nn::Dropout(0.3));
  nn::Linear last = add("last", nn::Linear(130, 2));
  Tensor forward(const Tensor& x) const { return last(dropout(tanh(norm(first(x))))); }
};

// Samples with random noise, as augmented images have it.
struct Samples : data::Dataset {
  int64_t size() const override { return 50; }
  data::Sample get(int64_t index) const override {
    return {full({3}, static_cast<double>(index) / 10) + randn({3})};
  }
};

// A run with all that a checkpoint holds.
struct TrainingRun {
  TrainingRun(bool is_sharded, uint64_t seed, int64_t batch = 4) {
    generator.manual_seed(seed + 10 * static_cast<uint64_t>(world().rank()));
    const UseGenerator own(generator);
    net = std::make_unique<DataParallel<Noisy>>(Noisy(), world());
    const auto make = [](const auto& parameters) { return optim::AdamW(parameters, {.lr = 0.01}); };
    if (is_sharded)
      optimizer = std::make_unique<ShardedOptimizer>(net->parameters(), world(), make);
    else
      optimizer = std::make_unique<optim::AdamW>(make(net->parameters()));
    schedule = std::make_unique<optim::StepLR>(*optimizer, 3, 0.5);
    sampler = std::make_shared<data::DistributedSampler>(50, world().size(), world().rank());
    loader = std::make_unique<data::DataLoader>(
        Samples(), data::LoaderOptions{.batch_size = batch, .drop_last = true, .sampler = sampler});
  }
  TrainingParts parts() {
    return {.module = net->module(),
            .optimizer = optimizer.get(),
            .loader = loader.get(),
            .sampler = sampler.get(),
            .generator = generator,
            .scheduler = schedule.get(),
            .others = {{"count", count}}};
  }
  // Until `last` steps are made; saves after step `saved`.
  void train(int64_t last, int64_t saved = -1, const Checkpoints* checkpoints = nullptr) {
    const UseGenerator own(generator);
    while (step < last) {
      for (const data::Sample& batch : *loader) {
        seen.push_back(batch[0].select(0, 0).select(0, 0).item<float>());
        optimizer->zero_grad();
        (*net)(batch[0]).square().mean().backward();
        optimizer->step();
        schedule->step();
        count.assign(count + Tensor::scalar(1.0f));
        if (++step == saved) checkpoints->save(step, parts());
        if (step == last) return;
      }
    }
  }

  Generator generator;
  std::unique_ptr<DataParallel<Noisy>> net;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<optim::Scheduler> schedule;
  std::shared_ptr<data::DistributedSampler> sampler;
  std::unique_ptr<data::DataLoader> loader;
  Tensor count = Tensor::scalar(0.0f);
  int64_t step = 0;
  std::vector<float> seen;
};

// Steps in all; they end within the third epoch, whatever the number of ranks.
int64_t epoch_steps() {
  return (50 + world().size() - 1) / world().size() / 4;
}

void check_resumed(bool is_sharded, int64_t saved) {
  const SharedFolder folder;
  const Checkpoints checkpoints(folder.path(), world());
  const int64_t last = 2 * epoch_steps() + 1;
  TrainingRun undisturbed(is_sharded, 1), stopped(is_sharded, 1), resumed(is_sharded, 999);
  undisturbed.train(last);
  stopped.train(saved + 1, saved, &checkpoints);
  EXPECT_EQ(checkpoints.steps(), std::vector<int64_t>{saved});
  const auto step = checkpoints.load_latest(resumed.parts());
  ASSERT_EQ(step, saved);
  resumed.step = *step;
  resumed.train(last);
  expect_same_bits(resumed.net->module(), undisturbed.net->module());
  EXPECT_TRUE(resumed.generator.get_state().data() == undisturbed.generator.get_state().data());
  EXPECT_EQ(resumed.count.item<float>(), static_cast<float>(last));
  EXPECT_EQ(resumed.optimizer->lr(), undisturbed.optimizer->lr());
  const std::vector<float> tail(undisturbed.seen.begin() + saved, undisturbed.seen.end());
  EXPECT_EQ(resumed.seen, tail);
}

TEST(CheckpointTest, GoesOnBitForBit) {
  for (const bool is_sharded : {false, true}) {
    check_resumed(is_sharded, 1);
    check_resumed(is_sharded, epoch_steps());  // at an epoch's end
    check_resumed(is_sharded, epoch_steps() + 1);
  }
}

// Of the epoch that was begun the rest comes, with batches of another size.
TEST(CheckpointTest, GoesOnWithOtherBatches) {
  const SharedFolder folder;
  const Checkpoints checkpoints(folder.path(), world());
  TrainingRun first(true, 1), other(false, 2, 2);
  first.train(2, 2, &checkpoints);
  ASSERT_EQ(checkpoints.load_latest(other.parts()), 2);
  expect_same_bits(other.net->module(), first.net->module());
  const int64_t taken = 2 * 4 * world().size();
  EXPECT_EQ(other.sampler->begin_of(0), taken);
  const std::vector<int64_t> left = other.sampler->order(0), whole = first.sampler->order(0);
  EXPECT_EQ(left, std::vector<int64_t>(whole.begin() + 8, whole.end()));
  // Saved and loaded once more, still within that epoch.
  other.step = 2;
  other.train(5, 3, &checkpoints);
  TrainingRun again(true, 3, 2);
  ASSERT_EQ(checkpoints.load_latest(again.parts()), 3);
  again.step = 3;
  again.train(5);
  expect_same_bits(again.net->module(), other.net->module());
}

TEST(CheckpointTest, KeepsTheLatestAndRemovesTheRest) {
  const SharedFolder folder;
  const Checkpoints checkpoints(folder.path(), world(), {.keep = 2});
  TrainingRun run(true, 1);
  EXPECT_EQ(checkpoints.load_latest(run.parts()), std::nullopt);
  for (const int64_t step : {1, 2, 30})
    checkpoints.save(step, run.parts());
  EXPECT_EQ(checkpoints.steps(), (std::vector<int64_t>{2, 30}));
  // What a run that was killed leaves is neither loaded nor kept.
  world().barrier();
  if (world().rank() == 0) fs::create_directories(folder.path() / "step-0000000040.writing");
  world().barrier();
  EXPECT_EQ(checkpoints.load_latest(run.parts()), 30);
  checkpoints.save(50, run.parts());
  EXPECT_FALSE(fs::exists(folder.path() / "step-0000000040.writing"));
  EXPECT_THAT(message_of([] { Checkpoints("x", world(), {.keep = 0}); }),
              testing::HasSubstr("keep at least 1"));
}

TEST(CheckpointTest, WhatFailsOnOneRankFailsOnAll) {
  const SharedFolder folder;
  const Checkpoints checkpoints(folder.path(), world());
  TrainingRun run(true, 1);
  checkpoints.save(1, run.parts());
  const fs::path share = folder.path() / "step-0000000001" /
                         ("optimizer-0-of-" + std::to_string(world().size()) + ".safetensors");
  ASSERT_TRUE(fs::exists(share));
  world().barrier();
  if (world().rank() == 0) std::ofstream(share) << "broken";
  world().barrier();
  EXPECT_THAT(message_of([&] { checkpoints.load_latest(run.parts()); }),
              testing::HasSubstr("optimizer-0-of-"));
  // A file where the folder should be.
  const fs::path blocked = folder.path() / "blocked";
  if (world().rank() == 0) std::ofstream(blocked) << "file";
  world().barrier();
  EXPECT_THAT(message_of([&] { Checkpoints(blocked, world()).save(1, run.parts()); }),
              testing::HasSubstr("blocked"));
}

}  // namespace
}  // namespace sardonyx::eager::distributed
