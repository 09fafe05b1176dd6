#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "eager/create.h"
#include "eager/data/loader.h"
#include "eager/data/readers.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager::data {
namespace {

std::filesystem::path zip(const std::filesystem::path& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return path;
}

TensorDataset numbers(int64_t count) {
  return TensorDataset({arange(count), (arange(count) * 2).reshape({count, 1})});
}

std::vector<int64_t> all_of(DataLoader& loader) {
  std::vector<int64_t> seen;
  for (const Sample& batch : loader) {
    const std::vector<int64_t> values = batch[0].to_vector<int64_t>();
    const std::vector<int64_t> doubled = batch[1].to_vector<int64_t>();
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(doubled[i], 2 * values[i]);
    seen.insert(seen.end(), values.begin(), values.end());
  }
  return seen;
}

TEST(DataLoader, BatchesInOrder) {
  DataLoader loader(numbers(10), {.batch_size = 4});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_EQ(all_of(loader), arange(10).to_vector<int64_t>());
  DataLoader whole(numbers(10), {.batch_size = 4, .drop_last = true});
  EXPECT_EQ(whole.size(), 2);
  EXPECT_EQ(all_of(whole).size(), 8u);
  DataLoader empty(numbers(0), {.batch_size = 4});
  EXPECT_TRUE(all_of(empty).empty());
  EXPECT_THROW(DataLoader(numbers(3), {.batch_size = 0}), Error);
}

TEST(DataLoader, ShuffleDependsOnSeedAndEpochAlone) {
  DataLoader a(numbers(50), {.batch_size = 7, .shuffle = true, .seed = 5});
  DataLoader b(numbers(50), {.batch_size = 7, .shuffle = true, .seed = 5, .workers = 3});
  const std::vector<int64_t> first = all_of(a), second = all_of(a);
  EXPECT_NE(first, second);
  EXPECT_EQ(all_of(b), first);
  EXPECT_EQ(all_of(b), second);
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 50u);
  b.set_epoch(0);
  EXPECT_EQ(all_of(b), first);
}

struct NoisyNumbers : Dataset {
  int64_t size() const override { return 10; }
  Sample get(int64_t index) const override { return {arange(1) + index + rand({1})}; }
};

// A loop goes on where another one stood, with the samples and the random numbers that it would
// have had.
TEST(DataLoader, GoesOnWithinAnEpoch) {
  for (const int workers : {0, 3}) {
    const LoaderOptions options{.batch_size = 3, .shuffle = true, .workers = workers};
    DataLoader whole(NoisyNumbers(), options);
    std::vector<float> all;
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (const Sample& batch : whole) {
        for (const float value : batch[0].to_vector<float>())
          all.push_back(value);
      }
    }
    EXPECT_EQ(whole.position(), (DataPosition{2, 0}));
    DataLoader stopped(NoisyNumbers(), options);
    int64_t batches = 0;
    for (const Sample& batch : stopped) {
      EXPECT_EQ(stopped.position(), (DataPosition{0, ++batches}));
      if (batch[0].size(0).value() == 3 && batches == 2) break;
    }
    DataLoader resumed(NoisyNumbers(), options);
    resumed.set_position(stopped.position());
    std::vector<float> rest;
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (const Sample& batch : resumed) {
        for (const float value : batch[0].to_vector<float>())
          rest.push_back(value);
      }
    }
    EXPECT_EQ(rest, std::vector<float>(all.begin() + 6, all.end()));
    resumed.set_position({1, 100});
    EXPECT_EQ(resumed.begin(), resumed.end());
    EXPECT_THROW(resumed.set_position({0, -1}), Error);
  }
}

TEST(DataLoader, WorkersPassOnExceptionsAndEndEarly) {
  std::atomic<int> made = 0;
  const FunctionDataset faulty(1000, [&](int64_t index) -> Sample {
    ++made;
    if (index == 20) throw std::runtime_error("sample 20 is broken");
    return {Tensor::scalar(index)};
  });
  DataLoader loader(faulty, {.batch_size = 8, .workers = 2, .prefetch = 1});
  std::vector<int64_t> seen;
  try {
    for (const Sample& batch : loader)
      seen.push_back(batch[0].size(0).value());
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "sample 20 is broken");
  }
  EXPECT_EQ(seen, (std::vector<int64_t>{8, 8}));
  EXPECT_LT(made, 100);
  DataLoader endless(numbers(1000), {.batch_size = 1, .workers = 2});
  for (const Sample& batch : endless) {
    if (batch[0].item<int64_t>() == 3) break;
  }
}

