#include "eager/data/loader.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

namespace sardonyx::eager::data {

// One epoch's batches. Workers take the next number that is not made yet, but stay within a window
// ahead of the loop; what they make waits until its turn.
class DataLoader::Iterator::Source {
 public:
  Source(DatasetPtr dataset, std::vector<int64_t> order, int64_t batches,
         const LoaderOptions& options)
      : dataset_(std::move(dataset)),
        order_(std::move(order)),
        batches_(batches),
        batch_size_(options.batch_size),
        window_(options.workers * std::max<int64_t>(options.prefetch, 1)) {
    for (int worker = 0; worker < options.workers; ++worker)
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
  ~Source() {
    for (std::jthread& worker : workers_)
      worker.request_stop();
    changed_.notify_all();
  }

  // nullopt after the last.
  std::optional<Sample> next() {
    if (given_ == batches_) return std::nullopt;
    if (workers_.empty()) return make(given_++);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return made_.contains(given_); });
    Made made = std::move(made_.extract(given_).mapped());
    ++given_;
    lock.unlock();
    changed_.notify_all();
    if (made.error) std::rethrow_exception(made.error);
    return std::move(made.batch);
  }

 private:
  struct Made {
    Sample batch;
    std::exception_ptr error;
  };

  Sample make(int64_t batch) const {
    const int64_t begin = batch * batch_size_;
    const int64_t end = std::min(begin + batch_size_, static_cast<int64_t>(order_.size()));
    return dataset_->batch(
        std::span(order_).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  }

  void work(const std::stop_token& stop) {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop,
                    [&] { return started_ == batches_ || started_ < given_ + window_; });
      if (stop.stop_requested() || started_ == batches_) return;
      const int64_t batch = started_++;
      lock.unlock();
      Made made;
      try {
        made.batch = make(batch);
      } catch (...) {
        made.error = std::current_exception();
      }
      lock.lock();
      made_[batch] = std::move(made);
      lock.unlock();
      changed_.notify_all();
    }
  }

  DatasetPtr dataset_;
  std::vector<int64_t> order_;
  int64_t batches_, batch_size_, window_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int64_t, Made> made_;
  int64_t started_ = 0, given_ = 0;
  std::vector<std::jthread> workers_;  // last: they end before what they use
};

DataLoader::Iterator::Iterator(std::shared_ptr<Source> source) : source_(std::move(source)) {
  ++*this;
}
DataLoader::Iterator& DataLoader::Iterator::operator++() {
  if (std::optional<Sample> batch = source_->next())
    current_ = std::move(*batch);
  else
    is_done_ = true;
  return *this;
}

DataLoader::DataLoader(DatasetPtr dataset, LoaderOptions options)
    : dataset_(std::move(dataset)), options_(options) {
  constexpr int kMostWorkers = 256;
  if (!dataset_) fail(ErrorCode::kInvalidArgument, "DataLoader: expected a dataset");
  if (options.batch_size <= 0 || options.workers < 0 || options.workers > kMostWorkers ||
      options.prefetch < 0) {
    fail(ErrorCode::kInvalidArgument, "DataLoader: expected a positive batch_size and 0 to ",
         kMostWorkers, " workers, got ", options.batch_size, " and ", options.workers);
  }
}

int64_t DataLoader::size() const {
  const int64_t samples = dataset_->size(), batch = options_.batch_size;
  return options_.drop_last ? samples / batch : samples / batch + (samples % batch != 0);
}

DataLoader::Iterator DataLoader::begin() {
  std::vector<int64_t> order;
  if (options_.shuffle) {
    order = shuffled(dataset_->size(), options_.seed, epoch_);
  } else {
    order.resize(static_cast<size_t>(dataset_->size()));
    std::iota(order.begin(), order.end(), 0);
  }
  ++epoch_;
  return Iterator(std::make_shared<Iterator::Source>(dataset_, std::move(order), size(), options_));
}

}  // namespace sardonyx::eager::data
