// Inputs drawn at random, for those that nobody gives.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tools/onnx-run/runner.h"

namespace sardonyx::tool {

struct RandomInputs {
  uint64_t seed = 0;
  std::pair<double, double> range{0, 1};                    // of floating elements
  std::map<std::string, std::pair<double, double>> ranges;  // by input
  std::map<std::string, Shape> shapes;                      // by input
  std::map<std::string, int64_t> dims;                      // by symbol; others are 1
};

// The shape that an input gets. Throws UsageError where its rank is unknown or a dim has no value.
Shape shape_of(const ValueInfo& input, const RandomInputs& how);

// One tensor; the same seed, name and shape give the same elements. Integers are in [0, 2), and
// where they index something (followed through casts and reshapes) inside of it. Throws UsageError
// for inputs that are no tensors.
Datum random_datum(const ValueInfo& input, const Graph& graph, const RandomInputs& how);

}  // namespace sardonyx::tool
