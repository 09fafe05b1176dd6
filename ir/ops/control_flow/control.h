// Attributes of the ops that run subgraphs.
#pragma once

#include <optional>
#include <vector>

#include "ir/attributes.h"

namespace sardonyx::ops {

struct IfAttrs {
  GraphPtr then_branch, else_branch;
  static auto fields() {
    return std::tuple{required("else_branch", &IfAttrs::else_branch),
                      required("then_branch", &IfAttrs::then_branch)};
  }
};

// The body takes the iteration's number, the condition and the carried values; it gives the
// condition, the carried values and the slices of the scan outputs.
struct LoopAttrs {
  GraphPtr body;
  static auto fields() { return std::tuple{required("body", &LoopAttrs::body)}; }
};

// The body takes the states and a slice of each scan input; it gives the states and a slice of each
// scan output.
struct ScanAttrs {
  GraphPtr body;
  int64_t num_scan_inputs = 0;
  std::optional<std::vector<int64_t>> scan_input_axes, scan_input_directions;
  std::optional<std::vector<int64_t>> scan_output_axes, scan_output_directions;
  static auto fields() {
    return std::tuple{required("body", &ScanAttrs::body),
                      required("num_scan_inputs", &ScanAttrs::num_scan_inputs),
                      field("scan_input_axes", &ScanAttrs::scan_input_axes),
                      field("scan_input_directions", &ScanAttrs::scan_input_directions),
                      field("scan_output_axes", &ScanAttrs::scan_output_axes),
                      field("scan_output_directions", &ScanAttrs::scan_output_directions)};
  }
};

// The body takes an item of each sequence and the further tensors as they are.
struct SequenceMapAttrs {
  GraphPtr body;
  static auto fields() { return std::tuple{required("body", &SequenceMapAttrs::body)}; }
};

}  // namespace sardonyx::ops
