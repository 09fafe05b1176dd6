#include "executor/batching/padding_gain.h"

namespace sardonyx::serving {
namespace {

// Clients choose lengths, and so how many buckets there are. What is forgotten is measured anew.
constexpr size_t kMostBuckets = 1024;

}  // namespace

void PaddingGain::Cost::add(double now) {
  // The first run of a shape plans it: the estimate falls faster than it rises.
  const double weight = runs == 0 ? 0 : now < ns_per_element ? 1 : 7;
  ns_per_element = (weight * ns_per_element + now) / (weight + 1);
  ++runs;
}

PaddingGain::Bucket& PaddingGain::bucket_of(const std::string& bucket) {
  if (buckets_.size() >= kMostBuckets && !buckets_.contains(bucket)) buckets_.clear();
  return buckets_[bucket];
}

bool PaddingGain::pads_next(const std::string& bucket) {
  const std::lock_guard lock(mutex_);
  Bucket& one = bucket_of(bucket);
  if (one.padded.runs < kTries) return true;
  if (one.as_they_are.runs < kTries) return false;
  const bool pays = one.padded.ns_per_element < one.as_they_are.ns_per_element;
  return ++one.decisions % kLooksAgainAt == 0 ? !pays : pays;
}

void PaddingGain::add(const std::string& bucket, bool is_padded, int64_t elements,
                      Nanoseconds took) {
  if (elements <= 0) return;
  const std::lock_guard lock(mutex_);
  Bucket& one = bucket_of(bucket);
  Cost& cost = is_padded ? one.padded : one.as_they_are;
  cost.add(static_cast<double>(took.count()) / static_cast<double>(elements));
}

}  // namespace sardonyx::serving
