// The equation of Einsum, read and resolved.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/op_def.h"

namespace sardonyx::ops {

struct EinsumAttrs {
  std::string equation;
  static auto fields() { return std::tuple{required("equation", &EinsumAttrs::equation)}; }
};

// "ij,jk->ik" with ranks put in: each dim of each operand and of the output is a label. Labels are
// numbers from 0; letters and the dims of the ellipsis each have one.
struct EinsumLabels {
  std::vector<std::vector<int>> operands;
  std::vector<int> output;
  int count = 0;
};

// Reads `equation` for operands of these ranks. Spaces may stand anywhere; without "->" the output
// has the ellipsis' dims and then, in alphabetical order (capitals first), the letters that occur
// once. A letter may be repeated within an operand (its diagonal) but not in the output. Throws
// kInvalidModel on anything else.
EinsumLabels parse_einsum(std::string_view equation, const std::vector<size_t>& ranks);

Vals einsum_gradient(Emitter& e, const GradCall& c);

}  // namespace sardonyx::ops
