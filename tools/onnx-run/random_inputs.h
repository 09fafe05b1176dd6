// Inputs drawn at random, for those that nobody gives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tools/onnx-run/runner.h"

namespace sardonyx::tool {

struct RandomInputs {
  uint64_t seed = 0;
  std::optional<std::pair<double, double>> range;           // of numbers, where one is given
  std::map<std::string, std::pair<double, double>> ranges;  // by input
  std::map<std::string, Shape> shapes;                      // by input
  std::map<std::string, int64_t> dims;                      // by symbol; others are 1
};

// The shape that an input gets. Throws UsageError where its rank is unknown or a dim has no value.
Shape shape_of(const ValueInfo& input, const RandomInputs& how);

// Throws UsageError for a symbol that no input has, naming those that there are.
void check_symbols(const std::map<std::string, int64_t>& dims, const Runner& runner);

// One tensor; the same seed, name and shape give the same elements. Without a range, floating
// elements are in [0, 1) and integers in [0, 2). Flags are in [0, 2) and what indexes something
// (followed through casts and reshapes) inside of it, unless a range is given for that input.
// Throws UsageError for inputs that are no tensors.
Datum random_datum(const ValueInfo& input, const Graph& graph, const RandomInputs& how);

}  // namespace sardonyx::tool
