// The planner's facts about an op, looked up once: its definition, and each provider's kernels for
// it.
#pragma once

#include <span>
#include <vector>

#include "ir/kernel.h"

namespace sardonyx {

class OpTraits {
 public:
  OpTraits(const OpDef& op, std::span<const Provider* const> providers);

  const OpDef& def() const { return op_; }
  // The providers that were given, each with its kernels for this op only.
  std::span<const Provider* const> providers() const { return pointers_; }
  // Whether kernels are told of constants with several elements. Kernels of other ops do not depend
  // on them, so that one kernel serves nodes with different weights. Where a value has a layout,
  // all constants are told, since they may be reordered into it ahead of the run.
  bool reads_constants() const { return !op_.is(kIgnoresConstants); }

 private:
  const OpDef& op_;
  std::vector<std::vector<KernelEntry>> entries_;
  std::vector<Provider> providers_;
  std::vector<const Provider*> pointers_;
};

}  // namespace sardonyx
