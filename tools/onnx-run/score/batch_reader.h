// Reads batches ahead on a thread of its own, while the model runs on those before.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ir/core/run_control.h"
#include "tools/onnx-run/score/score_inputs.h"

namespace sardonyx::tool {

// Rows [first_row, first_row + rows) of all inputs.
struct RowRange {
  int64_t first_row = 0, rows = 0;
};

struct RowBatch {
  size_t range = 0;  // which of the ranges it belongs to
  int64_t at = 0;    // rows of the range before it
  int64_t rows = 0;
  NamedData data;
  std::vector<std::string> row_names;  // empty where rows have none
};

class BatchReader {
 public:
  // Ranges rise. A batch has `batch` rows but for the last one of a range or of a file.
  BatchReader(const ScoreInputs& inputs, std::vector<RowRange> ranges, int64_t batch);
  ~BatchReader();
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  // In order; nothing at the end. Throws what reading threw.
  std::optional<RowBatch> next();

 private:
  static constexpr size_t kAhead = 2;

  void read_all(const std::stop_token& stop);
  void read_range(size_t range, const std::stop_token& stop);
  void push(std::optional<RowBatch> batch, const std::stop_token& stop);
  RowSource& source_at(int64_t row);

  const ScoreInputs& inputs_;
  std::vector<RowRange> ranges_;
  int64_t batch_;
  RunControl control_;
  // Of the file that is open: its place among the units, and its first row.
  std::unique_ptr<RowSource> source_;
  size_t unit_ = 0;
  int64_t unit_begin_ = 0;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::optional<RowBatch>> ready_;
  std::exception_ptr problem_;
  std::jthread thread_;
};

}  // namespace sardonyx::tool
