// Tables of a text file as rows of a model's inputs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/onnx-run/score/row_columns.h"
#include "tools/onnx-run/score/row_source.h"

namespace sardonyx::tool {

struct CsvSourceOptions : RowColumnOptions {
  std::string delimiter;  // one character; "": a tab for .tsv, else a comma
  bool has_header = true;
};

// Numbers are read in the input's type, and must be within its range. `rows`: how many there are,
// where that is known; below 0 they are counted, for which the file is read once. Throws UsageError
// where columns and inputs do not fit.
std::unique_ptr<RowSource> csv_source(const std::filesystem::path& file, const Runner& runner,
                                      const CsvSourceOptions& options, int64_t rows);

}  // namespace sardonyx::tool
