// Datasets that are read from their beginning to their end, as lines of files or messages of a
// queue are: samples have no numbers, and how many there are need not be known.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "eager/data/dataset.h"

namespace sardonyx::eager::data {

// Which part of an IterableDataset a stream is to give: part `id` of `count`. Streams of one epoch
// that look at it give each sample once between them; those that do not repeat the dataset.
struct WorkerInfo {
  int64_t id = 0, count = 1;
  uint64_t seed = 0;  // the loader's
  int64_t epoch = 0;
};

// The next sample at each call; nullopt after the last, and from then on. What it throws ends it
// and reaches the loop.
using SampleStream = std::function<std::optional<Sample>()>;

// For a DataLoader, which batches each stream by itself and gives the batches of all round-robin:
// one of stream 0, one of stream 1 ..., without those that have ended.
class IterableDataset {
 public:
  virtual ~IterableDataset() = default;
  // Begins an epoch of this part. Called from several threads at once where a DataLoader has
  // workers; a stream is called from one thread at a time. What both draw (randint() ...) depends
  // on the loader's seed, the epoch and the sample's place in the part.
  virtual SampleStream stream(const WorkerInfo& part) const = 0;
  // Parts of an epoch: 0 for one to each worker, as in torch, so that the order of samples depends
  // on the number of workers. A number makes it the same for any: workers share the parts.
  virtual int64_t parts() const { return 0; }
  // Samples of all parts in an epoch, where that is known: for DataLoader::size() alone, as an
  // epoch ends where its streams do.
  virtual std::optional<int64_t> size() const { return {}; }
};
using IterableDatasetPtr = std::shared_ptr<const IterableDataset>;

// The samples of each dataset after the other's, part by part.
class ChainDataset : public IterableDataset {
 public:
  // Throws kInvalidArgument where there is no dataset, one is null, or their parts() differ.
  explicit ChainDataset(std::vector<IterableDatasetPtr> datasets);
  SampleStream stream(const WorkerInfo& part) const override;
  int64_t parts() const override { return datasets_[0]->parts(); }
  std::optional<int64_t> size() const override;

 private:
  std::vector<IterableDatasetPtr> datasets_;
};

// Samples in random order as far as a buffer of `capacity` reaches: each is drawn from those read,
// and the next takes its place. The order depends on the loader's seed and the epoch.
class ShuffleBuffer : public IterableDataset {
 public:
  ShuffleBuffer(IterableDatasetPtr whole, int64_t capacity);
  SampleStream stream(const WorkerInfo& part) const override;
  int64_t parts() const override { return whole_->parts(); }
  std::optional<int64_t> size() const override { return whole_->size(); }

 private:
  IterableDatasetPtr whole_;
  int64_t capacity_;
};

}  // namespace sardonyx::eager::data
