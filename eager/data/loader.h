// Batches of a dataset, made ahead by worker threads where asked for.
#pragma once

#include <iterator>
#include <optional>

#include "eager/data/iterable.h"
#include "eager/data/joined.h"
#include "eager/data/samplers.h"

namespace sardonyx::eager::data {

struct LoaderOptions {
  std::optional<int64_t> batch_size = 1;  // nullopt: samples as they are, one after the other
  bool shuffle = false;  // in an order that depends on the seed and the epoch alone
  uint64_t seed = 0;
  bool drop_last = false;  // leaves out a last batch that is not full; of each stream
  int workers = 0;         // threads that make batches; 0: the loop's own
  int64_t prefetch = 2;    // batches that each worker may be ahead
  // Instead of `shuffle`: which samples, in which order.
  SamplerPtr sampler = {};
  // Instead of all of these and of batch_size and drop_last.
  std::shared_ptr<const BatchSampler> batch_sampler = {};
  // Makes batches of their samples; without it the dataset does, by stacking them.
  Collate collate = {};
};

class BatchSource;

// Where a loop over a loader stands: how many batches of the epoch it has given.
struct DataPosition {
  int64_t epoch = 0, batches = 0;
  friend bool operator==(const DataPosition&, const DataPosition&) = default;
};

//   for (const Sample& batch : loader) { ... batch[0], batch[1] ... }
// Each loop is one epoch, in another order where shuffled. Batches come in order whatever the
// number of workers, and so do random numbers that datasets draw: each sample has a generator of
// its own, by the seed, the epoch and its place in it (current_reading() tells get() the epoch).
// What a dataset throws reaches the loop at that batch. A loop may end early.
// Streams of an IterableDataset are batched each by itself, and their batches taken round-robin;
// the position of a loop is then found again by reading up to it.
class DataLoader {
 public:
  class Iterator;
  struct End {};

  // Throws kInvalidArgument for options that contradict each other or are out of range.
  DataLoader(DatasetPtr dataset, LoaderOptions options = {});
  template <std::derived_from<Dataset> D>
  DataLoader(D dataset, LoaderOptions options = {})
      : DataLoader(DatasetPtr(std::make_shared<D>(std::move(dataset))), options) {}

  // `shuffle` and samplers are for datasets whose samples have numbers.
  DataLoader(IterableDatasetPtr dataset, LoaderOptions options = {});
  template <std::derived_from<IterableDataset> D>
  DataLoader(D dataset, LoaderOptions options = {})
      : DataLoader(IterableDatasetPtr(std::make_shared<D>(std::move(dataset))), options) {}

  // Begins an epoch; workers start here and end with the iterator.
  Iterator begin();
  End end() const { return {}; }
  // Batches in an epoch, and samples of the dataset. Of an IterableDataset that
  // knows its size, batches are counted as those of one stream; else both throw kInvalidArgument.
  int64_t size() const;
  int64_t sample_count() const;
  // The epoch that the next loop is; for resuming.
  int64_t epoch() const { return epoch_; }
  void set_epoch(int64_t epoch) { set_position({epoch, 0}); }
  // Of the latest loop; {epoch(), 0} after its end and before the first. Copies of a loader share
  // it. The next loop after set_position() begins behind that many batches of that epoch, and goes
  // on as the loop that stood there would have: what samples draw depends on their place.
  DataPosition position() const { return *position_; }
  void set_position(DataPosition position);
  // Samples of a batch; 0 where a batch_sampler decides, 1 where none are made.
  int64_t batch_size() const;

 private:
  std::shared_ptr<const BatchSampler> batches() const;
  DatasetPtr dataset_;           // or
  IterableDatasetPtr iterable_;  // the other is null
  LoaderOptions options_;
  int64_t epoch_ = 0, skipped_ = 0;  // of the next loop
  std::shared_ptr<DataPosition> position_ = std::make_shared<DataPosition>();
};

// One pass over an epoch; what it points at is valid until it moves on.
class DataLoader::Iterator {
 public:
  using value_type = Sample;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::input_iterator_tag;

  const Sample& operator*() const { return current_; }
  Iterator& operator++();
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& at, End) { return at.is_done_; }

 private:
  friend class DataLoader;
  Iterator(std::shared_ptr<BatchSource> source, std::shared_ptr<DataPosition> position);
  std::shared_ptr<BatchSource> source_;
  std::shared_ptr<DataPosition> position_;
  Sample current_;
  bool is_done_ = false;
};

}  // namespace sardonyx::eager::data
