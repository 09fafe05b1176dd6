// Models for random programs over the API, with inputs and what fresh sessions give for them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "executor/session.h"
#include "tests/support/fuzz_input.h"

namespace sardonyx::api_test {

// One set of inputs, by index, and what comes of it.
struct Variant {
  std::vector<Datum> inputs;
  std::optional<ErrorCode> error;  // none: `outputs` are right
  std::vector<Datum> outputs;
};

struct ApiCase {
  std::string name;
  std::string bytes;  // of the model's file
  std::vector<Variant> variants;
};

// `datum` in memory of its own.
Datum deep_copy(const Datum& datum);
// Of the same kind, types and shapes, with the same bits?
bool same_bits(const Datum& a, const Datum& b);

// A model of one row of the op table, on one of its samples, with further values that are in its
// own, in inputs and in weights: views, shapes, sequences, branches. Null name: the row has none.
ApiCase row_case(fuzz::Choices& choices);
// A model, and inputs that it is known to take; other inputs are made of these.
ApiCase model_case(std::string name, std::string bytes, std::vector<std::vector<Datum>> inputs,
                   fuzz::Choices& choices);
// Sets what fresh sessions with `options` give for each variant.
void expect_fresh(ApiCase& made, const SessionOptions& options);

}  // namespace sardonyx::api_test
