// Kernels made ready, which steps of one plan and of several share.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/plan/cache_key.h"
#include "executor/plan/inference_cache.h"
#include "ir/kernel.h"

namespace sardonyx {

// An input or output of a kernel.
struct StepValue {
  TypeInfoPtr facts;  // null: omitted
  LayoutPtr layout;   // of an input: the layout it already has
};

// A prepared kernel with the types and layouts it was prepared for, independent of the addresses
// that a step binds it to.
struct PreparedStep {
  std::shared_ptr<const Kernel> kernel;
  std::string implementation;
  std::vector<StepValue> inputs, outputs;
  std::vector<LayoutPtr> input_layouts, output_layouts;  // as the kernel reads and writes
  uint32_t unread_inputs = 0;
  std::vector<KernelAttempt> attempts;  // filled if the session keeps attempts

  PreparedStep() = default;
  PreparedStep(Prepared prepared, std::vector<StepValue> inputs, std::vector<StepValue> outputs);
};

// The prepared steps that some plan still holds: it keeps weak references, so a kernel is freed
// with the last plan that uses it. Not thread-safe.
class KernelCache {
 public:
  // nullptr where there is none.
  std::shared_ptr<const PreparedStep> find(const CacheKey& key) const;
  std::shared_ptr<const PreparedStep> remember(const CacheKey& key, PreparedStep step,
                                               HeldByKey held);

 private:
  struct Entry {
    PreparedStep step;
    HeldByKey held;
  };
  static constexpr size_t kFirstSweep = 256;
  std::unordered_map<CacheKey, std::weak_ptr<const PreparedStep>, CacheKey::Hash> steps_;
  size_t next_sweep_ = kFirstSweep;
};

}  // namespace sardonyx
