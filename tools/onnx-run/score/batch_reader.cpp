#include "tools/onnx-run/score/batch_reader.h"

#include <algorithm>

namespace sardonyx::tool {

BatchReader::BatchReader(const ScoreInputs& inputs, std::vector<RowRange> ranges, int64_t batch)
    : inputs_(inputs), ranges_(std::move(ranges)), batch_(batch) {
  if (const RunControl* control = current_control()) control_ = *control;
  thread_ = std::jthread([this](const std::stop_token& stop) { read_all(stop); });
}

BatchReader::~BatchReader() {
  thread_.request_stop();
}

void BatchReader::read_all(const std::stop_token& stop) {
  const ControlScope scope(control_);
  try {
    for (size_t range = 0; range < ranges_.size(); ++range)
      read_range(range, stop);
    push(std::nullopt, stop);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    problem_ = std::current_exception();
    changed_.notify_all();
  }
}

// The file that holds a row, opened; rows of calls rise.
RowSource& BatchReader::source_at(int64_t row) {
  const auto& units = inputs_.units();
  while (row >= unit_begin_ + units[unit_].rows) {
    unit_begin_ += units[unit_++].rows;
    source_.reset();
  }
  if (!source_) source_ = inputs_.open(unit_);
  return *source_;
}

void BatchReader::read_range(size_t range, const std::stop_token& stop) {
  const RowRange& rows = ranges_[range];
  for (int64_t at = 0; at < rows.rows && !stop.stop_requested();) {
    RowSource& source = source_at(rows.first_row + at);
    const int64_t begin = rows.first_row + at - unit_begin_;
    const int64_t end =
        std::min({begin + batch_, begin + rows.rows - at, inputs_.units()[unit_].rows});
    RowBatch batch{.range = range, .at = at, .rows = end - begin};
    batch.data = source.read(begin, end);
    for (int64_t row = begin; row < end; ++row) {
      std::string name = source.row_name(row);
      if (name.empty()) break;
      batch.row_names.push_back(std::move(name));
    }
    at += batch.rows;
    push(std::move(batch), stop);
  }
}

void BatchReader::push(std::optional<RowBatch> batch, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return ready_.size() < kAhead; })) return;
  ready_.push_back(std::move(batch));
  changed_.notify_all();
}

std::optional<RowBatch> BatchReader::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty() || problem_; });
  if (ready_.empty()) std::rethrow_exception(problem_);
  std::optional<RowBatch> batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batch;
}

}  // namespace sardonyx::tool
