// One epoch's batches, as the loop of a DataLoader takes them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "eager/data/loader.h"

namespace sardonyx::eager::data {

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // nullopt after the last. Throws what a dataset threw for this batch.
  virtual std::optional<Sample> next() = 0;
};

// The given batches from number `begin.batches` on.
std::shared_ptr<BatchSource> batches_by_index(DatasetPtr dataset,
                                              std::vector<std::vector<int64_t>> batches,
                                              DataPosition begin, const LoaderOptions& options);
// Those of an IterableDataset's streams, round-robin; the first `begin.batches` are made and
// dropped.
std::shared_ptr<BatchSource> batches_of_streams(IterableDatasetPtr dataset, DataPosition begin,
                                                const LoaderOptions& options);

}  // namespace sardonyx::eager::data
