// A model as a function of the columns of a query.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sardonyx/sardonyx.h"
#include "tools/duckdb/vectors.h"

namespace sardonyx::duckdb {

struct SqlModelOptions {
  std::string path;
  int64_t batch = 2048;  // rows of one run at most
  int threads = 1;       // of one run; DuckDB scans on several itself
};

// May be called by many threads at once: they share the session.
class SqlModel {
 public:
  struct Place {
    std::string name, type;
    int32_t dtype = 0, rank = 0;
    std::vector<int64_t> dims = {};  // -1: open
    // The dims of one row's elements, as far as they are known; [n, 1] is one number for each row.
    size_t row_dims() const { return rank < 2 || (rank == 2 && dims[1] == 1) ? 0 : rank - 1u; }
  };

  // Throws QueryError where the file is no model that runs on rows.
  explicit SqlModel(SqlModelOptions options);
  ~SqlModel();
  SqlModel(const SqlModel&) = delete;
  SqlModel& operator=(const SqlModel&) = delete;

  const std::vector<Place>& outputs() const { return outputs_; }
  // The type of a row's results: of the one output, or a STRUCT of all.
  LogicalType result_type() const;

  // Arguments are the chunk's columns from `first` on. A row in which one is NULL gives NULL.
  void predict(Handle chunk, uint64_t first, Handle result) const;
  // The same, with all elements of the first output as DOUBLE[], or VARCHAR[] where `as_text`.
  void predict_list(Handle chunk, uint64_t first, Handle result, bool as_text) const;

 private:
  using Write = void (*)(const SqlModel& model, const sx_binding* binding, const ChunkRows& rows,
                         Handle result);

  std::vector<Column> columns_of(Handle chunk, uint64_t first) const;
  // `members`: of the STRUCT that a row's result is; 1 where it is none.
  void run_all(Handle chunk, uint64_t first, Handle result, size_t members, Write write) const;
  void run_batches(const std::vector<Column>& columns, const ChunkRows& rows, Handle result,
                   Write write) const;
  void bind_input(sx_binding* binding, size_t input, const std::vector<Column>& columns,
                  const ChunkRows& rows, ColumnElements& gathered) const;
  void run(const std::vector<Column>& columns, const ChunkRows& rows, Handle result,
           Write write) const;
  std::vector<int64_t> dims_of(const Place& input, size_t rows,
                               const std::vector<int64_t>& cell) const;
  bool is_packed(size_t arguments) const;
  std::string signature() const;
  sx_binding* borrow() const;
  static sx_tensor tensor_of(const SqlModel& model, const sx_binding* binding, size_t output,
                             size_t rows, size_t& in_row);
  static void write_typed(const SqlModel& model, const sx_binding* binding, const ChunkRows& rows,
                          Handle result);
  static void write_output(const SqlModel& model, const sx_binding* binding, size_t output,
                           const ChunkRows& rows, Handle result);
  static void write_numbers(const SqlModel& model, const sx_binding* binding, const ChunkRows& rows,
                            Handle result);
  static void write_texts(const SqlModel& model, const sx_binding* binding, const ChunkRows& rows,
                          Handle result);

  SqlModelOptions options_;
  sx_session* session_ = nullptr;
  std::vector<Place> inputs_, outputs_;
  bool has_rows_ = true;  // the first dim of all inputs is open; else each row runs by itself
  mutable std::mutex mutex_;
  mutable std::vector<sx_binding*> idle_;
};

// One session for each file of the process, while somebody uses it or it was used last.
std::shared_ptr<const SqlModel> model_at(const std::string& path);

}  // namespace sardonyx::duckdb
