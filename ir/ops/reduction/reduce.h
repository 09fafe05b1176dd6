// Attributes of the reductions, and the axes that a call names.
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "ir/core/inline_vector.h"
#include "ir/op_def.h"

namespace sardonyx::ops {

// Attributes of all Reduce* ops.
struct ReduceAttrs {
  bool keepdims = true;
  bool noop_with_empty_axes = false;
  static auto fields() {
    return std::tuple{field("keepdims", &ReduceAttrs::keepdims),
                      field("noop_with_empty_axes", &ReduceAttrs::noop_with_empty_axes)};
  }
};

// Which dims of a tensor of rank `rank` go: `axes` as given (in [-rank, rank)), all of them where
// it is empty, unless the attributes make that a no-op.
using ReducedDims = InlineVector<bool, 8>;
ReducedDims reduced_dims(const ReduceAttrs& attrs, std::span<const int64_t> axes, size_t rank);

// Attributes of ArgMax and ArgMin.
struct ArgReduceAttrs {
  int64_t axis = 0;
  bool keepdims = true;
  bool select_last_index = false;
  static auto fields() {
    return std::tuple{field("axis", &ArgReduceAttrs::axis),
                      field("keepdims", &ArgReduceAttrs::keepdims),
                      field("select_last_index", &ArgReduceAttrs::select_last_index)};
  }
};

struct TopKAttrs {
  int64_t axis = -1;
  bool largest = true;
  bool sorted = true;
  static auto fields() {
    return std::tuple{field("axis", &TopKAttrs::axis), field("largest", &TopKAttrs::largest),
                      field("sorted", &TopKAttrs::sorted)};
  }
};

// Attributes of CumSum and CumProd.
struct CumulativeAttrs {
  bool exclusive = false;
  bool reverse = false;
  static auto fields() {
    return std::tuple{field("exclusive", &CumulativeAttrs::exclusive),
                      field("reverse", &CumulativeAttrs::reverse)};
  }
};

struct TriluAttrs {
  bool upper = true;
  static auto fields() { return std::tuple{field("upper", &TriluAttrs::upper)}; }
};

}  // namespace sardonyx::ops
