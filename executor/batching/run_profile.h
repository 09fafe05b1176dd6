// What the runs of a model that serves spend their time on, while somebody wants to know.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "executor/batching/statistics.h"
#include "executor/run_report.h"

namespace sardonyx::serving {

// Sums over runs, by step.
class RunProfile {
 public:
  struct Step {
    NodeTiming slowest;  // of those that were counted
    uint64_t count = 0;
    double seconds = 0;
    uint64_t bytes = 0;
  };
  struct Sums {
    uint64_t runs = 0;
    double seconds = 0;       // of the runs
    std::vector<Step> steps;  // the costliest first
  };

  void add(Nanoseconds took, std::span<const NodeTiming> steps);
  Sums sums() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // node, op, implementation
  mutable std::mutex mutex_;
  uint64_t runs_ = 0;
  double seconds_ = 0;
  std::map<Key, Step> steps_;
};

// The profiles that are being taken of one model. Runs cost no more than without while there are
// none.
class RunProfiles {
 public:
  // Runs that end from now on are added to it as long as the pointer is held.
  std::shared_ptr<RunProfile> begin();
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  void add(Nanoseconds took, std::span<const NodeTiming> steps);

 private:
  std::atomic<bool> is_on_ = false;
  std::mutex mutex_;
  std::vector<std::weak_ptr<RunProfile>> taken_;
};

}  // namespace sardonyx::serving
