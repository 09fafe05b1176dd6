// What plans ask of an op again and again.
#pragma once

#include <span>
#include <vector>

#include "ir/kernel.h"

namespace sardonyx {

class PlannedOp {
 public:
  PlannedOp(const OpDef& op, std::span<const Provider* const> providers);

  const OpDef& def() const { return op_; }
  // Those that were given, with their kernels for this op alone.
  std::span<const Provider* const> providers() const { return pointers_; }
  // Are kernels told of constants with several elements? Those of other ops do the same whatever
  // these are, so that one kernel serves nodes with different weights; where a value has a layout,
  // constants may be brought into that ahead, and all are told.
  bool reads_constants() const { return reads_constants_; }
  // May input `slot` be a constant that is not in memory?
  bool may_be_away(size_t slot) const { return has_bit(weights_slots_, slot); }
  bool is_view() const { return op_.is(kView); }
  bool is_gather() const { return is_gather_; }
  bool is_concat() const { return is_concat_; }
  // May outputs be parts of input 0?
  bool may_give_parts() const { return may_give_parts_; }

 private:
  const OpDef& op_;
  bool reads_constants_, is_gather_, is_concat_, may_give_parts_;
  uint32_t weights_slots_;
  std::vector<std::vector<KernelEntry>> entries_;
  std::vector<Provider> providers_;
  std::vector<const Provider*> pointers_;
};

}  // namespace sardonyx
