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

  // In this epoch the first `samples` of the order that all ranks agree on are left out: for a run
  // that goes on with another number of ranks than the one that took them.
  void begin_at(int64_t epoch, int64_t samples);
  int64_t begin_of(int64_t epoch) const { return epoch == begin_epoch_ ? begin_ : 0; }

 private:
  int64_t size_of(int64_t epoch) const;

  int64_t count_;
  int ranks_, rank_;
  int64_t begin_epoch_ = 0, begin_ = 0;
  DistributedSamplerOptions options_;
};

}  // namespace sardonyx::eager::data
