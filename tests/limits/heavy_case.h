// Calls of one op that are as large as wanted, grown from the samples of its row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/op_def.h"

namespace sardonyx::limits_test {

struct HeavyCase {
  const OpDef* op = nullptr;
  AttrMap attrs;
  size_t outputs = 1;
  std::vector<Datum> inputs;      // not defined where omitted
  std::vector<bool> is_constant;  // part of the model, since shapes follow from its values
  double bytes = 0;               // of inputs, and of outputs as far as inference knows them

  std::string label() const;
  // One node; inputs that are not constants are those of the graph, in their order. All are
  // constants where `folded`.
  Model model(bool folded = false) const;
  std::vector<Datum> feeds() const;
};

// Dims, and the integers that sizes are given by, grow at random while inference takes the call and
// its inputs and outputs have at most `most_bytes`. Nothing where the row's sample has no tensors.
std::optional<HeavyCase> grown_case(const OpDef& op, const Sample& sample, double most_bytes,
                                    uint64_t seed);

}  // namespace sardonyx::limits_test
