// What a training loop reads: samples by number.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "eager/generator.h"
#include "eager/tensor.h"

namespace sardonyx::eager::data {

// The tensors of one sample (input, target ...), or of a batch: the same with one more dim in
// front.
using Sample = std::vector<Tensor>;

// What a DataLoader is about to get: its seed, the epoch, and the place of the sample (the first of
// a batch) in the epoch's order.
struct Reading {
  uint64_t seed = 0;
  int64_t epoch = 0, place = 0;
};
// Of the loader that this thread reads for; none outside of loaders.
std::optional<Reading> current_reading();
// The thread reads for a loader until the scope ends, and draws from a generator that depends on
// the reading alone.
class ReadingScope {
 public:
  explicit ReadingScope(const Reading& reading);
  ~ReadingScope();
  ReadingScope(const ReadingScope&) = delete;
  ReadingScope& operator=(const ReadingScope&) = delete;

 private:
  Reading reading_;
  const Reading* previous_;
  UseGenerator generator_;
};

// get() and batch() are called from several threads at once where a DataLoader has workers. What
// get() draws (randint() ...) depends on the loader's seed, the epoch and the sample's place in it:
// not on the number of workers, nor on the batch size.
class Dataset {
 public:
  virtual ~Dataset() = default;
  // Samples; get() takes indices below this.
  virtual int64_t size() const = 0;
  // Throws what the loop over a loader is to throw.
  virtual Sample get(int64_t index) const = 0;
  // Samples adjacent; stacks get() unless a dataset knows better.
  virtual Sample batch(std::span<const int64_t> indices) const;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

// Sample i is row i of each tensor; all have as many rows.
class TensorDataset : public Dataset {
 public:
  explicit TensorDataset(std::vector<Tensor> tensors);
  int64_t size() const override { return size_; }
  Sample get(int64_t index) const override;
  Sample batch(std::span<const int64_t> indices) const override;
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
  int64_t size_ = 0;
};

// Samples that a function makes.
class FunctionDataset : public Dataset {
 public:
  FunctionDataset(int64_t size, std::function<Sample(int64_t)> get)
      : size_(size), get_(std::move(get)) {}
  int64_t size() const override { return size_; }
  Sample get(int64_t index) const override { return get_(index); }

 private:
  int64_t size_;
  std::function<Sample(int64_t)> get_;
};

// Some samples of another dataset.
class Subset : public Dataset {
 public:
  Subset(DatasetPtr whole, std::vector<int64_t> indices);
  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  Sample get(int64_t index) const override;
  Sample batch(std::span<const int64_t> indices) const override;

 private:
  DatasetPtr whole_;
  std::vector<int64_t> indices_;
};
// Parts of the given sizes, which must add up to the whole; drawn by the seed.
std::vector<DatasetPtr> random_split(DatasetPtr whole, const std::vector<int64_t>& sizes,
                                     uint64_t seed = 0);

// Samples as one batch: each column stacked.
Sample default_collate(std::span<const Sample> samples);
// Samples by number. Within a loader each draws from a generator of its own.
std::vector<Sample> read_samples(const Dataset& dataset, std::span<const int64_t> indices);
// Tensors of one type and shape as one with a dim in front. Unlike stack() no op.
Tensor stack_samples(std::span<const Tensor> tensors);

// The numbers [0, count) in an order that depends on seed and epoch alone.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed, int64_t epoch = 0);

}  // namespace sardonyx::eager::data
