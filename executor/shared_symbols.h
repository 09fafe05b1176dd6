// Symbols that stand in several dims of a model's inputs. ONNX means one size by one name;
// exporters also write one name for sizes that differ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "executor/run_report.h"
#include "ir/graph.h"

namespace sardonyx {

class SharedSymbols {
 public:
  SharedSymbols() = default;
  explicit SharedSymbols(std::span<const ValueInfo> inputs);

  bool empty() const { return symbols_.empty(); }
  // Describes two inputs that give different sizes to one name; nullopt where all agree. Inputs
  // that are not given are skipped.
  std::optional<std::string> conflict(std::span<const Datum* const> given) const;

 private:
  struct InputAxis {
    size_t input, axis;
  };
  struct Symbol {
    std::string name;
    std::vector<InputAxis> places;
  };
  std::vector<Symbol> symbols_;  // in more than one place
  std::vector<std::string> input_names_;
};

// Gives every dim of `graph`'s inputs a symbol of its own, and infers all types anew.
void set_symbols_apart(Graph& graph);

}  // namespace sardonyx
