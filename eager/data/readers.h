// Readers of data files. All check what they read: kInvalidArgument names the file and the place.
// Files may be gzipped.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "eager/data/dataset.h"

namespace sardonyx::eager::data {

// What a file may grow to when unpacked.
constexpr uint64_t kMaxFileBytes = uint64_t{4} << 30;

// IDX, the format of MNIST: uint8, int8, int16, int32, float32 and float64 of any rank.
Tensor read_idx(const std::filesystem::path& path, uint64_t most_bytes = kMaxFileBytes);
// Images as float32 [N, 1, rows, columns] within [0, 1], labels as int64 [N].
TensorDataset read_mnist(const std::filesystem::path& images, const std::filesystem::path& labels);

struct CsvOptions {
  char delimiter = ',';
  bool has_header = false;
  DType dtype = DType::kFloat;
  bool allow_missing = false;  // empty fields are NaN; else an error
};
struct CsvTable {
  std::vector<std::string> names;  // of the columns, where there is a header
  Tensor values;                   // [rows, columns]
  // Columns [begin, end); the end may be left out.
  Tensor columns(int64_t begin, std::optional<int64_t> end = {}) const;
};
// A table of numbers: RFC 4180, quotes allowed; every row as long as the first.
CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {},
                  uint64_t most_bytes = kMaxFileBytes);

Tensor read_npy(const std::filesystem::path& path);
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path);
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

// A whole file, unpacked where it is gzipped.
std::string read_bytes(const std::filesystem::path& path, uint64_t most_bytes = kMaxFileBytes);

}  // namespace sardonyx::eager::data
