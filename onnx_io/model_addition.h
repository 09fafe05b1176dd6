// Models that a program builds node by node, from nothing or onto a file's.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/attributes.h"
#include "onnx_io/load.h"

namespace sardonyx {

struct AddedNode {
  std::string op, domain, name;
  std::vector<std::string> inputs, outputs;  // "": omitted
  AttrMap attrs;                             // without graphs
};

struct AddedValue {
  std::string name;
  Type type;
};

// The parts that are added to a model.
struct ModelAddition {
  std::map<std::string, int64_t> opsets;  // by domain; where the model has another version, the
                                          // later one counts
  std::vector<AddedNode> nodes;           // in any order
  LoadOptions::NamedTensors initializers;
  std::vector<AddedValue> inputs, outputs;  // in place of the model's, where there are any
};

// The bytes of a file of the model `bytes` (empty: none yet) with the addition, which has of its
// initializers types and shapes alone: whoever loads it gives them as LoadOptions::initializers.
// Nothing is checked but the attributes; loading does that. Throws kInvalidModel where the bytes
// are no model, kUnsupported for an attribute that is a graph, and kResourceExhausted beyond 2 GiB.
std::string with_addition(std::span<const std::byte> bytes, const ModelAddition& addition,
                          const LoadLimits& limits = {});

}  // namespace sardonyx
