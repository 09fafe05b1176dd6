#include "tools/onnx-run/score/duckdb_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "ir/core/error.h"
#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace {

void* loaded_duckdb(const std::string& wanted_by) {
  const char* const named = std::getenv("SARDONYX_DUCKDB");
  const char* const file = named && *named ? named : "libduckdb.so";
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fail_usage(wanted_by, ": Parquet is read by DuckDB, whose library is not there: ", dlerror(),
               "; say where libduckdb.so is by SARDONYX_DUCKDB");
  }
  return library;
}

template <typename Function>
void load(void* library, const char* name, Function& function) {
  const std::string whole = std::string("duckdb_") + name;
  function = reinterpret_cast<Function>(dlsym(library, whole.c_str()));
  if (!function) {
    fail_usage("the library of DuckDB has no ", whole,
               "; expected version 1.0 or later of libduckdb.so");
  }
}

DuckDbFunctions loaded_functions(void* library) {
  DuckDbFunctions f = {};
  load(library, "open", f.open);
  load(library, "close", f.close);
  load(library, "connect", f.connect);
  load(library, "disconnect", f.disconnect);
  load(library, "query", f.query);
  load(library, "prepare", f.prepare);
  load(library, "prepare_error", f.prepare_error);
  load(library, "destroy_prepare", f.destroy_prepare);
  load(library, "pending_prepared_streaming", f.pending_prepared_streaming);
  load(library, "pending_error", f.pending_error);
  load(library, "destroy_pending", f.destroy_pending);
  load(library, "execute_pending", f.execute_pending);
  load(library, "fetch_chunk", f.fetch_chunk);
  load(library, "result_error", f.result_error);
  load(library, "destroy_result", f.destroy_result);
  load(library, "destroy_data_chunk", f.destroy_data_chunk);
  load(library, "data_chunk_get_size", f.data_chunk_get_size);
  load(library, "data_chunk_get_vector", f.data_chunk_get_vector);
  load(library, "vector_get_data", f.vector_get_data);
  load(library, "vector_get_validity", f.vector_get_validity);
  load(library, "list_vector_get_child", f.list_vector_get_child);
  load(library, "column_count", f.column_count);
  load(library, "column_name", f.column_name);
  load(library, "column_logical_type", f.column_logical_type);
  load(library, "get_type_id", f.get_type_id);
  load(library, "list_type_child_type", f.list_type_child_type);
  load(library, "array_type_child_type", f.array_type_child_type);
  load(library, "destroy_logical_type", f.destroy_logical_type);
  return f;
}

}  // namespace

const DuckDbFunctions& duckdb_functions(const std::string& wanted_by) {
  static const DuckDbFunctions functions = loaded_functions(loaded_duckdb(wanted_by));
  return functions;
}

std::string DuckDbString::text() const {
  constexpr uint32_t kInlined = 12;  // up to here the characters stand in place of the pointer
  return {length <= kInlined ? inlined_or_prefix : pointer, length};
}

DuckDbRows::DuckDbRows(const std::string& sql, std::string label)
    : duckdb_(duckdb_functions(label)), label_(std::move(label)) {
  if (duckdb_.open(nullptr, &database_) != 0 || duckdb_.connect(database_, &connection_) != 0)
    refuse("no database in memory can be opened");
  // One thread: the model's are the ones that work. Rows come in the order of the file.
  for (const char* setting : {"SET threads = 1", "SET preserve_insertion_order = true"}) {
    DuckDbResult ignored = {};
    duckdb_.query(connection_, setting, &ignored);
    duckdb_.destroy_result(&ignored);
  }
  if (duckdb_.prepare(connection_, sql.c_str(), &statement_) != 0)
    refuse(duckdb_.prepare_error(statement_));
  if (duckdb_.pending_prepared_streaming(statement_, &pending_) != 0)
    refuse(duckdb_.pending_error(pending_));
  if (duckdb_.execute_pending(pending_, &result_) != 0) refuse(duckdb_.result_error(&result_));
}

DuckDbRows::~DuckDbRows() {
  end();
}

void DuckDbRows::end() {
  close_chunk();
  duckdb_.destroy_result(&result_);
  if (pending_) duckdb_.destroy_pending(&pending_);
  if (statement_) duckdb_.destroy_prepare(&statement_);
  if (connection_) duckdb_.disconnect(&connection_);
  if (database_) duckdb_.close(&database_);
}

void DuckDbRows::refuse(const char* problem) {
  const std::string message = problem ? problem : "DuckDB gives no reason";
  end();
  fail(ErrorCode::kInvalidArgument, label_, ": ", message);
}

void DuckDbRows::close_chunk() {
  if (chunk_) duckdb_.destroy_data_chunk(&chunk_);
  chunk_ = nullptr;
  rows_ = 0;
}

uint64_t DuckDbRows::columns() const {
  return duckdb_.column_count(const_cast<DuckDbResult*>(&result_));
}
std::string DuckDbRows::column_name(uint64_t column) const {
  return duckdb_.column_name(const_cast<DuckDbResult*>(&result_), column);
}

DuckDbType DuckDbRows::column_type(uint64_t column, bool& is_list) const {
  void* type = duckdb_.column_logical_type(const_cast<DuckDbResult*>(&result_), column);
  auto id = static_cast<DuckDbType>(duckdb_.get_type_id(type));
  is_list = id == DuckDbType::kList || id == DuckDbType::kArray;
  if (is_list) {
    void* element = id == DuckDbType::kList ? duckdb_.list_type_child_type(type)
                                            : duckdb_.array_type_child_type(type);
    id = static_cast<DuckDbType>(duckdb_.get_type_id(element));
    duckdb_.destroy_logical_type(&element);
  }
  duckdb_.destroy_logical_type(&type);
  return id;
}

bool DuckDbRows::next() {
  close_chunk();
  chunk_ = duckdb_.fetch_chunk(result_);
  if (!chunk_) {
    if (const char* problem = duckdb_.result_error(&result_); problem && *problem) refuse(problem);
    return false;
  }
  rows_ = duckdb_.data_chunk_get_size(chunk_);
  return rows_ > 0;
}

DuckDbRows::Values DuckDbRows::values(uint64_t column) const {
  void* const vector = duckdb_.data_chunk_get_vector(chunk_, column);
  return {duckdb_.vector_get_data(vector), duckdb_.vector_get_validity(vector)};
}

DuckDbRows::Values DuckDbRows::list_elements(uint64_t column) const {
  void* const vector = duckdb_.list_vector_get_child(duckdb_.data_chunk_get_vector(chunk_, column));
  return {duckdb_.vector_get_data(vector), duckdb_.vector_get_validity(vector)};
}

}  // namespace sardonyx::tool
