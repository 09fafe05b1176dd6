// The names that values have in a file, where a subgraph may not use a name of the graphs around
// it.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace sardonyx::onnx_export {

class Names {
 public:
  // Opens a graph: gives names to all its values that have none yet, in an order that depends on
  // the graph alone. Constants that hold the very elements of a constant of an outer graph take its
  // name.
  void enter(const Graph& graph);
  void leave();
  // A value of the outer graph under which `value`, a capture or an input, is known.
  void alias(const Value* value, const Value* outer) { names_[value] = names_.at(outer); }

  // A constant that the innermost graph itself does not hold; it must outlive the names.
  void add_made(const Value* constant) { add_constant(constant); }

  // "" for null.
  const std::string& of(const Value* value) const;
  // A name that no visible value bears.
  std::string fresh(const std::string& base);
  // Constants of the innermost graph that are written down there, in the order of their first use.
  const std::vector<const Value*>& constants() const { return levels_.back().constants; }

 private:
  struct Level {
    std::unordered_set<std::string> taken;
    std::vector<const Value*> constants;
    std::unordered_map<const void*, const Value*> by_data;
  };

  void add(const Value* value);
  void add_constant(const Value* value);
  const Value* same_data(const Value& constant) const;

  std::vector<Level> levels_;
  std::unordered_map<const Value*, std::string> names_;
};

}  // namespace sardonyx::onnx_export
