// Tables of a text file as rows of a model's inputs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/onnx-run/score/row_source.h"

namespace sardonyx::tool {

struct CsvSourceOptions {
  // "NAME=COLUMNS": which columns an input is made of, in this order: names of the header, numbers
  // from 0 on or ranges of them ("3-7"), with commas between.
  std::vector<std::string> columns;
  std::vector<std::string> constants;  // inputs that rows do not feed
  std::string delimiter;               // one character; "": a tab for .tsv, else a comma
  bool has_header = true;
  bool allow_missing = false;  // empty fields are NaN in floating inputs; else an error
};

// Without `columns` each input takes the column of its name; where there is none of that name and
// the model has one input alone, that takes all columns. Numbers are read in the input's type, and
// must be within its range. `rows`: how many there are, where that is known; below 0 they are
// counted, for which the file is read once. Throws UsageError where columns and inputs do not fit.
std::unique_ptr<RowSource> csv_source(const std::filesystem::path& file, const Runner& runner,
                                      const CsvSourceOptions& options, int64_t rows);

}  // namespace sardonyx::tool
