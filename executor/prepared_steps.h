// Kernels made ready, which steps of one plan and of several share.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/inferences.h"
#include "executor/plan_key.h"
#include "ir/kernel.h"

namespace sardonyx {

// An input or output of a kernel.
struct StepValue {
  FactsPtr facts;    // null: omitted
  LayoutPtr layout;  // of an input: what it comes with
  size_t plain_bytes() const;
};

// What a step does, wherever its elements lie.
struct PreparedStep {
  std::shared_ptr<const Kernel> kernel;
  std::string implementation;
  std::vector<StepValue> inputs, outputs;
  std::vector<LayoutPtr> input_layouts, output_layouts;  // what the kernel wants and gives
  uint32_t unread_inputs = 0;

  PreparedStep() = default;
  PreparedStep(Prepared prepared, std::vector<StepValue> inputs, std::vector<StepValue> outputs);
};

// Are kernels of `op` told of constants with several elements? Others do the same whatever these
// are, so that one kernel serves nodes with different weights; where a value has a layout, it may
// be brought into that ahead, and all are told.
bool reads_constants(const OpDef& op);

// The kernels of one op, by provider, so that nobody looks through those of all.
class OpKernels {
 public:
  OpKernels(const OpDef& op, std::span<const Provider* const> providers);
  std::span<const Provider* const> providers() const { return pointers_; }

 private:
  std::vector<std::vector<KernelEntry>> entries_;
  std::vector<Provider> providers_;
  std::vector<const Provider*> pointers_;
};

// Those that any plan still holds: with the last plan that uses it a kernel goes. Not safe from
// several threads.
class PreparedSteps {
 public:
  // nullptr where there is none.
  std::shared_ptr<const PreparedStep> find(const PlanKey& key) const;
  std::shared_ptr<const PreparedStep> remember(const PlanKey& key, PreparedStep step,
                                               HeldByKey held);

 private:
  struct Entry {
    PreparedStep step;
    HeldByKey held;
  };
  static constexpr size_t kFirstSweep = 256;
  std::unordered_map<PlanKey, std::weak_ptr<const PreparedStep>, PlanKey::Hash> steps_;
  size_t next_sweep_ = kFirstSweep;
};

}  // namespace sardonyx
