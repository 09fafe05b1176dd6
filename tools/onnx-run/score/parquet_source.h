// Parquet files as rows of a model's inputs, read by DuckDB.
#pragma once

#include <filesystem>
#include <memory>

#include "tools/onnx-run/score/row_columns.h"
#include "tools/onnx-run/score/row_source.h"

namespace sardonyx::tool {

// Columns feed inputs as those of CSV do; one of lists or arrays gives its elements, of which every
// row has as many. Floating inputs take floating, decimal and integer columns, integer inputs
// integer columns whose values are within their range, others columns of their own type. Nothing is
// kept but the rows that are being read. Throws UsageError where columns and inputs do not fit.
std::unique_ptr<RowSource> parquet_source(const std::filesystem::path& file, const Runner& runner,
                                          const RowColumnOptions& options);

}  // namespace sardonyx::tool
