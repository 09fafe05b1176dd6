// Batches of an IterableDataset: of each of its streams by itself, taken round-robin.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "eager/data/batch_source.h"

namespace sardonyx::eager::data {
namespace {

// The batches of one part.
class StreamBatcher {
 public:
  StreamBatcher(const IterableDataset& dataset, const WorkerInfo& part,
                const LoaderOptions& options)
      : dataset_(&dataset), part_(part), options_(&options) {}

  // nullopt after the last, and after what the dataset threw.
  std::optional<Sample> next() {
    if (is_done_) return std::nullopt;
    try {
      return made();
    } catch (...) {
      is_done_ = true;
      stream_ = {};
      throw;
    }
  }

 private:
  std::optional<Sample> made() {
    if (!options_->batch_size) return sample();
    const int64_t size = *options_->batch_size;
    std::vector<Sample> samples;
    while (static_cast<int64_t>(samples.size()) < size) {
      std::optional<Sample> one = sample();
      if (!one) break;
      samples.push_back(std::move(*one));
    }
    const bool is_full = static_cast<int64_t>(samples.size()) == size;
    if (samples.empty() || (options_->drop_last && !is_full)) return std::nullopt;
    return options_->collate ? options_->collate(samples) : default_collate(samples);
  }

  std::optional<Sample> sample() {
    if (is_done_) return std::nullopt;
    // Places of all parts differ, whoever reads them; those below 0 are the beginnings.
    if (!stream_) {
      const ReadingScope beginning({part_.seed, part_.epoch, -1 - part_.id});
      stream_ = dataset_->stream(part_);
    }
    const ReadingScope reading({part_.seed, part_.epoch, samples_++ * part_.count + part_.id});
    std::optional<Sample> one = stream_ ? stream_() : std::nullopt;
    is_done_ = !one;
    if (is_done_) stream_ = {};
    return one;
  }

  const IterableDataset* dataset_;
  WorkerInfo part_;
  const LoaderOptions* options_;
  SampleStream stream_;
  int64_t samples_ = 0;
  bool is_done_ = false;
};

// Those of `indices` that have not ended, one after the other.
class Turns {
 public:
  explicit Turns(std::vector<size_t> indices) : indices_(std::move(indices)) {}
  bool is_over() const { return indices_.empty(); }
  size_t current() const { return indices_[at_]; }
  void advance() { at_ = (at_ + 1) % indices_.size(); }
  void end_current() {
    indices_.erase(indices_.begin() + static_cast<std::ptrdiff_t>(at_));
    if (at_ == indices_.size()) at_ = 0;
  }

 private:
  std::vector<size_t> indices_;
  size_t at_ = 0;
};

// Part p is read by worker p mod workers. A worker takes the turns of its parts in the order in
// which the loop asks for them, so that what it made is a queue.
class StreamBatches : public BatchSource {
 public:
  StreamBatches(IterableDatasetPtr dataset, DataPosition begin, const LoaderOptions& options)
      : dataset_(std::move(dataset)), options_(options), turns_({}) {
    const int64_t own = dataset_->parts();
    if (own < 0)
      fail(ErrorCode::kInvalidArgument, "IterableDataset: expected 0 or more parts, got ", own);
    const int64_t parts = own > 0 ? own : std::max(options.workers, 1);
    for (int64_t id = 0; id < parts; ++id)
      batchers_.emplace_back(*dataset_, WorkerInfo{id, parts, options.seed, begin.epoch}, options_);
    turns_ = every(0, 1);
    const size_t workers = std::min(static_cast<size_t>(options.workers), batchers_.size());
    queues_.resize(workers);
    for (size_t worker = 0; worker < workers; ++worker)
      workers_.emplace_back([this, worker](const std::stop_token& stop) { work(worker, stop); });
    for (int64_t skipped = 0; skipped < begin.batches && StreamBatches::next(); ++skipped) {
    }
  }
  ~StreamBatches() override {
    for (std::jthread& worker : workers_)
      worker.request_stop();
    changed_.notify_all();
  }

  std::optional<Sample> next() override {
    while (!turns_.is_over()) {
      StreamTurn turn = workers_.empty() ? make(turns_.current()) : taken(turns_.current());
      if (turn.batch)
        turns_.advance();
      else
        turns_.end_current();
      if (turn.error) std::rethrow_exception(turn.error);
      if (turn.batch) return std::move(turn.batch);
    }
    return std::nullopt;
  }

 private:
  // Without a batch the part has ended.
  struct StreamTurn {
    std::optional<Sample> batch;
    std::exception_ptr error;
  };

  Turns every(size_t first, size_t step) const {
    std::vector<size_t> parts;
    for (size_t part = first; part < batchers_.size(); part += step)
      parts.push_back(part);
    return Turns(std::move(parts));
  }

  StreamTurn make(size_t part) {
    StreamTurn turn;
    try {
      turn.batch = batchers_[part].next();
    } catch (...) {
      turn.error = std::current_exception();
    }
    return turn;
  }

  StreamTurn taken(size_t part) {
    std::deque<StreamTurn>& queue = queues_[part % queues_.size()];
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !queue.empty(); });
    StreamTurn turn = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    changed_.notify_all();
    return turn;
  }

  void work(size_t worker, const std::stop_token& stop) {
    const auto ahead = static_cast<size_t>(std::max<int64_t>(options_.prefetch, 1));
    std::deque<StreamTurn>& queue = queues_[worker];
    Turns turns = every(worker, queues_.size());
    while (!turns.is_over()) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [&] { return queue.size() < ahead; });
      if (stop.stop_requested()) return;
      lock.unlock();
      StreamTurn turn = make(turns.current());
      if (turn.batch)
        turns.advance();
      else
        turns.end_current();
      lock.lock();
      queue.push_back(std::move(turn));
      lock.unlock();
      changed_.notify_all();
    }
  }

  IterableDatasetPtr dataset_;
  LoaderOptions options_;
  std::vector<StreamBatcher> batchers_;  // of each part; point at the two above
  Turns turns_;                          // of the loop
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::deque<StreamTurn>> queues_;  // of each worker
  std::vector<std::jthread> workers_;           // last: they end before what they use
};

}  // namespace

std::shared_ptr<BatchSource> batches_of_streams(IterableDatasetPtr dataset, DataPosition begin,
                                                const LoaderOptions& options) {
  return std::make_shared<StreamBatches>(std::move(dataset), begin, options);
}

}  // namespace sardonyx::eager::data
