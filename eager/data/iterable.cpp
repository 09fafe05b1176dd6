#include "eager/data/iterable.h"

#include <algorithm>
#include <utility>

#include "ir/core/random.h"

namespace sardonyx::eager::data {

ChainDataset::ChainDataset(std::vector<IterableDatasetPtr> datasets)
    : datasets_(std::move(datasets)) {
  if (datasets_.empty() || std::ranges::count(datasets_, nullptr) > 0)
    fail(ErrorCode::kInvalidArgument, "ChainDataset: expected one or more datasets");
  for (const IterableDatasetPtr& dataset : datasets_) {
    if (dataset->parts() == datasets_[0]->parts()) continue;
    fail(ErrorCode::kInvalidArgument, "ChainDataset: expected datasets of as many parts, got ",
         datasets_[0]->parts(), " and ", dataset->parts());
  }
}
SampleStream ChainDataset::stream(const WorkerInfo& part) const {
  return [datasets = datasets_, part, at = size_t{0},
          current = SampleStream()]() mutable -> std::optional<Sample> {
    for (; at < datasets.size(); ++at, current = {}) {
      if (!current) current = datasets[at]->stream(part);
      if (std::optional<Sample> sample = current()) return sample;
    }
    return std::nullopt;
  };
}
std::optional<int64_t> ChainDataset::size() const {
  int64_t sum = 0;
  for (const IterableDatasetPtr& dataset : datasets_) {
    const std::optional<int64_t> size = dataset->size();
    if (!size) return std::nullopt;
    sum += *size;
  }
  return sum;
}

ShuffleBuffer::ShuffleBuffer(IterableDatasetPtr whole, int64_t capacity)
    : whole_(std::move(whole)), capacity_(capacity) {
  if (!whole_ || capacity_ < 1) {
    fail(ErrorCode::kInvalidArgument,
         "ShuffleBuffer: expected a dataset and a capacity of 1 or more, got ",
         whole_ ? text("capacity ", capacity_) : "no dataset");
  }
}
SampleStream ShuffleBuffer::stream(const WorkerInfo& part) const {
  return [source = whole_->stream(part), capacity = static_cast<size_t>(capacity_),
          buffer = std::vector<Sample>()]() mutable -> std::optional<Sample> {
    while (source && buffer.size() < capacity) {
      if (std::optional<Sample> sample = source())
        buffer.push_back(std::move(*sample));
      else
        source = {};
    }
    if (buffer.empty()) return std::nullopt;
    const double share = next_random_stream().uniform(0);
    const auto drawn = static_cast<size_t>(share * static_cast<double>(buffer.size()));
    std::swap(buffer[drawn], buffer.back());
    Sample sample = std::move(buffer.back());
    buffer.pop_back();
    return sample;
  };
}

}  // namespace sardonyx::eager::data
