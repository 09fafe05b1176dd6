#include "eager/data/distributed_sampler.h"

#include <algorithm>
#include <numeric>

#include "eager/data/dataset.h"

namespace sardonyx::eager::data {

DistributedSampler::DistributedSampler(int64_t count, int ranks, int rank,
                                       DistributedSamplerOptions options)
    : count_(count), ranks_(ranks), rank_(rank), options_(options) {
  if (ranks < 1 || rank < 0 || rank >= ranks || count < 0) {
    fail(ErrorCode::kInvalidArgument,
         "DistributedSampler: expected 0 <= rank < ranks and no negative count, got rank ", rank,
         " of ", ranks, " and ", count, " samples");
  }
}

int64_t DistributedSampler::size() const {
  return options_.drop_last ? count_ / ranks_ : (count_ + ranks_ - 1) / ranks_;
}

int64_t DistributedSampler::size_of(int64_t epoch) const {
  const int64_t left = count_ - begin_of(epoch);
  return options_.drop_last ? left / ranks_ : (left + ranks_ - 1) / ranks_;
}

void DistributedSampler::begin_at(int64_t epoch, int64_t samples) {
  if (epoch < 0 || samples < 0) {
    fail(ErrorCode::kInvalidArgument,
         "DistributedSampler: expected an epoch and a number of samples from 0 on, got ", epoch,
         " and ", samples);
  }
  begin_epoch_ = epoch;
  begin_ = std::min(samples, count_);
}

std::vector<int64_t> DistributedSampler::order(int64_t epoch) const {
  std::vector<int64_t> all(static_cast<size_t>(count_));
  if (options_.shuffle)
    all = shuffled(count_, options_.seed, epoch);
  else
    std::iota(all.begin(), all.end(), int64_t{0});
  std::vector<int64_t> own;
  for (int64_t i = 0; i < size_of(epoch); ++i) {
    const int64_t at = begin_of(epoch) + i * ranks_ + rank_;
    own.push_back(all[static_cast<size_t>(at % count_)]);  // beyond the end: from the front again
  }
  return own;
}

}  // namespace sardonyx::eager::data
