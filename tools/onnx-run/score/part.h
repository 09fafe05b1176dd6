// What a model gave for a range of rows, and the files it is written to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ir/datum.h"

namespace sardonyx::tool {

// Collects the outputs of batches.
class Part {
 public:
  // What the outputs of one part may take.
  static constexpr size_t kMostBytes = size_t{1} << 30;

  Part(int64_t rows, std::vector<std::string> names);

  // Rows [at, at + rows) from the first `rows` rows of the outputs, which are of `fed` rows; what
  // follows is padding. Throws kInvalidArgument for an output that is no tensor with `fed`
  // rows, or has other dims than before, and kResourceExhausted beyond kMostBytes.
  void add(int64_t at, int64_t rows, int64_t fed, std::vector<Datum> outputs);
  // What these rows are called, in their order; for rows that are files.
  void add_row_name(std::string name) { row_names_.push_back(std::move(name)); }

  int64_t rows() const { return rows_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Tensor>& values() const { return values_; }
  const std::vector<std::string>& row_names() const { return row_names_; }

 private:
  void begin(size_t output, const Tensor& first);

  int64_t rows_;
  std::vector<std::string> names_;
  std::vector<Tensor> values_;
  std::vector<std::string> row_names_;
};

enum class PartFormat { kNpz, kCsv };

// npz: an array for each output, and `row_name` where rows have names. csv: a line for each row,
// with its number counted from `first_row` (or its name) and the elements of all outputs, in the
// shortest form that reads back to the same number. Both are written beside and renamed.
void write_part(const std::filesystem::path& file, PartFormat format, const Part& part,
                int64_t first_row);

}  // namespace sardonyx::tool
