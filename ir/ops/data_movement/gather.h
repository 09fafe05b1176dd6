// Attributes of the ops that pick elements by index, and of those that write by index.
#pragma once

#include <optional>
#include <string>

#include "ir/attributes.h"

namespace sardonyx::ops {

struct GatherAttrs {  // Gather and GatherElements
  int64_t axis = 0;
  static auto fields() { return std::tuple{field("axis", &GatherAttrs::axis)}; }
};

struct GatherNDAttrs {
  int64_t batch_dims = 0;
  static auto fields() { return std::tuple{field("batch_dims", &GatherNDAttrs::batch_dims)}; }
};

// How a Scatter combines an update with an element that is there already.
enum class ScatterReduction { kNone, kAdd, kMul, kMax, kMin };
// Throws kInvalidModel for a name that there is not.
ScatterReduction reduction_named(const std::string& name);

struct ScatterElementsAttrs {
  int64_t axis = 0;
  std::string reduction = "none";
  static auto fields() {
    return std::tuple{field("axis", &ScatterElementsAttrs::axis),
                      field("reduction", &ScatterElementsAttrs::reduction)};
  }
};

struct ScatterNDAttrs {
  std::string reduction = "none";
  static auto fields() { return std::tuple{field("reduction", &ScatterNDAttrs::reduction)}; }
};

struct TensorScatterAttrs {
  int64_t axis = -2;
  std::string mode = "linear";  // or "circular"
  static auto fields() {
    return std::tuple{field("axis", &TensorScatterAttrs::axis),
                      field("mode", &TensorScatterAttrs::mode)};
  }
};
// Writes TensorScatter's update into `cache`, which holds past_cache. `starts` is omitted or one
// int64 for each batch; throws kInvalidArgument where one is out of range, before anything is
// written.
void write_cache_update(const TensorScatterAttrs& attrs, const TensorView& update,
                        const TensorView& starts, const TensorView& cache);

struct OneHotAttrs {
  int64_t axis = -1;
  static auto fields() { return std::tuple{field("axis", &OneHotAttrs::axis)}; }
};

struct CompressAttrs {
  std::optional<int64_t> axis;  // absent: the input is taken as a vector
  static auto fields() { return std::tuple{field("axis", &CompressAttrs::axis)}; }
};

struct ReverseSequenceAttrs {
  int64_t batch_axis = 1;
  int64_t time_axis = 0;
  static auto fields() {
    return std::tuple{field("batch_axis", &ReverseSequenceAttrs::batch_axis),
                      field("time_axis", &ReverseSequenceAttrs::time_axis)};
  }
};

}  // namespace sardonyx::ops
