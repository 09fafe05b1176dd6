// Calls of model-local functions, which are expanded in place.
#include <algorithm>
#include <functional>

#include "onnx_io/import/importer.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {

using onnx_schema::AttributeProto;
using onnx_schema::FunctionProto;
using onnx_schema::GraphProto;
using onnx_schema::NodeProto;

namespace {

// The attribute of a call that is a graph; null where there is none of this name.
const AttributeProto* graph_given(const NodeProto& node, const std::string& name) {
  for (const AttributeProto& proto : node.attribute()) {
    if (proto.name() == name && holds_graph(proto)) return &proto;
  }
  return nullptr;
}

// The graph that a parameter of a function stands for in one call: what the call gives, or the
// function's default.
const AttributeProto* graph_for(const NodeProto& node, const FunctionProto& function,
                                const std::string& name) {
  if (const AttributeProto* given = graph_given(node, name)) return given;
  for (const AttributeProto& proto : function.attribute_proto()) {
    if (proto.name() == name && holds_graph(proto)) return &proto;
  }
  return nullptr;
}

using VisitAttribute = std::function<void(AttributeProto&)>;

// All attributes of nodes, those inside of their subgraphs first.
void each_attribute(google::protobuf::RepeatedPtrField<NodeProto>& nodes,
                    const VisitAttribute& visit) {
  for (NodeProto& node : nodes) {
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) each_attribute(*attribute.mutable_g()->mutable_node(), visit);
      for (GraphProto& graph : *attribute.mutable_graphs())
        each_attribute(*graph.mutable_node(), visit);
      visit(attribute);
    }
  }
}

void rename(std::string* name, const std::string& suffix) {
  if (!name->empty()) *name += suffix;
}

// Puts `suffix` behind the names of all values in a graph and in its subgraphs.
void rename_values(GraphProto& graph, const std::string& suffix) {
  for (auto& input : *graph.mutable_input())
    rename(input.mutable_name(), suffix);
  for (auto& output : *graph.mutable_output())
    rename(output.mutable_name(), suffix);
  for (auto& info : *graph.mutable_value_info())
    rename(info.mutable_name(), suffix);
  for (auto& tensor : *graph.mutable_initializer())
    rename(tensor.mutable_name(), suffix);
  for (auto& sparse : *graph.mutable_sparse_initializer())
    rename(sparse.mutable_values()->mutable_name(), suffix);
  for (NodeProto& node : *graph.mutable_node()) {
    for (std::string& name : *node.mutable_input())
      rename(&name, suffix);
    for (std::string& name : *node.mutable_output())
      rename(&name, suffix);
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) rename_values(*attribute.mutable_g(), suffix);
      for (GraphProto& inner : *attribute.mutable_graphs())
        rename_values(inner, suffix);
    }
  }
}

}  // namespace

FunctionCall Importer::function_call(NameScope& name_scope, NodeProto& node,
                                     FunctionProto& function) {
  FunctionCall call{.label = label_of(function),
                    .attrs = attributes(name_scope, node, {}, {}, /*skips_graphs=*/true),
                    .parameters = {}};
  call.parameters.insert(function.attribute().begin(), function.attribute().end());
  for (const std::string& name : function.attribute()) {
    if (!call.attrs.contains(name) && !graph_given(node, name)) {
      leniency_.tolerate(kFunctionAttribute, call.label, " needs the attribute ", in_quotes(name),
                         ", which the call does not give; its nodes have theirs left out");
      call.label += text(" without its attribute ", in_quotes(name));
    }
  }
  NameScope defaults{.graph = name_scope.graph, .opsets = name_scope.opsets};
  for (AttributeProto& proto : *function.mutable_attribute_proto()) {
    call.parameters.insert(proto.name());
    if (call.attrs.contains(proto.name()) || holds_graph(proto)) continue;
    std::optional<AttrValue> value = attribute(defaults, proto, {}, {});
    if (value) call.attrs.emplace(proto.name(), std::move(*value));
  }
  for (const auto& [name, value] : call.attrs) {
    if (call.parameters.insert(name).second) {
      leniency_.tolerate(kFunctionAttribute, call.label, " has no attribute ", in_quotes(name),
                         ", which the call gives");
    }
  }
  for (const AttributeProto& proto : node.attribute()) {
    if (holds_graph(proto) && !call.parameters.contains(proto.name())) {
      fail(ErrorCode::kInvalidModel, call.label, " has no attribute ", in_quotes(proto.name()));
    }
  }
  return call;
}

void Importer::expand(NameScope& name_scope, NodeProto& node, FunctionProto& function) {
  const FunctionCall call = function_call(name_scope, node, function);
  const auto [opsets, is_new] = function_opsets_.try_emplace(&function);
  if (is_new) opsets->second = read_opsets(function.opset_import(), call.label, leniency_);
  const std::string own = node.name().empty() ? node.op_type() : node.name();
  NameScope inner{.graph = name_scope.graph,
                  .call = &call,
                  .opsets = &opsets->second,
                  .scope = name_scope.scope.empty() ? own : name_scope.scope + "." + own,
                  .names_are_final = false};
  const Vals inputs = node_inputs(name_scope, node);
  bind_parameters(inner, function, inputs);
  bind_outer_names(name_scope, inner, function);
  FunctionProto& body = with_graphs(name_scope, node, function, inner);
  try {
    import_nodes(inner, *body.mutable_node());
  } catch (const Error& error) {
    throw error.with_context(call.label);
  }
  if (node.output_size() > function.output_size()) {
    fail(ErrorCode::kInvalidModel, call.label, " has ", function.output_size(),
         " outputs, the call names ", node.output_size());
  }
  Vals results;
  for (const std::string& output : function.output()) {
    const auto found = inner.values.find(output);
    if (found == inner.values.end()) {
      fail(ErrorCode::kInvalidModel, call.label, " never produces its output ", in_quotes(output));
    }
    results.push_back(GraphEmitter::wrap(found->second));
  }
  GraphEmitter emitter(name_scope.graph);
  emitter.set_origin(inner.scope, name_scope.scope, "");
  bind_outputs(name_scope, node, results, emitter);
}

