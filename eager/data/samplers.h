// In which order samples are taken: for LoaderOptions::sampler and batch_sampler. An order depends
// on a sampler's seed and the epoch alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager::data {

// Derive for orders of your own: both functions are called from the loader's thread.
class Sampler {
 public:
  virtual ~Sampler() = default;
  // How many samples an epoch has.
  virtual int64_t size() const = 0;
  // Their numbers in the dataset.
  virtual std::vector<int64_t> order(int64_t epoch) const = 0;
};
using SamplerPtr = std::shared_ptr<const Sampler>;

// 0, 1, ..., count - 1
class SequentialSampler : public Sampler {
 public:
  // Throws kInvalidArgument where the count is negative.
  explicit SequentialSampler(int64_t count);
  int64_t size() const override { return count_; }
  std::vector<int64_t> order(int64_t epoch) const override;

 private:
  int64_t count_;
};

// The order of epoch e is drawn from (seed, e) alone, so a resumed training continues it.
struct RandomSamplerOptions {
  bool replacement = false;             // each sample is drawn from all
  std::optional<int64_t> samples = {};  // in an epoch; as many as there are. Beyond these, anew
  uint64_t seed = 0;
};
// All samples in random order, another one in each epoch.
class RandomSampler : public Sampler {
 public:
  explicit RandomSampler(int64_t count, RandomSamplerOptions options = {});
  int64_t size() const override { return options_.samples.value_or(count_); }
  std::vector<int64_t> order(int64_t epoch) const override;

 private:
  int64_t count_;
  RandomSamplerOptions options_;
};

// Sample i with a probability that is proportional to weights[i] (at least 0): for classes of
// different sizes. Without replacement each sample comes once at most.
class WeightedRandomSampler : public Sampler {
 public:
  WeightedRandomSampler(std::vector<double> weights, int64_t samples, bool replacement = true,
                        uint64_t seed = 0);
  int64_t size() const override { return samples_; }
  std::vector<int64_t> order(int64_t epoch) const override;

 private:
  std::vector<double> weights_;
  int64_t samples_;
  bool replacement_;
  uint64_t seed_;
};

// The given samples in random order.
class SubsetRandomSampler : public Sampler {
 public:
  // Each index once an epoch, whatever the dataset's size.
  explicit SubsetRandomSampler(std::vector<int64_t> indices, uint64_t seed = 0);
  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  std::vector<int64_t> order(int64_t epoch) const override;

 private:
  std::vector<int64_t> indices_;
  uint64_t seed_;
};

// Whole batches, for those that belong to one group (samples of like lengths). This one cuts a
// sampler's order; derive for others.
class BatchSampler {
 public:
  // drop_last: without the last batch where it has less than batch_size samples.
  BatchSampler(SamplerPtr sampler, int64_t batch_size, bool drop_last = false);
  virtual ~BatchSampler() = default;
  virtual int64_t size() const;  // batches in an epoch
  virtual std::vector<std::vector<int64_t>> batches(int64_t epoch) const;

 protected:
  BatchSampler() = default;

 private:
  SamplerPtr sampler_;
  int64_t batch_size_ = 1;
  bool drop_last_ = false;
};

}  // namespace sardonyx::eager::data
