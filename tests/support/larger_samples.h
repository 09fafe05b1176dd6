// Calls with shapes that are larger or odder than those of the rows' own samples.
#pragma once

#include <vector>

#include "ir/op_def.h"

namespace sardonyx::onednn {

struct NamedSample {
  const char* op;
  Sample sample;
};

// At least one for each kernel of the provider that takes float.
std::vector<NamedSample> larger_samples();

}  // namespace sardonyx::onednn
