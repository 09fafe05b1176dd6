// The memory in which gradients are reduced, many in one call.
#pragma once

#include <array>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "eager/distributed/data_parallel.h"
#include "eager/distributed/host_memory.h"
#include "eager/nn/module.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager::distributed {

// Parameters are in buckets from the last to the first, which is about the order in which gradients
// come. A bucket has one element type. In each step a bucket is opened, filled, and averaged by the
// group's thread from start() to wait().
class GradientBuckets {
 public:
  GradientBuckets(const nn::NamedTensors& parameters, ProcessGroup group,
                  const DataParallelOptions& options);

  size_t size() const { return buckets_.size(); }
  size_t parameter_count() const { return places_.size(); }
  size_t bucket_of(size_t parameter) const { return places_[parameter].first; }
  // Numbers of parameters, in the order of their elements.
  const std::vector<size_t>& parameters_of(size_t bucket) const {
    return buckets_[bucket].parameters;
  }
  const ProcessGroup& group() const { return group_; }
  bool uses_host_memory() const { return host_memory_ != nullptr; }
  const DataParallelOptions& options() const { return options_; }

  // Means of the step before may still be held as gradients: then the bucket gets other memory.
  void open(size_t bucket);
  // Throws kInvalidArgument where the parameter was converted.
  void put(size_t parameter, const sardonyx::Tensor& gradient);
  bool is_full(size_t bucket) const { return buckets_[bucket].missing == 0; }
  void start(size_t bucket);
  // Throws what the reduction threw.
  void wait(size_t bucket);
  // After wait(): a part of the bucket, of the parameter's shape.
  sardonyx::Tensor mean(size_t parameter) const;
  // Which parameters some rank has a gradient for, from those that this one has. A collective call.
  std::vector<bool> used_anywhere(const std::vector<int32_t>& used_here) const;

 private:
  struct Bucket {
    std::vector<size_t> parameters;
    std::vector<int64_t> begins;  // elements of each in `values`
    int64_t count = 0;            // elements
    sardonyx::Tensor values;      // of this step: one of the homes, or memory of its own
    std::array<sardonyx::Tensor, 2> homes;
    HostValue shared;    // with `host_memory_`: where the homes are
    size_t missing = 0;  // gradients that have not come yet
    std::future<void> done;
  };
  sardonyx::Tensor part_of(size_t parameter) const;
  void share_homes();
  std::future<void> start_in_host_memory(Bucket& bucket, const std::string& what);

  nn::NamedTensors parameters_;
  ProcessGroup group_;
  DataParallelOptions options_;
  std::shared_ptr<HostMemory> host_memory_;  // null: by MPI
  std::vector<Bucket> buckets_;
  std::vector<std::pair<size_t, size_t>> places_;  // of each parameter: its bucket, and where there
};

}  // namespace sardonyx::eager::distributed
