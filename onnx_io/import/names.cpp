#include "onnx_io/import/names.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

#include "ir/core/error.h"
#include "onnx_io/import/functions.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {
namespace {

using onnx_schema::AttributeProto;
using onnx_schema::FunctionProto;
using onnx_schema::GraphProto;
using onnx_schema::NodeProto;

using NameSet = std::unordered_set<std::string>;

template <typename Visit>
void each_subgraph(const NodeProto& node, const Visit& visit) {
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) visit(attribute.g());
    for (const GraphProto& graph : attribute.graphs())
      visit(graph);
  }
}

// Distinct names in the order in which they came.
class NameList {
 public:
  void add(const std::string& name) {
    if (!name.empty() && seen_.insert(name).second) names_.push_back(name);
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::unordered_set<std::string> seen_;
  std::vector<std::string> names_;
};

NameSet defined_names(const GraphProto& graph) {
  NameSet defined;
  for (const auto& input : graph.input())
    defined.insert(input.name());
  for (const auto& tensor : graph.initializer())
    defined.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer())
    defined.insert(sparse.values().name());
  for (const NodeProto& node : graph.node())
    defined.insert(node.output().begin(), node.output().end());
  return defined;
}

NameSet defined_names(const FunctionProto& function) {
  NameSet defined(function.input().begin(), function.input().end());
  for (const NodeProto& node : function.node())
    defined.insert(node.output().begin(), node.output().end());
  return defined;
}

const std::string& output_name(const onnx_schema::ValueInfoProto& output) {
  return output.name();
}
const std::string& output_name(const std::string& output) {
  return output;
}

// Which nodes use what each node makes, and how many makers each node still waits for.
struct Dependencies {
  std::vector<std::vector<int>> users;
  std::vector<int> waiting;
};

Dependencies dependencies_of(const NodeList& nodes, FreeNames& free_names) {
  std::unordered_map<std::string, int> producers;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (output.empty()) continue;
      const auto [first, is_new] = producers.emplace(output, i);
      if (!is_new) {
        fail(ErrorCode::kInvalidModel, "value ", in_quotes(output), " is produced twice, by ",
             label_of(nodes[first->second]), " and by ", label_of(nodes[i]));
      }
    }
  }
  Dependencies out{std::vector<std::vector<int>>(nodes.size()), std::vector<int>(nodes.size())};
  for (int i = 0; i < nodes.size(); ++i) {
    const auto depend = [&](const std::string& name) {
      const auto found = producers.find(name);
      if (found == producers.end()) return;
      out.users[found->second].push_back(i);
      ++out.waiting[i];
    };
    for (const std::string& input : nodes[i].input())
      depend(input);
    for (const std::string& name : free_names.within(nodes[i]))
      depend(name);
  }
  return out;
}

[[noreturn]] void fail_cycle(const NodeList& nodes, const std::vector<int>& waiting) {
  constexpr int kNamed = 4;
  std::string names;
  int count = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    if (waiting[i] > 0 && count++ < kNamed)
      names += (names.empty() ? "" : ", ") + label_of(nodes[i]);
  }
  fail(ErrorCode::kInvalidModel, "the graph has a cycle: ", count,
       " nodes wait for each other: ", names, count > kNamed ? " ..." : "");
}

}  // namespace

const std::vector<std::string>& FreeNames::of(const GraphProto& graph) {
  return found(graph);
}

const std::vector<std::string>& FreeNames::of(const FunctionProto& function) {
  return found(function);
}

template <typename Definer>
const std::vector<std::string>& FreeNames::found(const Definer& definer) {
  if (const auto known = known_.find(&definer); known != known_.end()) return known->second;
  NameList used;
  for (const NodeProto& node : definer.node()) {
    for (const std::string& input : node.input())
      used.add(input);
    for (const std::string& name : within(node))
      used.add(name);
  }
  for (const auto& output : definer.output())
    used.add(output_name(output));
  std::vector<std::string> free = used.take();
  const NameSet defined = defined_names(definer);
  std::erase_if(free, [&](const std::string& name) { return defined.contains(name); });
  return known_.emplace(&definer, std::move(free)).first->second;
}

std::vector<std::string> FreeNames::within(const NodeProto& node) {
  NameList names;
  const auto add_all = [&](const std::vector<std::string>& free) {
    for (const std::string& name : free)
      names.add(name);
  };
  each_subgraph(node, [&](const GraphProto& graph) { add_all(of(graph)); });
  const FunctionProto* function = functions_ ? functions_->called_by(node) : nullptr;
  if (function) add_all(of(*function));
  return names.take();
}

bool FreeNames::is_used(const GraphProto& graph, const std::string& name) {
  const auto is_wanted = [&](const auto& value) { return value.name() == name; };
  return std::ranges::any_of(graph.input(), is_wanted) ||
         std::ranges::any_of(graph.output(), is_wanted) ||
         std::ranges::any_of(graph.node(), [&](const NodeProto& node) {
           return std::ranges::count(node.input(), name) > 0 ||
                  std::ranges::count(within(node), name) > 0;
         });
}

std::string label_of(const NodeProto& node) {
  const std::string op = node.op_type().empty() ? "node" : node.op_type();
  if (!node.name().empty()) return op + " " + in_quotes(node.name());
  return node.output_size() > 0 ? op + " with output " + in_quotes(node.output(0))
                                : op + " without a name";
}

std::vector<int> sorted_nodes(const NodeList& nodes, FreeNames& free_names) {
  Dependencies links = dependencies_of(nodes, free_names);
  // The earliest of those that are ready goes first.
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    if (links.waiting[i] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const int user : links.users[next]) {
      if (--links.waiting[user] == 0) ready.push(user);
    }
  }
  if (static_cast<int>(order.size()) < nodes.size()) fail_cycle(nodes, links.waiting);
  return order;
}

}  // namespace sardonyx::onnx_import
