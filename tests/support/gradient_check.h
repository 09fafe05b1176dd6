// Compares the gradients of a row of the op table with finite differences, for tests.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/op_def.h"

namespace sardonyx {

struct GradientReport {
  std::vector<std::string> problems;
  int64_t first = 0;   // elements of gradients that were compared
  int64_t second = 0;  // the same for gradients of gradients
};

// Draws fixed random weights w and v, and compares
//   d(sum w*y)/dx                  with differences of the op's results,
//   d(sum v*dx)/dx and d/dw of it  with differences of what the rule gives (the second order),
// each on up to some dozens of elements, in double where the row allows it and else in float;
// elements beside which the function has a kink (differences to either side disagree) are left
// out. Also checks that gradients have the types of their inputs, in every float type that the row
// has, and that the rule emitted for sizes that are known at run time only gives the same.
//
// `constants`: inputs that nobody differentiates by. Errors that the rule throws are problems.
GradientReport check_gradients(const OpDef& op, const Sample& sample,
                               const std::set<size_t>& constants = {});

}  // namespace sardonyx
