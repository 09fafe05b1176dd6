#include "executor/partial_executable.h"

#include <unordered_set>

#include "ir/subgraph_extraction.h"

namespace sardonyx {

std::shared_ptr<Graph> selected(const Graph& graph, std::span<const std::string> names) {
  std::vector<std::string> different;
  std::unordered_set<std::string> seen;
  for (const std::string& name : names) {
    if (!graph.find_value(name)) fail(ErrorCode::kInvalidArgument, "the model has no value ", name);
    if (seen.insert(name).second) different.push_back(name);
  }
  std::shared_ptr<Graph> made = extract(graph, {}, different);
  if (different.size() == names.size()) return made;
  std::vector<Value*> outputs;
  for (const std::string& name : names)
    outputs.push_back(made->find_value(name));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i < different.size())
      made->set_graph_output(i, outputs[i]);
    else
      made->add_output(outputs[i]);
  }
  return made;
}

}  // namespace sardonyx
