// The share of a dataset that one of several processes reads.
#pragma once

#include "eager/data/samplers.h"

namespace sardonyx::eager::data {

struct DistributedSamplerOptions {
  bool shuffle = true;  // in an order that depends on the seed and the epoch alone, as on all ranks
  uint64_t seed = 0;
  // Every rank gets as many samples: those at the front come once more at the end, or with
  // drop_last some at the end don't come.
  bool drop_last = false;
};

// Rank r of n takes samples r, r + n, r + 2n, ... of the order that all ranks agree on, as torch's
// does. The epoch is the loader's: what torch calls set_epoch() is DataLoader::set_epoch(), and
// each loop over a loader is the next one.
class DistributedSampler : public Sampler {
 public:
  // Throws kInvalidArgument unless 0 <= rank < ranks and count >= 0.
  DistributedSampler(int64_t count, int ranks, int rank, DistributedSamplerOptions options = {});
  int64_t size() const override;
  std::vector<int64_t> order(int64_t epoch) const override;

 private:
  int64_t count_;
  int ranks_, rank_;
  DistributedSamplerOptions options_;
};

}  // namespace sardonyx::eager::data
