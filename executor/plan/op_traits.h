// What plans ask of an op again and again.
#pragma once

#include <span>
#include <vector>

#include "ir/kernel.h"

namespace sardonyx {

class OpTraits {
 public:
  OpTraits(const OpDef& op, std::span<const Provider* const> providers);

  const OpDef& def() const { return op_; }
  // Those that were given, with their kernels for this op alone.
  std::span<const Provider* const> providers() const { return pointers_; }
  // Are kernels told of constants with several elements? Those of other ops do the same whatever
  // these are, so that one kernel serves nodes with different weights; where a value has a layout,
  // constants may be brought into that ahead, and all are told.
  bool reads_constants() const { return !op_.is(kIgnoresConstants); }

 private:
  const OpDef& op_;
  std::vector<std::vector<KernelEntry>> entries_;
  std::vector<Provider> providers_;
  std::vector<const Provider*> pointers_;
};

}  // namespace sardonyx
