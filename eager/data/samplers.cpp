#include "eager/data/samplers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "eager/data/dataset.h"
#include "ir/core/error.h"
#include "ir/core/random.h"

namespace sardonyx::eager::data {
namespace {

int64_t checked_count(const char* name, int64_t count) {
  if (count >= 0) return count;
  fail(ErrorCode::kInvalidArgument, name, ": expected a count of at least 0, got ", count);
}

// One stream of numbers for each epoch, far apart.
class Draws {
 public:
  Draws(uint64_t seed, int64_t epoch)
      : stream_(seed), at_(static_cast<uint64_t>(epoch) << kEpochShift) {}
  double uniform() { return stream_.uniform(at_++); }
  int64_t below(int64_t count) {
    return static_cast<int64_t>(uniform() * static_cast<double>(count));
  }

 private:
  static constexpr int kEpochShift = 40;
  RandomStream stream_;
  uint64_t at_;
};

}  // namespace

SequentialSampler::SequentialSampler(int64_t count)
    : count_(checked_count("SequentialSampler", count)) {}
std::vector<int64_t> SequentialSampler::order(int64_t) const {
  std::vector<int64_t> order(static_cast<size_t>(count_));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

RandomSampler::RandomSampler(int64_t count, RandomSamplerOptions options)
    : count_(checked_count("RandomSampler", count)), options_(options) {
  checked_count("RandomSampler: samples", size());
  if (count == 0 && size() > 0) {
    fail(ErrorCode::kInvalidArgument, "RandomSampler: expected a dataset with samples to draw ",
         size(), " from");
  }
}
std::vector<int64_t> RandomSampler::order(int64_t epoch) const {
  std::vector<int64_t> order;
  Draws draws(options_.seed, epoch);
  if (options_.replacement) {
    while (static_cast<int64_t>(order.size()) < size())
      order.push_back(draws.below(count_));
    return order;
  }
  // As often through all of them as it takes, each time in another order.
  const int64_t rounds = count_ == 0 ? 0 : (size() + count_ - 1) / count_;
  for (int64_t round = 0; round < rounds; ++round) {
    const std::vector<int64_t> once = shuffled(count_, options_.seed, epoch * rounds + round);
    order.insert(order.end(), once.begin(), once.end());
  }
  order.resize(static_cast<size_t>(size()));
  return order;
}

WeightedRandomSampler::WeightedRandomSampler(std::vector<double> weights, int64_t samples,
                                             bool replacement, uint64_t seed)
    : weights_(std::move(weights)),
      samples_(checked_count("WeightedRandomSampler", samples)),
      replacement_(replacement),
      seed_(seed) {
  int64_t positive = 0;
  for (const double weight : weights_) {
    if (!(weight >= 0) || std::isinf(weight)) {
      fail(ErrorCode::kInvalidArgument,
           "WeightedRandomSampler: expected finite weights of at least 0, got ", weight);
    }
    positive += weight > 0;
  }
  if (samples > 0 && (positive == 0 || (!replacement && samples > positive))) {
    fail(ErrorCode::kInvalidArgument, "WeightedRandomSampler: expected positive weights for ",
         samples, replacement ? " samples" : " samples without replacement", ", got ", positive);
  }
}
std::vector<int64_t> WeightedRandomSampler::order(int64_t epoch) const {
  Draws draws(seed_, epoch);
  std::vector<int64_t> order;
  if (replacement_) {
    std::vector<double> sums(weights_.size());
    std::partial_sum(weights_.begin(), weights_.end(), sums.begin());
    while (static_cast<int64_t>(order.size()) < samples_) {
      const double at = draws.uniform() * sums.back();
      // Past every sum that is not above it, so that a weight of 0 is never met.
      order.push_back(std::ranges::upper_bound(sums, at) - sums.begin());
    }
    return order;
  }
  // The least of exponential numbers of these rates come first (Efraimidis and Spirakis, 2006).
  std::vector<std::pair<double, int64_t>> keys;
  for (size_t i = 0; i < weights_.size(); ++i) {
    const double number = -std::log1p(-draws.uniform());
    if (weights_[i] > 0) keys.emplace_back(number / weights_[i], static_cast<int64_t>(i));
  }
  std::ranges::sort(keys);
  for (int64_t i = 0; i < samples_; ++i)
    order.push_back(keys[static_cast<size_t>(i)].second);
  return order;
}

SubsetRandomSampler::SubsetRandomSampler(std::vector<int64_t> indices, uint64_t seed)
    : indices_(std::move(indices)), seed_(seed) {}
std::vector<int64_t> SubsetRandomSampler::order(int64_t epoch) const {
  std::vector<int64_t> order;
  for (const int64_t place : shuffled(size(), seed_, epoch))
    order.push_back(indices_[static_cast<size_t>(place)]);
  return order;
}

BatchSampler::BatchSampler(SamplerPtr sampler, int64_t batch_size, bool drop_last)
    : sampler_(std::move(sampler)), batch_size_(batch_size), drop_last_(drop_last) {
  if (!sampler_) fail(ErrorCode::kInvalidArgument, "BatchSampler: expected a sampler");
  if (batch_size <= 0) {
    fail(ErrorCode::kInvalidArgument, "BatchSampler: expected a positive batch_size, got ",
         batch_size);
  }
}
int64_t BatchSampler::size() const {
  const int64_t samples = sampler_ ? sampler_->size() : 0;
  return drop_last_ ? samples / batch_size_ : samples / batch_size_ + (samples % batch_size_ != 0);
}
std::vector<std::vector<int64_t>> BatchSampler::batches(int64_t epoch) const {
  std::vector<std::vector<int64_t>> made;
  const std::vector<int64_t> order = sampler_ ? sampler_->order(epoch) : std::vector<int64_t>();
  for (auto at = order.begin(); at != order.end();) {
    const auto count = std::min<ptrdiff_t>(batch_size_, order.end() - at);
    if (count < batch_size_ && drop_last_) break;
    made.emplace_back(at, at + count);
    at += count;
  }
  return made;
}

}  // namespace sardonyx::eager::data
