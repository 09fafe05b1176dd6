// Rows of data that a model is run on.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/onnx-run/runner.h"

namespace sardonyx::tool {

// Gives some of a model's inputs a value for each row; the first dim of every value counts rows.
// For one thread at a time.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual int64_t rows() const = 0;
  // Rows [begin, end) of every input that it feeds; quick where the ranges of calls rise. Throws
  // kInvalidArgument naming file and row where the data is broken.
  virtual NamedData read(int64_t begin, int64_t end) = 0;
  // Where rows are of a table with names: those of the columns that feed inputs, in their order.
  virtual std::vector<std::string> column_names() const { return {}; }
  // What a row is called, where it is a file of its own; else "".
  virtual std::string row_name(int64_t /*row*/) const { return {}; }
};

// The dims of a row: those that `input` declares after its first, with sizes by symbol where they
// are open. Throws UsageError where a size is missing, or the input has no dim for rows.
using DimSizes = std::map<std::string, int64_t>;
Shape row_shape_of(const ValueInfo& input, const DimSizes& sizes);

// NAME.npy; throws UsageError where its type or dims are not the input's.
std::unique_ptr<RowSource> npy_source(const std::filesystem::path& file, const ValueInfo& input);
// Each array for the input of its name.
std::unique_ptr<RowSource> npz_source(const std::filesystem::path& file, const Runner& runner);
// Elements without any header, little endian.
std::unique_ptr<RowSource> raw_source(const std::filesystem::path& file, const ValueInfo& input,
                                      const DimSizes& sizes);
// Each image is a row.
std::unique_ptr<RowSource> image_source(std::vector<std::filesystem::path> files,
                                        const ValueInfo& input, const DimSizes& sizes);
// Sources of different inputs, row by row. Throws UsageError where one has more rows than another.
std::unique_ptr<RowSource> joined_source(std::vector<std::unique_ptr<RowSource>> sources,
                                         const std::string& label);

// The input of this name, required or optional. Throws UsageError where there is none.
const ValueInfo& row_input_named(const Runner& runner, const std::string& name,
                                 const std::string& where);

// Puts `rows` at row `at` of `whole`; types and dims after the first are the same.
void copy_rows(Tensor& whole, int64_t at, const Tensor& rows);

}  // namespace sardonyx::tool
