#include "eager/data/loader.h"

#include <utility>

#include "eager/data/batch_source.h"

namespace sardonyx::eager::data {
namespace {

void check_options(bool has_dataset, const LoaderOptions& options) {
  constexpr int kMaxWorkers = 256;
  if (!has_dataset) fail(ErrorCode::kInvalidArgument, "DataLoader: expected a dataset");
  if (options.batch_size.value_or(1) <= 0 || options.workers < 0 || options.workers > kMaxWorkers ||
      options.prefetch < 0) {
    fail(ErrorCode::kInvalidArgument, "DataLoader: expected a positive batch_size and 0 to ",
         kMaxWorkers, " workers, got ", options.batch_size.value_or(1), " and ", options.workers);
  }
  if (!options.batch_size && (options.drop_last || options.collate)) {
    fail(ErrorCode::kInvalidArgument, "DataLoader: expected a batch_size for ",
         options.drop_last ? "drop_last" : "collate", ", got samples that are not batched");
  }
}

int64_t batch_count(int64_t samples, const LoaderOptions& options) {
  const int64_t size = options.batch_size.value_or(1);
  return options.drop_last ? samples / size : (samples + size - 1) / size;
}

}  // namespace

DataLoader::Iterator::Iterator(std::shared_ptr<BatchSource> source,
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
    : dataset_(std::move(dataset)), options_(std::move(options)) {
  check_options(dataset_ != nullptr, options_);
  if (options_.shuffle && (options_.sampler || options_.batch_sampler)) {
    fail(
        ErrorCode::kInvalidArgument,
        "DataLoader: expected shuffle or a sampler, got both; samplers have an order of their own");
  }
  if (options_.collate) dataset_ = std::make_shared<CollatedDataset>(dataset_, options_.collate);
}

DataLoader::DataLoader(IterableDatasetPtr dataset, LoaderOptions options)
    : iterable_(std::move(dataset)), options_(std::move(options)) {
  check_options(iterable_ != nullptr, options_);
  if (options_.shuffle || options_.sampler || options_.batch_sampler) {
    fail(ErrorCode::kInvalidArgument, "DataLoader: expected no ",
         options_.shuffle   ? "shuffle"
         : options_.sampler ? "sampler"
                            : "batch_sampler",
         " for an IterableDataset, whose samples have no numbers; wrap it in a ShuffleBuffer, or "
         "order samples in its stream()");
  }
}

std::shared_ptr<const BatchSampler> DataLoader::batches() const {
  if (options_.batch_sampler) return options_.batch_sampler;
  SamplerPtr sampler = options_.sampler;
  if (!sampler && options_.shuffle)
    sampler = std::make_shared<RandomSampler>(dataset_->size(),
                                              RandomSamplerOptions{.seed = options_.seed});
  if (!sampler) sampler = std::make_shared<SequentialSampler>(dataset_->size());
  return std::make_shared<BatchSampler>(std::move(sampler), options_.batch_size.value_or(1),
                                        options_.drop_last);
}

int64_t DataLoader::size() const {
  return iterable_ ? batch_count(sample_count(), options_) : batches()->size();
}

int64_t DataLoader::sample_count() const {
  if (dataset_) return dataset_->size();
  if (const std::optional<int64_t> count = iterable_->size()) return *count;
  fail(ErrorCode::kInvalidArgument,
       "DataLoader: the IterableDataset does not know how many samples it has; override its "
       "size(), or count batches in the loop");
}

int64_t DataLoader::batch_size() const {
  return options_.batch_sampler ? 0 : options_.batch_size.value_or(1);
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
  return {iterable_ ? batches_of_streams(iterable_, begin, options_)
                    : batches_by_index(dataset_, batches()->batches(begin.epoch), begin, options_),
          position_};
}

}  // namespace sardonyx::eager::data
