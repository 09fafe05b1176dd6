#include "eager/data/loader.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace sardonyx::eager::data {

// One epoch's batches. Workers take the next number that is not made yet, but stay within a window
// ahead of the loop; what they make waits until its turn.
class DataLoader::Iterator::Source {
 public:
  Source(DatasetPtr dataset, std::vector<std::vector<int64_t>> batches, DataPosition begin,
         const LoaderOptions& options)
      : dataset_(std::move(dataset)),
        indices_(std::move(batches)),
        batches_(static_cast<int64_t>(indices_.size())),
        epoch_(begin.epoch),
        seed_(options.seed),
        window_(options.workers * std::max<int64_t>(options.prefetch, 1)) {
    for (int64_t place = 0; const std::vector<int64_t>& batch : indices_) {
      places_.push_back(place);
      place += static_cast<int64_t>(batch.size());
    }
    started_ = given_ = std::min(begin.batches, batches_);
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
    const auto at = static_cast<size_t>(batch);
    const ReadingScope reading({seed_, epoch_, places_[at]});
    return dataset_->batch(indices_[at]);
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
  int64_t window_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int64_t, Made> made_;
  int64_t started_ = 0, given_ = 0;
  std::vector<std::jthread> workers_;  // last: they end before what they use
};

DataLoader::Iterator::Iterator(std::shared_ptr<Source> source,
                               std::shared_ptr<DataPosition> position)
    : source_(std::move(source)), position_(std::move(position)) {
  ++*this;
}
DataLoader::Iterator& DataLoader::Iterator::operator++() {
  if (std::optional<Sample> batch = source_->next()) {
    current_ = std::move(*batch);
    ++position_->batches;
  } else {
    is_done_ = true;
    *position_ = {position_->epoch + 1, 0};
  }
  return *this;
}

DataLoader::DataLoader(DatasetPtr dataset, LoaderOptions options)
    : dataset_(std::move(dataset)), options_(options) {
  constexpr int kMaxWorkers = 256;
  if (!dataset_) fail(ErrorCode::kInvalidArgument, "DataLoader: expected a dataset");
  if (options.batch_size <= 0 || options.workers < 0 || options.workers > kMaxWorkers ||
      options.prefetch < 0) {
    fail(ErrorCode::kInvalidArgument, "DataLoader: expected a positive batch_size and 0 to ",
         kMaxWorkers, " workers, got ", options.batch_size, " and ", options.workers);
  }
  if (options.shuffle && (options.sampler || options.batch_sampler)) {
    fail(
        ErrorCode::kInvalidArgument,
        "DataLoader: expected shuffle or a sampler, got both; samplers have an order of their own");
  }
  if (options.collate) dataset_ = std::make_shared<CollatedDataset>(dataset_, options.collate);
}

std::shared_ptr<const BatchSampler> DataLoader::batches() const {
  if (options_.batch_sampler) return options_.batch_sampler;
  SamplerPtr sampler = options_.sampler;
  if (!sampler && options_.shuffle)
    sampler = std::make_shared<RandomSampler>(dataset_->size(),
                                              RandomSamplerOptions{.seed = options_.seed});
  if (!sampler) sampler = std::make_shared<SequentialSampler>(dataset_->size());
  return std::make_shared<BatchSampler>(std::move(sampler), options_.batch_size,
                                        options_.drop_last);
}

int64_t DataLoader::size() const {
  return batches()->size();
}

void DataLoader::set_position(DataPosition position) {
  if (position.epoch < 0 || position.batches < 0) {
    fail(ErrorCode::kInvalidArgument,
         "DataLoader: expected an epoch and a number of batches from 0 ", "on, got ",
         position.epoch, " and ", position.batches);
  }
  epoch_ = position.epoch;
  skipped_ = position.batches;
  *position_ = position;
}

DataLoader::Iterator DataLoader::begin() {
  const DataPosition begin{epoch_++, std::exchange(skipped_, 0)};
  *position_ = begin;
  return {std::make_shared<Iterator::Source>(dataset_, batches()->batches(begin.epoch), begin,
                                             options_),
          position_};
}

}  // namespace sardonyx::eager::data
