// Attributes of com.microsoft CDist.
#pragma once

#include <string>
#include <tuple>

#include "ir/op_def.h"

namespace sardonyx::ops {

struct CDistAttrs {
  std::string metric = "sqeuclidean";  // or "euclidean"
  static auto fields() { return std::tuple{field("metric", &CDistAttrs::metric)}; }
};

}  // namespace sardonyx::ops
