// Samplers, and datasets made of others.
#include "eager/data/joined.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "eager/create.h"
#include "eager/data/loader.h"
#include "eager/functional/functional.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager::data {
namespace {

using Numbers = std::vector<int64_t>;

Numbers sorted(Numbers numbers) {
  std::ranges::sort(numbers);
  return numbers;
}
Numbers first_numbers(int64_t count) {
  Numbers numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(Samplers, Orders) {
  EXPECT_EQ(SequentialSampler(3).order(5), first_numbers(3));
  const RandomSampler all(20, {.seed = 3});
  EXPECT_EQ(sorted(all.order(0)), first_numbers(20));
  EXPECT_EQ(all.order(0), all.order(0));
  EXPECT_NE(all.order(0), all.order(1));
  const RandomSampler more(4, {.samples = 10});
  const Numbers order = more.order(2);
  ASSERT_EQ(order.size(), 10u);
  EXPECT_EQ(sorted({order.begin(), order.begin() + 4}), first_numbers(4));
  EXPECT_EQ(sorted({order.begin() + 4, order.begin() + 8}), first_numbers(4));
  const RandomSampler fewer(9, {.samples = 3});
  EXPECT_EQ(fewer.order(0).size(), 3u);
  const Numbers drawn = RandomSampler(5, {.replacement = true, .samples = 500}).order(0);
  for (int64_t i = 0; i < 5; ++i)
    EXPECT_NEAR(static_cast<double>(std::ranges::count(drawn, i)), 100, 40) << i;
  const SubsetRandomSampler some({7, 5, 9});
  EXPECT_EQ(sorted(some.order(1)), (Numbers{5, 7, 9}));
  EXPECT_TRUE(RandomSampler(0).order(0).empty());
}

TEST(Samplers, Weights) {
  const WeightedRandomSampler weighted({0, 1, 3, 0}, 4000);
  const Numbers drawn = weighted.order(0);
  EXPECT_EQ(std::ranges::count(drawn, 0) + std::ranges::count(drawn, 3), 0);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(drawn, 2)), 3000, 120);
  EXPECT_NE(weighted.order(1), drawn);
  // Without replacement: the heavier one comes first three times out of four.
  int firsts = 0;
  for (int64_t epoch = 0; epoch < 1000; ++epoch) {
    const Numbers order = WeightedRandomSampler({1, 0, 3}, 2, false).order(epoch);
    EXPECT_EQ(sorted(order), (Numbers{0, 2}));
    firsts += order[0] == 2;
  }
  EXPECT_NEAR(firsts, 750, 60);
}

TEST(Samplers, DrawBatchesOfALoader) {
  const auto numbers = std::make_shared<TensorDataset>(std::vector{arange(10)});
  const auto seen = [&](LoaderOptions options) {
    std::vector<Numbers> batches;
    for (const Sample& batch : DataLoader(numbers, options))
      batches.push_back(batch[0].to_vector<int64_t>());
    return batches;
  };
  const auto two = std::make_shared<SubsetRandomSampler>(Numbers{4, 4, 4});
  using Batches = std::vector<Numbers>;
  EXPECT_EQ(seen({.batch_size = 2, .sampler = two}), (Batches{{4, 4}, {4}}));
  EXPECT_EQ(seen({.batch_size = 2, .drop_last = true, .sampler = two}), (Batches{{4, 4}}));
  // Batches of one's own.
  struct Halves : BatchSampler {
    int64_t size() const override { return 2; }
    std::vector<Numbers> batches(int64_t) const override { return {{0, 2, 4}, {9}}; }
  };
  for (const int workers : {0, 2})
    EXPECT_EQ(seen({.workers = workers, .batch_sampler = std::make_shared<Halves>()}),
              (Batches{{0, 2, 4}, {9}}));
  DataLoader loader(numbers, {.batch_sampler = std::make_shared<Halves>()});
  EXPECT_EQ(loader.size(), 2);
}

TEST(Joined, DatasetsInARow) {
  const auto first = std::make_shared<TensorDataset>(std::vector{arange(3)});
  const auto none = std::make_shared<TensorDataset>(std::vector{arange(0)});
  const auto second = std::make_shared<TensorDataset>(std::vector{arange(2) + 10});
  const ConcatDataset all({first, none, second});
  ASSERT_EQ(all.size(), 5);
  Numbers seen;
  for (int64_t i = 0; i < 5; ++i)
    seen.push_back(all.get(i)[0].item<int64_t>());
  EXPECT_EQ(seen, (Numbers{0, 1, 2, 10, 11}));
  EXPECT_EQ(all.batch(Numbers{4, 0})[0].to_vector<int64_t>(), (Numbers{11, 0}));
}