TEST(Dataset, SubsetsAndSplits) {
  const auto whole = std::make_shared<TensorDataset>(numbers(10));
  const std::vector<DatasetPtr> parts = random_split(whole, {7, 3}, 1);
  std::set<int64_t> seen;
  for (const DatasetPtr& part : parts) {
    for (int64_t i = 0; i < part->size(); ++i)
      seen.insert(part->get(i)[0].item<int64_t>());
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_THROW(random_split(whole, {7, 4}), Error);
  EXPECT_THROW(Subset(whole, {10}), Error);
  EXPECT_THROW(whole->get(-1), Error);
  EXPECT_THROW(TensorDataset({arange(3), arange(4)}), Error);
  const FunctionDataset ragged(2, [](int64_t i) -> Sample { return {arange(i + 1)}; });
  const std::vector<int64_t> both{0, 1};
  EXPECT_THROW(ragged.batch(both), Error);
}

std::string idx_of(char type, const std::vector<unsigned>& shape, const std::string& data) {
  std::string bytes{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const unsigned size : shape) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += static_cast<char>(size >> shift & 0xff);
  }
  return bytes + data;
}

TEST(Readers, Idx) {
  const TemporaryFolder folder;
  const Tensor bytes = read_idx(folder.write("a", idx_of(8, {2, 3}, "abcdef")));
  EXPECT_EQ(bytes.to_vector<uint8_t>(), (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_EQ(bytes.shape(), (Dims{2, 3}));
  const Tensor wide =
      read_idx(zip(folder / "b", idx_of(0x0c, {2}, std::string("\0\0\1\2\xff\xff\xff\xfe", 8))));
  EXPECT_EQ(wide.to_vector<int32_t>(), (std::vector<int32_t>{258, -2}));
  EXPECT_EQ(read_idx(folder.write("z", idx_of(8, {0, 3}, ""))).shape(), (Dims{0, 3}));
  const std::string whole = idx_of(8, {2, 3}, "abcdef");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(read_idx(folder.write("c", whole.substr(0, length))), Error) << length;
  EXPECT_THROW(read_idx(folder.write("d", whole + "x")), Error);
  EXPECT_THROW(read_idx(folder.write("e", idx_of(7, {1}, "a"))), Error);
  EXPECT_THROW(read_idx(folder.write("f", idx_of(0x0e, {0xffffffff, 0xffffffff, 0xffffffff}, ""))),
               Error);
  EXPECT_THROW(read_idx(folder.path() / "none"), Error);
  // A file that unpacks to far more than is allowed, and one that ends in its middle.
  const std::filesystem::path bomb = zip(folder / "g", std::string(1 << 22, '\0'));
  EXPECT_THROW(read_idx(bomb, 1 << 20), Error);
  std::filesystem::resize_file(bomb, std::filesystem::file_size(bomb) / 2);
  EXPECT_THROW(read_idx(bomb), Error);
}

TEST(Readers, Csv) {
  const TemporaryFolder folder;
  const CsvTable table = read_csv(
      folder.write("a.csv", "x,\"y, of\"\"it\"\r\n1,-2.5\r\n\n+3e2, 4 \r\n"), {.has_header = true});
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y, of\"it"}));
  EXPECT_EQ(table.values.to_vector<float>(), (std::vector<float>{1, -2.5f, 300, 4}));
  EXPECT_EQ(table.columns(1).to_vector<float>(), (std::vector<float>{-2.5f, 4}));
  const Tensor integers =
      read_csv(zip(folder / "b.csv", "1;2\n\"3\";4"), {.delimiter = ';', .dtype = DType::kInt64})
          .values;
  EXPECT_EQ(integers.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(std::isnan(read_csv(folder.write("c.csv", "1,\n"), {.allow_missing = true})
                             .values.to_vector<float>()[1]));
  EXPECT_EQ(read_csv(folder.write("h.csv", "")).values.shape(), (Dims{0, 0}));
  const auto message = [&](const std::string& content) {
    try {
      read_csv(folder.write("d.csv", content));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message("1,2\n3,x\n").find("line 2, column 2"), std::string::npos);
  EXPECT_NE(message("1,2\n3\n").find("line 2: expected 2 fields, got 1"), std::string::npos);
  EXPECT_NE(message("1,\"2\n").find("a quote is not closed"), std::string::npos);
  EXPECT_NE(message("1,\"2\"3\n"), "");
  EXPECT_NE(message("1,,2\n"), "");
}

TEST(Readers, MnistOfTheTestData) {
  const char* root = std::getenv("SARDONYX_TEST_DATA");
  const std::filesystem::path folder = std::filesystem::path(root ? root : "") / "data/mnist";
  if (!root || !std::filesystem::exists(folder)) GTEST_SKIP() << "no test data";
  const TensorDataset digits =
      read_mnist(folder / "t10k-images-idx3-ubyte.gz", folder / "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(digits.size(), 10000);
  EXPECT_EQ(digits.get(0)[0].shape(), (Dims{1, 28, 28}));
  EXPECT_EQ(digits.get(0)[1].item<int64_t>(), 7);
}

}  // namespace
}  // namespace sardonyx::eager::data
