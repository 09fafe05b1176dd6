// Whether requests of different lengths are served sooner padded, as one run, or as they are.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "executor/batching/statistics.h"

namespace sardonyx::serving {

// Padding adds work, and a joint run saves what each run costs beside its work: which of them is
// more depends on model, machine and lengths, and is measured as requests are served. Requests of
// one bucket, whose lengths are less than twice each other, share what is measured.
class PaddingGain {
 public:
  static constexpr int kTries = 4;               // of each way, before they are compared
  static constexpr uint64_t kLooksAgainAt = 64;  // runs, one of which goes the other way

  // Is the next run of this bucket to be padded? Counts as one.
  bool pads_next(const std::string& bucket);
  // A run of requests with `elements` in inputs that may be padded, the padding not counted.
  void add(const std::string& bucket, bool is_padded, int64_t elements, Nanoseconds took);

 private:
  struct Cost {
    void add(double now);
    int runs = 0;
    double ns_per_element = 0;
  };
  struct Bucket {
    Cost as_they_are, padded;
    uint64_t decisions = 0;
  };
  Bucket& bucket_of(const std::string& bucket);

  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace sardonyx::serving
