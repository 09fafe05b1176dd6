// Datasets and files of data that do not fit.
#include "tests/support/expect_error.h"

#include <zlib.h>

#include "eager/create.h"
#include "eager/data/loader.h"
#include "eager/data/readers.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager::data {
namespace {

using namespace std::string_literals;

TEST(DatasetRefusals, Samples) {
  const auto rows = std::make_shared<TensorDataset>(std::vector<Tensor>{arange(3)});
  const Subset two(rows, {2, 0});
  const std::vector<int64_t> beyond{0, 3}, both{0, 1}, third{2};
  const auto made_by = [](std::function<Sample(int64_t)> get) {
    return FunctionDataset(2, std::move(get));
  };
  expect_refusals({
      {"dataset: no sample 3, it has 3", [&] { rows->get(3); }},
      {"dataset: no sample -1, it has 3", [&] { rows->get(-1); }},
      {"dataset: no sample 3, it has 3", [&] { rows->batch(beyond); }},
      {"dataset: no sample 2, it has 2", [&] { two.get(2); }},
      {"dataset: no sample 2, it has 2", [&] { two.batch(third); }},
      {"dataset: no sample 3, it has 3", [&] { Subset made(rows, {3}); }},
      {"Subset: expected a dataset", [&] { Subset made(nullptr, {}); }},
      {"random_split: expected a dataset", [&] { random_split(nullptr, {}); }},
      {"sizes that add up to 3",
       [&] {
         random_split(rows, {1, 3});
       }},
      {"sizes that add up to 3",
       [&] {
         random_split(rows, {4, -1});
       }},
      {"TensorDataset: expected tensors", [] { TensorDataset made(std::vector<Tensor>{}); }},
      {"expected tensors of rank 1 or more", [] { TensorDataset made(std::vector{Tensor()}); }},
      {"expected tensors of rank 1 or more",
       [] { TensorDataset made(std::vector{Tensor::scalar(1.f)}); }},
      {"of as many rows, got int64[3] and int64[4]",
       [] {
         TensorDataset made({arange(3), arange(4)});
       }},
      {"a batch without samples", [] { stack_samples({}); }},
      {"samples of one batch differ: int64[1] and int64[2]; pad or resize them in get()",
       [&] { made_by([](int64_t i) -> Sample { return {arange(i + 1)}; }).batch(both); }},
      {"samples of one batch differ: float[1] and int64[1]",
       [&] {
         made_by([](int64_t i) -> Sample { return {i ? arange(1) : ones({1})}; }).batch(both);
       }},
      {"sample 1 has 1 tensors, others have 2",
       [&] {
         made_by([](int64_t i) -> Sample {
           return Sample(static_cast<size_t>(2 - i), ones({1}));
         }).batch(both);
       }},
      {"DataLoader: expected a dataset", [] { DataLoader made(DatasetPtr(), {}); }},
      {"a positive batch_size and 0 to", [&] { DataLoader made(*rows, {.batch_size = 0}); }},
      {"workers, got 1 and -1", [&] { DataLoader made(*rows, {.batch_size = 1, .workers = -1}); }},
  });
}

// Elements that are two to a byte are not taken apart.
TEST(DatasetRefusals, PackedElements) {
  const Tensor packed(sardonyx::Tensor::zeros(DType::kInt4, {2, 2}));
  const TensorDataset rows({packed});
  const std::vector<int64_t> first{0};
  const char* const kMention = "dataset: elements of type int4 are not batched";
  expect_refusal(ErrorCode::kUnsupported, kMention, [&] { rows.get(0); });
  expect_refusal(ErrorCode::kUnsupported, kMention, [&] { rows.batch(first); });
  expect_refusal(ErrorCode::kUnsupported, kMention, [&] { stack_samples({&packed, 1}); });
}

std::string idx_of(char type, const std::string& sizes, const std::string& data) {
  std::string bytes{'\0', '\0', type, static_cast<char>(sizes.size())};
  for (const char size : sizes)
    bytes += "\0\0\0"s + size;
  return bytes + data;
}

TEST(ReaderRefusals, Idx) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& bytes) { read_idx(folder.write("a", bytes)); };
  const auto images = folder.write("p", idx_of(8, "\1\2\2", "abcd"));
  const auto mnist = [&](const std::string& labels) {
    read_mnist(images, folder.write("l", labels));
  };
  EXPECT_EQ(read_mnist(images, folder.write("l", idx_of(8, "\1", "a"))).size(), 1);
  expect_refusals({
      {"a: no IDX file: it does not begin with 0 0", [&] { read("\0\0\10"s); }},
      {"it does not begin with 0 0", [&] { read("\1\0\10\1\0\0\0\1a"s); }},
      {"it does not begin with 0 0", [&] { read("\0\1\10\1\0\0\0\1a"s); }},
      {"unknown element type 7", [&] { read(idx_of(7, "\1", "a")); }},
      {"it ends in its header", [&] { read("\0\0\10\2\0\0\0\1"s); }},
      {"shape [2] takes 2 bytes, it has 1", [&] { read(idx_of(8, "\2", "a")); }},
      {"shape [1] takes 1 bytes, it has 2", [&] { read(idx_of(8, "\1", "ab")); }},
      {"expected bytes [N, rows, columns] and [N], got uint8[1, 2, 2] and int8[1]",
       [&] { mnist(idx_of(9, "\1", "a")); }},
      {"and [N], got uint8[1, 2, 2] and uint8[2]", [&] { mnist(idx_of(8, "\2", "ab")); }},
      {"and [N], got uint8[1] and uint8[1]",
       [&] { read_mnist(folder / "l", folder.write("l", idx_of(8, "\1", "a"))); }},
  });
}

TEST(ReaderRefusals, PackedFiles) {
  const TemporaryFolder folder;
  const std::string path = folder / "packed.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  const std::string zeros(1 << 20, '\0');
  gzwrite(file, zeros.data(), static_cast<unsigned>(zeros.size()));
  gzclose(file);
  EXPECT_EQ(read_bytes(path, zeros.size()), zeros);
  const auto exhausted = ErrorCode::kResourceExhausted;
  expect_refusal(exhausted, "unpacked it has more than 65536 bytes",
                 [&] { read_bytes(path, 1 << 16); });
  expect_refusal(exhausted, "bytes, more than 100", [&] { read_bytes(path, 100); });
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  expect_refusals({
      {"broken gzip data at byte ", [&] { read_bytes(path, zeros.size()); }},
      {"broken gzip data at byte ",
       [&] { read_bytes(folder.write("b", "\x1f\x8b no gzip"), 100); }},
  });
}

TEST(ReaderRefusals, Csv) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& content, const CsvOptions& options = {}) {
    read_csv(folder.write("d.csv", content), options);
  };
  expect_refusals({
      {"d.csv: expected a header, it is empty", [&] { read("\n", {.has_header = true}); }},
      {"line 2: expected 2 fields, got 1", [&] { read("a,b\n1\n", {.has_header = true}); }},
      {"line 2: expected 2 fields, got 3", [&] { read("1,2\n3,4,5\n"); }},
      {"line 2, column 2: expected a number, got 'x'", [&] { read("1,2\n3,x\n"); }},
      {"column 2: expected a number, got ''", [&] { read("1,,2\n"); }},
      {"column 1: expected a number, got '1 2'", [&] { read("1 2\n"); }},
      {"line 2: a quote is not closed", [&] { read("1\n\"2\n"); }},
      {"line 1: text after a closed quote", [&] { read("1,\"2\"3\n"); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::data
