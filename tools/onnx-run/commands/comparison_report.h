// Tells how two sets of outputs compare.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "executor/session.h"
#include "ir/value_compare.h"

namespace sardonyx::tool {

struct ValueComparison {
  std::string name;
  Comparison comparison;
};

// Value by value; a different number of values is a difference of its own.
std::vector<ValueComparison> compare_all(std::span<const ValueInfo> names,
                                         std::span<const Datum> got,
                                         std::span<const Datum> expected,
                                         const Tolerance& tolerance);

bool all_agree(std::span<const ValueComparison> comparisons);

// One line a value, the worst first.
void print_comparison(std::ostream& out, std::vector<ValueComparison> comparisons);
nlohmann::ordered_json json_of(std::span<const ValueComparison> comparisons);

}  // namespace sardonyx::tool
