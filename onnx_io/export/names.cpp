#include "onnx_io/export/names.h"

#include <algorithm>

#include "ir/core/error.h"

namespace sardonyx::onnx_export {
namespace {

// Constants that no node uses come last, by name: the graph keeps no order of them.
std::vector<const Value*> unused_constants(const Graph& graph) {
  std::vector<const Value*> unused;
  for (const auto& [value, owner] : graph.values()) {
    if (value->constant && value->uses.empty() && !graph.is_output(*value)) unused.push_back(value);
  }
  std::sort(unused.begin(), unused.end(),
            [](const Value* a, const Value* b) { return a->name < b->name; });
  return unused;
}

}  // namespace

void Names::enter(const Graph& graph) {
  levels_.emplace_back();
  for (const Value* input : graph.inputs())
    add(input);
  for (const auto& node : graph.nodes()) {
    for (const Value* input : node->inputs) {
      if (input && input->constant) add_constant(input);
    }
  }
  for (const Value* output : graph.outputs()) {
    if (output->constant) add_constant(output);
  }
  for (const Value* constant : unused_constants(graph))
    add_constant(constant);
  for (const auto& node : graph.nodes()) {
    for (const Value* output : node->outputs) {
      if (output) add(output);
    }
  }
}

void Names::leave() {
  levels_.pop_back();
}

const std::string& Names::of(const Value* value) const {
  static const auto& kOmitted = *new std::string;
  if (!value) return kOmitted;
  const auto found = names_.find(value);
  SARDONYX_CHECK(found != names_.end());
  return found->second;
}

std::string Names::fresh(const std::string& base) {
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(levels_.begin(), levels_.end(),
                       [&](const Level& level) { return level.taken.contains(name); });
  };
  std::string name = base;
  for (size_t i = 1; is_taken(name); ++i)
    name = base + "_" + std::to_string(i);
  levels_.back().taken.insert(name);
  return name;
}

void Names::add(const Value* value) {
  if (!names_.contains(value)) names_.emplace(value, fresh(value->name));
}

const Value* Names::same_data(const Value& constant) const {
  const Tensor& tensor = *constant.constant;
  if (tensor.count() == 0) return nullptr;
  for (const Level& level : levels_) {
    const auto found = level.by_data.find(tensor.raw());
    if (found == level.by_data.end()) continue;
    const Tensor& other = *found->second->constant;
    if (other.dtype() == tensor.dtype() && other.shape() == tensor.shape()) return found->second;
  }
  return nullptr;
}

void Names::add_constant(const Value* value) {
  if (names_.contains(value)) return;
  // Within one graph, two constants stay two: their names may matter to the reader.
  if (levels_.size() > 1) {
    if (const Value* outer = same_data(*value)) return alias(value, outer);
  }
  names_.emplace(value, fresh(value->name));
  levels_.back().constants.push_back(value);
  levels_.back().by_data.emplace(value->constant->raw(), value);
}

}  // namespace sardonyx::onnx_export