void Importer::bind_parameters(NameScope& inner, const FunctionProto& function,
                               const Vals& inputs) {
  if (inputs.size() > static_cast<size_t>(function.input_size())) {
    fail(ErrorCode::kInvalidModel, inner.call->label, " has ", function.input_size(),
         " inputs, the call gives ", inputs.size());
  }
  for (size_t i = 0; i < static_cast<size_t>(function.input_size()); ++i) {
    const std::string& name = function.input(static_cast<int>(i));
    if (inner.values.contains(name)) {
      leniency_.tolerate(kFunctionScope, inner.call->label, " has the input ", in_quotes(name),
                         " twice; the last one counts");
    } else {
      check_new_name(inner, name, "function input");
    }
    bind(inner, name, i < inputs.size() ? GraphEmitter::unwrap(inputs[i]) : nullptr);
  }
}

// Names that a function does not define mean nothing by the letter; ONNX Runtime expands the
// function and finds them around the call.
void Importer::bind_outer_names(const NameScope& name_scope, NameScope& inner,
                                const FunctionProto& function) {
  for (const std::string& name : free_names_.of(function)) {
    const auto outer = name_scope.values.find(name);
    if (outer == name_scope.values.end()) continue;
    leniency_.tolerate(kFunctionScope, inner.call->label, " uses ", in_quotes(name),
                       ", which it does not define; taken from where it is called");
    bind(inner, name, outer->second);
  }
}

// A function whose parameters are graphs, with these put in for one call. Values of the caller that
// a graph uses come into `inner` under names of their own.
FunctionProto& Importer::with_graphs(NameScope& name_scope, const NodeProto& node,
                                     FunctionProto& function, NameScope& inner) {
  std::vector<std::pair<AttributeProto*, const AttributeProto*>> references;
  size_t bytes = 0;
  const auto find = [&](AttributeProto& proto) {
    if (proto.ref_attr_name().empty()) return;
    const AttributeProto* graph = graph_for(node, function, proto.ref_attr_name());
    if (!graph) return;
    references.emplace_back(&proto, graph);
    bytes += graph->ByteSizeLong();
  };
  each_attribute(*function.mutable_node(), find);
  if (references.empty()) return function;
  specialised_bytes_ += bytes + function.ByteSizeLong();
  if (specialised_bytes_ > options_.limits.file_bytes) {
    fail(ErrorCode::kResourceExhausted, label_of(function), ": functions take more than the limit ",
         "of ", options_.limits.file_bytes, " bytes once graphs are put in for their attributes");
  }
  FunctionProto& copy = specialised_.emplace_back(function);
  references.clear();
  each_attribute(*copy.mutable_node(), find);
  for (const auto& [reference, graph] : references) {
    const std::string name = reference->name();
    const bool is_given = graph_given(node, reference->ref_attr_name()) != nullptr;
    *reference = *graph;
    reference->set_name(name);
    const std::string suffix = "@" + std::to_string(++graphs_put_in_);
    const auto put_in = [&](GraphProto& own) {
      check_graph_given(name_scope, inner, own);
      FreeNames names(functions_.get());  // of this form, which has no lasting place yet
      for (const std::string& free : names.of(own)) {
        const auto outer = name_scope.values.find(free);
        if (is_given && outer != name_scope.values.end())
          inner.values.emplace(free + suffix, outer->second);
      }
      rename_values(own, suffix);
    };
    if (reference->has_g()) put_in(*reference->mutable_g());
    for (GraphProto& own : *reference->mutable_graphs())
      put_in(own);
  }
  return copy;
}

// The nodes of a graph that is given to a function are read there: with the function's opsets, and
// apart from the parameters of the caller.
void Importer::check_graph_given(const NameScope& name_scope, NameScope& inner,
                                 GraphProto& graph) const {
  const auto check_domain = [&](const NodeProto& node) {
    const std::string domain(canonical_domain(node.domain()));
    const auto there = name_scope.opsets->find(domain), here = inner.opsets->find(domain);
    if (there == name_scope.opsets->end() || functions_->called_by(node)) return;
    if (here == inner.opsets->end() || here->second != there->second) {
      fail(ErrorCode::kUnsupported, "a graph that is given to a function uses version ",
           there->second, " of domain ", in_quotes(domain.empty() ? "ai.onnx" : domain),
           ", which the function does not import; let both import the same version");
    }
  };
  const std::function<void(const GraphProto&)> check = [&](const GraphProto& part) {
    for (const NodeProto& node : part.node()) {
      check_domain(node);
      for (const AttributeProto& attribute : node.attribute()) {
        if (!attribute.ref_attr_name().empty()) {
          fail(ErrorCode::kUnsupported, "a graph that a function gives to another refers to its ",
               "attribute ", in_quotes(attribute.ref_attr_name()), "; give the value itself");
        }
        if (attribute.has_g()) check(attribute.g());
        for (const GraphProto& own : attribute.graphs())
          check(own);
      }
    }
  };
  check(graph);
}

}  // namespace sardonyx::onnx_import
