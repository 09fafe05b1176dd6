// DuckDB (https://duckdb.org), whose library reads Parquet: loaded where a file needs it, by its C
// interface, which is stable since its version 1.0.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace sardonyx::tool {

// As in duckdb.h.
struct DuckDbResult {
  uint64_t deprecated_column_count, deprecated_row_count, deprecated_rows_changed;
  void* deprecated_columns;
  char* deprecated_error_message;
  void* internal_data;
};
struct DuckDbListEntry {
  uint64_t offset, length;
};
struct DuckDbString {
  uint32_t length;
  char inlined_or_prefix[4];
  char* pointer;
  std::string text() const;
};
enum class DuckDbType {
  kBoolean = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kUInt8 = 6,
  kUInt16 = 7,
  kUInt32 = 8,
  kUInt64 = 9,
  kFloat = 10,
  kDouble = 11,
  kVarchar = 17,
  kDecimal = 19,
  kEnum = 23,
  kList = 24,
  kArray = 33,
};

// The functions that are called, each of the name duckdb_NAME.
struct DuckDbFunctions {
  int (*open)(const char* path, void** database);
  void (*close)(void** database);
  int (*connect)(void* database, void** connection);
  void (*disconnect)(void** connection);
  int (*query)(void* connection, const char* sql, DuckDbResult* result);
  int (*prepare)(void* connection, const char* sql, void** statement);
  const char* (*prepare_error)(void* statement);
  void (*destroy_prepare)(void** statement);
  int (*pending_prepared_streaming)(void* statement, void** pending);
  const char* (*pending_error)(void* pending);
  void (*destroy_pending)(void** pending);
  int (*execute_pending)(void* pending, DuckDbResult* result);
  void* (*fetch_chunk)(DuckDbResult result);
  const char* (*result_error)(DuckDbResult* result);
  void (*destroy_result)(DuckDbResult* result);
  void (*destroy_data_chunk)(void** chunk);
  uint64_t (*data_chunk_get_size)(void* chunk);
  void* (*data_chunk_get_vector)(void* chunk, uint64_t column);
  void* (*vector_get_data)(void* vector);
  uint64_t* (*vector_get_validity)(void* vector);
  void* (*list_vector_get_child)(void* vector);
  uint64_t (*column_count)(DuckDbResult* result);
  const char* (*column_name)(DuckDbResult* result, uint64_t column);
  void* (*column_logical_type)(DuckDbResult* result, uint64_t column);
  int (*get_type_id)(void* type);
  void* (*list_type_child_type)(void* type);
  void* (*array_type_child_type)(void* type);
  void (*destroy_logical_type)(void** type);
};

// Loads the library once: the one that SARDONYX_DUCKDB names, or libduckdb.so where the system
// finds it. Throws UsageError with the remedy where there is none, or it lacks a function.
const DuckDbFunctions& duckdb_functions(const std::string& wanted_by);

// A query whose rows come as they are asked for.
class DuckDbRows {
 public:
  // Throws kInvalidArgument, beginning with `label`, with what DuckDB says.
  DuckDbRows(const std::string& sql, std::string label);
  ~DuckDbRows();
  DuckDbRows(const DuckDbRows&) = delete;
  DuckDbRows& operator=(const DuckDbRows&) = delete;

  uint64_t columns() const;
  std::string column_name(uint64_t column) const;
  // Of the column, or where `is_list` becomes true of the elements of its lists.
  DuckDbType column_type(uint64_t column, bool& is_list) const;

  // The next rows, some thousand at most; false at the end.
  bool next();
  uint64_t rows() const { return rows_; }  // of these
  // Of one column of these: elements, and which are there (null: all of them).
  struct Values {
    const void* data = nullptr;
    const uint64_t* validity = nullptr;
    bool is_there(uint64_t row) const {
      return !validity || (validity[row / 64] >> (row % 64) & 1) != 0;
    }
    template <typename T>
    const T& at(uint64_t row) const {
      return static_cast<const T*>(data)[row];
    }
  };
  Values values(uint64_t column) const;
  // Of the elements of lists; values() has their DuckDbListEntry.
  Values list_elements(uint64_t column) const;

 private:
  void end();
  [[noreturn]] void refuse(const char* problem);
  void close_chunk();

  const DuckDbFunctions& duckdb_;
  std::string label_;
  void *database_ = nullptr, *connection_ = nullptr, *statement_ = nullptr, *pending_ = nullptr;
  DuckDbResult result_ = {};
  void* chunk_ = nullptr;
  uint64_t rows_ = 0;
};

}  // namespace sardonyx::tool
