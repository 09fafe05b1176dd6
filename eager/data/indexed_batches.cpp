// Batches of a Dataset, whose samples have numbers.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "eager/data/batch_source.h"

namespace sardonyx::eager::data {
namespace {

// One epoch's batches. Workers take the next number that is not made yet, but stay within a window
// ahead of the loop; what they make waits until the loop asks for it.
class IndexedBatches : public BatchSource {
 public:
  IndexedBatches(DatasetPtr dataset, std::vector<std::vector<int64_t>> batches, DataPosition begin,
                 const LoaderOptions& options)
      : dataset_(std::move(dataset)),
        indices_(std::move(batches)),
        batches_(static_cast<int64_t>(indices_.size())),
        epoch_(begin.epoch),
        seed_(options.seed),
        is_batched_(options.batch_size || options.batch_sampler),
        window_(options.workers * std::max<int64_t>(options.prefetch, 1)) {
    for (int64_t place = 0; const std::vector<int64_t>& batch : indices_) {
      places_.push_back(place);
      place += static_cast<int64_t>(batch.size());
    }
    started_ = given_ = std::min(begin.batches, batches_);
    for (int worker = 0; worker < options.workers; ++worker)
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
  ~IndexedBatches() override {
    for (std::jthread& worker : workers_)
      worker.request_stop();
    changed_.notify_all();
  }

  std::optional<Sample> next() override {
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
    const auto at = static_cast<size_t>(batch);
    const ReadingScope reading({seed_, epoch_, places_[at]});
    return is_batched_ ? dataset_->batch(indices_[at]) : dataset_->get(indices_[at][0]);
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
  std::vector<std::vector<int64_t>> indices_;  // of each batch
  std::vector<int64_t> places_;                // of its first sample
  int64_t batches_, epoch_;
  uint64_t seed_;
  bool is_batched_;
  int64_t window_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int64_t, Made> made_;
  int64_t started_ = 0, given_ = 0;
  std::vector<std::jthread> workers_;  // last: they end before what they use
};

}  // namespace

std::shared_ptr<BatchSource> batches_by_index(DatasetPtr dataset,
                                              std::vector<std::vector<int64_t>> batches,
                                              DataPosition begin, const LoaderOptions& options) {
  return std::make_shared<IndexedBatches>(std::move(dataset), std::move(batches), begin, options);
}

}  // namespace sardonyx::eager::data
