// Columns of DuckDB's chunks as elements of tensors, and back.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sardonyx/sardonyx.h"
#include "tools/duckdb/duckdb_api.h"

namespace sardonyx::duckdb {

// What the query is told.
struct QueryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ColumnElements of some tensor's type, one behind the other.
struct ColumnElements {
  int32_t dtype = SX_UNDEFINED;
  std::vector<std::byte> bytes;
  std::vector<std::string> strings;  // of SX_STRING
};

// Rows of a chunk: `count` from `first` on, or those that are picked.
struct ChunkRows {
  uint64_t first = 0, count = 0;
  const uint64_t* picked = nullptr;
  uint64_t operator[](uint64_t i) const { return picked ? picked[i] : first + i; }
};

// The argument of one row.
struct RowValue {
  size_t shape = 0;             // number of its dims in the column's list
  size_t begin = 0, count = 0;  // in the column's elements
};

// One argument over the rows of a chunk, in the type that the model wants.
class Column {
 public:
  // `label`: for errors. Throws QueryError where the type can't become `dtype`, or a list is ragged
  // within its row.
  Column(Handle vector, uint64_t rows, int32_t dtype, std::string label);

  // Nothing where the row, or an element of its list, is NULL.
  std::optional<RowValue> cell(uint64_t row) const;
  // Its dims: none for one number.
  const std::vector<int64_t>& dims(uint64_t row) const { return shapes_[cell(row)->shape]; }
  // Appends the elements of a row.
  void append_to(ColumnElements& elements, uint64_t row) const;

  // Every row is there and all have one shape of numbers: their elements are contiguous.
  bool is_uniform() const { return row_bytes_ > 0; }
  size_t row_bytes() const { return row_bytes_; }  // of a uniform column
  const std::byte* row_data(uint64_t row) const {
    return elements_.bytes.data() + row * row_bytes_;
  }

 private:
  struct Level;
  bool read_uniform(Handle vector, const Level& level, uint64_t rows);
  bool read(Handle vector, const Level& level, uint64_t at, size_t depth);
  bool read_range(Handle vector, const Level& level, uint64_t begin, uint64_t count);
  size_t shape_number();
  size_t element_count() const;

  std::string label_;
  ColumnElements elements_;
  size_t row_bytes_ = 0;  // of a uniform column, which has no cells; else 0
  std::vector<std::optional<RowValue>> cells_;
  std::vector<std::vector<int64_t>> shapes_;  // that rows have
  std::vector<int64_t> dims_;                 // of the row that is read
};

// The first string of a column of VARCHAR, which all rows must have.
std::string constant_text(Handle vector, uint64_t rows, const char* what);

// The type of a result: of one number, or of lists nested as deep as there are dims.
LogicalType result_type(int32_t dtype, size_t dims);
// Throws QueryError for element types that DuckDB has none for.
TypeId type_id_of(int32_t dtype);
size_t element_bytes(int32_t dtype);

void set_null(Handle vector, uint64_t row);

// Writes a tensor's elements for one row after the other.
class ResultWriter {
 public:
  // Lists nested as deep as `dims` has entries.
  ResultWriter(Handle vector, const sx_tensor& tensor, const sx_value* strings,
               std::vector<int64_t> dims);
  // The tensor's elements, `in_row` for each row.
  void write(const ChunkRows& rows, size_t in_row);

 private:
  static uint64_t grow(Handle vector, uint64_t length);
  void write_lists(uint64_t first, uint64_t count);
  void write_level(Handle vector, uint64_t row, size_t first, size_t axis);
  void write_elements(Handle vector, uint64_t row, size_t first, size_t count);

  Handle vector_;
  sx_tensor tensor_;
  std::vector<int64_t> dims_;
  std::vector<const char*> strings_;
  std::vector<size_t> lengths_;
};

}  // namespace sardonyx::duckdb