TEST(Joined, TransformedAndCollated) {
  const auto pairs = std::make_shared<TensorDataset>(std::vector{arange(3), arange(3) * 2});
  const auto changed = std::make_shared<TransformedDataset>(
      pairs, [](const Tensor& x) { return x + 1; }, [](const Tensor& y) { return -y; });
  EXPECT_EQ(changed->get(2)[0].item<int64_t>(), 3);
  EXPECT_EQ(changed->get(2)[1].item<int64_t>(), -4);
  const CollatedDataset sums(changed, [](std::span<const Sample> samples) -> Sample {
    Tensor total = samples[0][0];
    for (const Sample& sample : samples.subspan(1))
      total = total + sample[0];
    return {total};
  });
  EXPECT_EQ(sums.batch(Numbers{0, 1, 2})[0].item<int64_t>(), 6);
  // Sequences of different lengths with a label each.
  const auto words = std::make_shared<FunctionDataset>(4, [](int64_t i) -> Sample {
    return {arange(i), Tensor::scalar(i)};
  });
  const CollatedDataset padded(
      words, [](std::span<const Sample> samples) { return pad_to_longest(samples, -1); });
  const auto fill = [](std::span<const Sample> samples) { return pad_to_longest(samples, -1); };
  for (const int workers : {0, 2}) {
    DataLoader loader(words, {.batch_size = 4, .workers = workers, .collate = fill});
    for (const Sample& all : loader)
      EXPECT_EQ(all[2].to_vector<int64_t>(), (Numbers{0, 1, 2, 3}));
  }
  const Sample batch = padded.batch(Numbers{1, 3, 0});
  EXPECT_EQ(batch[0].shape(), (Dims{3, 3}));
  EXPECT_EQ(batch[0].to_vector<int64_t>(), (Numbers{0, -1, -1, 0, 1, 2, -1, -1, -1}));
  EXPECT_EQ(batch[1].to_vector<int64_t>(), (Numbers{1, 3, 0}));
  EXPECT_EQ(batch[2].to_vector<int64_t>(), (Numbers{1, 3, 0}));
}

TEST(Joined, ImagesInFolders) {
  const TemporaryFolder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder / "dog" / "old");
  fs::create_directory(folder / "cat");
  const std::string head = "P6\n2 1\n255\n";
  folder.write("dog/b.ppm", head + std::string("\x01\x02\x03\x04\x05\x06"));
  folder.write("dog/old/a.ppm", head + std::string(6, '\x09'));
  folder.write("cat/1.PPM", head + std::string(6, '\xff'));
  folder.write("cat/notes.txt", "no image");
  const ImageFolder images(folder.path());
  EXPECT_EQ(images.classes(), (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(images.size(), 3);
  const Sample first = images.get(1);
  EXPECT_EQ(first[0].shape(), (Dims{3, 1, 2}));
  EXPECT_EQ(first[0].to_vector<uint8_t>(), (std::vector<uint8_t>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(first[1].item<int64_t>(), 1);
  EXPECT_EQ(images.path(2).filename(), "a.ppm");
  const ImageFolder halves(folder.path(), [](const Tensor& x) { return x.to(DType::kFloat) / 2; });
  EXPECT_EQ(halves.get(0)[0].dtype(), DType::kFloat);
  folder.write("cat/2.png", "broken");
  const ImageFolder broken(folder.path());
  fs::create_directory(folder / "empty");
  expect_refusal(ErrorCode::kInvalidArgument, "2.png", [&] { broken.get(1); });
  expect_refusals({
      {"empty: expected images, found none", [&] { ImageFolder made(folder.path()); }},
      {"ImageFolder: /nowhere: ", [] { ImageFolder made("/nowhere"); }},
      {"expected a folder for each class", [&] { ImageFolder made(folder / "empty"); }},
      {"dataset: no sample 3, it has 3", [&] { images.get(3); }},
  });
}

TEST(JoinedRefusals, Arguments) {
  const auto numbers = std::make_shared<TensorDataset>(std::vector{arange(3)});
  const auto sampler = std::make_shared<SequentialSampler>(3);
  expect_refusals({
      {"SequentialSampler: expected a count of at least 0, got -1", [] { SequentialSampler(-1); }},
      {"RandomSampler: expected a dataset with samples to draw 2 from",
       [] { RandomSampler(0, {.samples = 2}); }},
      {"expected finite weights of at least 0, got -1",
       [] {
         WeightedRandomSampler({1, -1}, 2);
       }},
      {"expected positive weights for 2 samples without replacement, got 1",
       [] {
         WeightedRandomSampler({1, 0}, 2, false);
       }},
      {"expected positive weights for 2 samples, got 0",
       [] {
         WeightedRandomSampler({0, 0}, 2);
       }},
      {"BatchSampler: expected a sampler", [] { BatchSampler(nullptr, 2); }},
      {"BatchSampler: expected a positive batch_size, got 0", [&] { BatchSampler(sampler, 0); }},
      {"DataLoader: expected shuffle or a sampler, got both",
       [&] { DataLoader(numbers, {.shuffle = true, .sampler = sampler}); }},
      {"ConcatDataset: expected datasets, got none", [] { ConcatDataset({}); }},
      {"ConcatDataset: expected a dataset", [] { ConcatDataset({nullptr}); }},
      {"dataset: no sample 3, it has 3", [&] { ConcatDataset({numbers}).get(3); }},
      {"TransformedDataset: sample 0 has 1 tensors",
       [&] {
         const Transform same = [](const Tensor& x) { return x; };
         TransformedDataset(numbers, same, same).get(0);
       }},
      {"CollatedDataset: expected a function", [&] { CollatedDataset(numbers, {}); }},
      {"pad_to_longest: expected samples whose first tensor has a length",
       [&] { pad_to_longest(std::vector<Sample>{{Tensor::scalar(1.0f)}}); }},
      {"pad_to_longest: samples of one batch differ beyond their first size: float[1, 2] and "
       "float[2, 3]",
       [&] {
         pad_to_longest(std::vector<Sample>{{ones({1, 2})}, {ones({2, 3})}});
       }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::data
