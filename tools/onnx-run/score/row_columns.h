// Which columns of a table a model's inputs are made of.
#pragma once

#include <string>
#include <vector>

#include "tools/onnx-run/score/row_source.h"

namespace sardonyx::tool {

struct RowColumnOptions {
  // "NAME=COLUMNS": which columns an input is made of, in this order: names of the header, numbers
  // from 0 on or ranges of them ("3-7"), with commas between.
  std::vector<std::string> columns;
  std::vector<std::string> constants;  // inputs that rows do not feed
  // Names of all columns, in the order in which an input takes all of them; else the header's.
  std::vector<std::string> order;
  bool allow_missing = false;  // missing values are NaN in floating inputs; else an error
};

struct ColumnsOfInput {
  std::string name;
  DType dtype;
  std::vector<size_t> columns;
  Shape row;  // what the columns form
};

// Without `options.columns` each input takes the column of its name; where there is none of that
// name and the model has one input alone, that takes all columns, in `options.order` where that
// names the same. `header`: their names, or nothing; `widths`: how many elements of a row each
// column gives. Throws UsageError, beginning with `where`, where columns and inputs do not fit.
std::vector<ColumnsOfInput> choose_columns(const Runner& runner, const RowColumnOptions& options,
                                           const std::vector<std::string>& header,
                                           const std::vector<int64_t>& widths,
                                           const std::string& where);

// The names of the columns that each input takes, in their order; none without a header.
std::vector<std::string> names_of_columns(const std::vector<ColumnsOfInput>& inputs,
                                          const std::vector<std::string>& header);

}  // namespace sardonyx::tool
