// Nodes of a file to nodes of the graph.
#include <algorithm>

#include "ir/core/run_control.h"
#include "ir/op_def.h"
#include "onnx_io/adopted.h"
#include "onnx_io/custom_ops.h"
#include "onnx_io/import/importer.h"
#include "onnx_io/import/parse.h"
#include "onnx_io/metadata.h"
#include "onnx_io/op_versions.h"

namespace sardonyx::onnx_import {

using onnx_schema::NodeProto;

namespace {

std::string node_name(const NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output()) {
    if (!output.empty()) return output;
  }
  return "";
}

std::string metadata_value(const NodeProto& node, std::string_view key) {
  for (const auto& entry : node.metadata_props()) {
    if (entry.key() == key) return entry.value();
  }
  return "";
}

std::string joined(const std::string& outer, const std::string& inner) {
  return outer.empty() || inner.empty() ? outer + inner : outer + "." + inner;
}

std::string shown_domain(std::string_view domain) {
  return domain.empty() ? "ai.onnx" : std::string(domain);
}

// Outputs that are named, and those before them.
int output_count(const NodeProto& node) {
  int count = node.output_size();
  while (count > 0 && node.output(count - 1).empty())
    --count;
  return count;
}

// The input types of a Loop's body where the file does not declare them.
std::vector<Type> loop_body_types(const Vals& inputs) {
  std::vector<Type> types{Type::tensor(DType::kInt64, Dims{}), Type::tensor(DType::kBool, Dims{})};
  for (size_t i = 2; i < inputs.size(); ++i) {
    // The shape of a state may change from one iteration to the next.
    Type type = inputs[i] ? GraphEmitter::unwrap(inputs[i])->type : Type::none();
    type.shape.reset();
    types.push_back(std::move(type));
  }
  return types;
}

Type without_axis(Type type, int64_t axis) {
  if (!type.shape) return type;
  const auto rank = static_cast<int64_t>(type.shape->size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return type;
  type.shape->erase(type.shape->begin() + axis);
  return type;
}

std::vector<Type> scan_body_types(const NodeProto& node, const Vals& inputs, bool batched) {
  int64_t scanned = 0;
  std::vector<int64_t> axes;
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "num_scan_inputs") scanned = attribute.i();
    if (attribute.name() == "scan_input_axes")
      axes.assign(attribute.ints().begin(), attribute.ints().end());
  }
  const size_t first = batched ? 1 : 0;  // the first form begins with the lengths of the sequences
  const auto count = static_cast<int64_t>(inputs.size() - std::min(first, inputs.size()));
  std::vector<Type> types;
  for (int64_t i = 0; i < count; ++i) {
    const Val& input = inputs[first + static_cast<size_t>(i)];
    Type type = input ? GraphEmitter::unwrap(input)->type : Type::none();
    const int64_t scan = i - (count - scanned);
    if (batched) type = without_axis(std::move(type), 0);
    if (scan >= 0) {
      const bool given = !batched && static_cast<size_t>(scan) < axes.size();
      type = without_axis(std::move(type), given ? axes[static_cast<size_t>(scan)] : 0);
    }
    types.push_back(std::move(type));
  }
  return types;
}

std::vector<Type> map_body_types(const Vals& inputs) {
  std::vector<Type> types;
  for (const Val& input : inputs) {
    const Type type = input ? GraphEmitter::unwrap(input)->type : Type::none();
    types.push_back(type.is_sequence() ? *type.element : type);
  }
  return types;
}

bool holds_graphs(const AttrValue& value) {
  return std::holds_alternative<GraphPtr>(value) ||
         std::holds_alternative<std::vector<GraphPtr>>(value);
}

CustomCall custom_call(const NameScope& name_scope, const RawCall& call, const NodeProto& node,
                       const std::string& name) {
  CustomCall made{
      .domain = call.domain,
      .op = call.op,
      .node = name,
      .version = call.version,
      .attrs = call.attrs,
      .output_names = {node.output().begin(), node.output().begin() + output_count(node)}};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool is_given = call.has_input(i);
    made.inputs.push_back(is_given ? call.emitter.type(call.inputs[i]) : Type::none());
    made.input_names.push_back(node.input(static_cast<int>(i)));
    made.constants.push_back(is_given ? call.emitter.constant_value(call.inputs[i]) : std::nullopt);
  }
  for (const std::string& output : made.output_names) {
    const auto declared = name_scope.declared.find(output);
    made.outputs.push_back(declared == name_scope.declared.end() ? Type::none() : declared->second);
  }
  return made;
}

std::vector<Type> implied_types(const NodeProto& node, const RawCall& call) {
  if (!call.domain.empty()) return {};
  if (call.op == "Loop") return loop_body_types(call.inputs);
  if (call.op == "Scan") return scan_body_types(node, call.inputs, call.version < 9);
  if (call.op == "SequenceMap") return map_body_types(call.inputs);
  return {};
}

}  // namespace

void Importer::import_nodes(NameScope& name_scope, NodeList& nodes) {
  mend_constants(nodes);
  // Before sorting: a node that overwrites what it reads would look like a cycle.
  for (const NodeProto& node : nodes) {
    guarded([&] { return "node " + label_of(node); }, node_name(node),
            [&] { check_outputs(name_scope, node); });
  }
  std::vector<int> order;
  if (!guarded("", "", [&] { order = sorted_nodes(nodes, free_names_); })) {
    for (const NodeProto& node : nodes)
      poison_outputs(name_scope, node);
    return;
  }
  for (const int index : order) {
    check_interrupted();
    NodeProto& node = nodes[index];
    if (!guarded([&] { return "node " + label_of(node); }, node_name(node),
                 [&] { import_node(name_scope, node); })) {
      poison_outputs(name_scope, node);
    }
  }
}

void Importer::check_outputs(const NameScope& name_scope, const NodeProto& node) const {
  for (const std::string& output : node.output()) {
    if (!output.empty()) check_new_name(name_scope, output, "output");
  }
}

void Importer::poison_outputs(NameScope& name_scope, const NodeProto& node) {
  for (const std::string& output : node.output()) {
    if (!output.empty()) name_scope.values.try_emplace(output, placeholder(name_scope));
  }
}

void Importer::import_node(NameScope& name_scope, NodeProto& node) {
  if (node.op_type().empty()) fail(ErrorCode::kInvalidModel, "has no op_type");
  if (onnx_schema::FunctionProto* function = functions_->called_by(node)) {
    return expand(name_scope, node, *function);
  }
  const std::string scope = joined(name_scope.scope, metadata_value(node, kScopeKey));
  GraphEmitter emitter(name_scope.graph);
  emitter.set_origin(joined(name_scope.scope, node_name(node)), scope,
                     metadata_value(node, kSourceKey));
  RawCall call = raw_call(name_scope, node, emitter);
  if (call.domain.empty() && call.op == "Constant") return import_constant(name_scope, node);
  // Nodes whose inputs have a fault that was noted already can't be checked any further.
  const auto poisoned = [&](const Val& val) {
    return val && poisoned_.contains(GraphEmitter::unwrap(val));
  };
  if (std::any_of(call.inputs.begin(), call.inputs.end(), poisoned) ||
      std::any_of(call.captures.begin(), call.captures.end(), poisoned)) {
    return poison_outputs(name_scope, node);
  }
  if (call.domain == "ai.onnx.preview.training" && call.op == "Gradient") {
    return import_gradient(name_scope, node, call, emitter);
  }
  mend(call, node);
  if (const std::optional<Vals> results = upgrade(call)) {
    bind_outputs(name_scope, node, *results, emitter);
  } else {
    append_node(name_scope, node, call);
  }
}

Vals Importer::node_inputs(const NameScope& name_scope, const NodeProto& node) const {
  Vals inputs;
  for (const std::string& name : node.input()) {
    if (name.empty()) {
      inputs.emplace_back();
      continue;
    }
    const auto found = name_scope.values.find(name);
    if (found == name_scope.values.end()) {
      fail(ErrorCode::kInvalidModel, "input ", in_quotes(name),
           " is produced by no node, and is no input or initializer of the graph");
    }
    inputs.push_back(GraphEmitter::wrap(found->second));
  }
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back();
  return inputs;
}

RawCall Importer::raw_call(NameScope& name_scope, NodeProto& node, GraphEmitter& emitter) {
  RawCall call{.domain = std::string(canonical_domain(node.domain())),
               .op = node.op_type(),
               .inputs = node_inputs(name_scope, node),
               .outputs = static_cast<size_t>(output_count(node)),
               .emitter = emitter};
  find_version(name_scope, call, node);
  // Constants of the outer graph become constants of the subgraphs; everything else is captured.
  std::vector<std::string> captured;
  for (const std::string& name : free_names_.within(node)) {
    const auto found = name_scope.values.find(name);
    if (found == name_scope.values.end() || !found->second || found->second->constant) continue;
    captured.push_back(name);
    call.captures.push_back(GraphEmitter::wrap(found->second));
  }
  call.attrs = attributes(name_scope, node, captured, implied_types(node, call));
  call.emit_with_captures = [&name_scope, name = node_name(node)](
                                std::string_view op, const Vals& inputs, const AttrMap& attrs,
                                const Vals& captures, size_t outputs) {
    const OpDef& row = op_named(op);
    std::vector<Value*> values;
    for (const Val& val : inputs)
      values.push_back(GraphEmitter::unwrap(val));
    for (const Val& val : captures)
      values.push_back(GraphEmitter::unwrap(val));
    Node* made = name_scope.graph.append(row, Attrs::parse(*row.attrs, attrs), std::move(values),
                                         std::vector<std::string>(outputs), captures.size());
    made->name = joined(name_scope.scope, name);
    made->scope = name_scope.scope;
    infer_node(name_scope.graph, *made);
    Vals results;
    for (Value* output : made->outputs)
      results.push_back(GraphEmitter::wrap(output));
    return results;
  };
  return call;
}

// The version of the operator's domain. Files often forget to import the domains beside ONNX's own:
// then the newest one that knows the node's attributes is meant.
int64_t Importer::opset_of(const NameScope& name_scope, const RawCall& call,
                           const NodeProto& node) const {
  const auto imported = name_scope.opsets->find(call.domain);
  if (imported != name_scope.opsets->end()) return imported->second;
  const OpDef* op = find_op(call.op, call.domain);
  const bool is_ml = call.domain == "ai.onnx.ml";
  // A function without opset_import says nothing of what its nodes mean.
  const bool is_onnx = call.domain.empty() && !name_scope.call;
  if (!op || !(is_ml || is_onnx || call.domain == "com.microsoft")) {
    fail(ErrorCode::kInvalidModel, "the domain ", in_quotes(shown_domain(call.domain)),
         " is used by operator ", in_quotes(call.op), " but is not in opset_import",
         call.domain.empty() || is_ml || op ? "" : ", and there is no function of that name");
  }
  const bool is_newest = std::ranges::all_of(node.attribute(), [&](const auto& attribute) {
    return op->attrs->find(attribute.name()) != nullptr;
  });
  const int64_t version = is_onnx ? kNewestOpset : is_ml && is_newest ? kNewestMlOpset : 1;
  leniency_.tolerate(kMissingOpsetImport, "the domain ", in_quotes(shown_domain(call.domain)),
                     " is used by operator ", in_quotes(call.op),
                     " but is not in opset_import; taken for version ", version);
  return version;
}

namespace {

std::string_view remedy_for_unknown_op(std::string_view domain) {
  if (domain == "com.microsoft.nchwc") {
    return "; ONNX Runtime has optimised the file for the processor of one machine: take the model "
           "that it was made from, or save it at its level \"extended\"";
  }
  return "; give its meaning as a model-local function, or register it (docs/custom-operators.md)";
}

}  // namespace

void Importer::find_version(const NameScope& name_scope, RawCall& call,
                            const NodeProto& node) const {
  if (custom_ops_with(call.domain, call.op)) {
    const auto imported = name_scope.opsets->find(call.domain);
    call.version = imported == name_scope.opsets->end() ? 1 : imported->second;
    return;
  }
  const int64_t opset = opset_of(name_scope, call, node);
  if (call.domain.empty() && opset < adopted_below(call.op).value_or(0)) {
    call.domain = "com.microsoft";
    return;
  }
  call.version = opset;
  const std::optional<OpVersions> versions = versions_of(call.domain, call.op);
  if (!versions) {
    if (const OpDef* op = find_op(call.op, call.domain)) {
      if (opset >= op->since) return;
      fail(ErrorCode::kInvalidModel, "operator ", call.op, " came with version ", op->since, " of ",
           shown_domain(call.domain), "; the model imports version ", opset);
    }
    const bool is_standard = call.domain.empty() || call.domain == "ai.onnx.ml";
    fail(is_standard ? ErrorCode::kInvalidModel : ErrorCode::kUnsupported, "there is no operator ",
         in_quotes(call.op), " in domain ", in_quotes(shown_domain(call.domain)),
         is_standard ? "" : remedy_for_unknown_op(call.domain));
  }
  const OpVersion version = version_in(*versions, opset);
  if (version.since == 0) {
    fail(ErrorCode::kInvalidModel, "operator ", call.op, " came with opset ",
         versions->since.front(), " of ", shown_domain(call.domain), "; the model imports opset ",
         opset);
  }
  if (version.removed) {
    fail(ErrorCode::kInvalidModel, "operator ", call.op, " was removed in opset ", version.since,
         " of ", shown_domain(call.domain), "; the model imports opset ", opset);
  }
  call.version = version.since;
}

// Inferred ranks are held to the limit that declared types are held to.
void Importer::check_rank(const std::string& name, const Type& type) const {
  const Type* tensor = &type;
  while (tensor->element)
    tensor = tensor->element.get();
  if (tensor->has_rank())
    options_.limits.check_rank(text("output ", in_quotes(name)), tensor->rank());
}

void Importer::append_node(NameScope& name_scope, const NodeProto& node, RawCall& call) {
  CustomOps* custom = custom_ops_with(call.domain, call.op);
  std::optional<CustomCall> described;
  if (custom) {
    described = custom_call(name_scope, call, node,
                            node.name().empty() ? "" : joined(name_scope.scope, node.name()));
    std::erase_if(call.attrs, [](const auto& attribute) { return holds_graphs(attribute.second); });
  }
  const OpDef& op = custom ? custom->row(std::move(*described))
                           : op_named(call.domain.empty() ? call.op : call.domain + "::" + call.op);
  std::vector<Value*> inputs;
  for (const Val& val : call.inputs)
    inputs.push_back(GraphEmitter::unwrap(val));
  for (const Val& val : call.captures)
    inputs.push_back(GraphEmitter::unwrap(val));
  std::vector<std::string> names(call.outputs);
  for (size_t i = 0; i < names.size() && i < static_cast<size_t>(node.output_size()); ++i) {
    names[i] = node.output(static_cast<int>(i));
    if (!names[i].empty()) vacate_name(name_scope, names[i]);
    if (!name_scope.names_are_final && !names[i].empty())
      names[i] = joined(name_scope.scope, names[i]);
  }
  Node* made = name_scope.graph.append(op, Attrs::parse(*op.attrs, call.attrs), std::move(inputs),
                                       std::move(names), call.captures.size());
  made->name = joined(name_scope.scope, node_name(node));
  made->scope = joined(name_scope.scope, metadata_value(node, kScopeKey));
  made->source = metadata_value(node, kSourceKey);
  try {
    infer_node(name_scope.graph, *made);
    for (size_t i = 0; i < made->outputs.size(); ++i) {
      Value* output = made->outputs[i];
      if (!output) continue;
      if (i < static_cast<size_t>(node.output_size()))
        output->type = declared_type(name_scope, node.output(static_cast<int>(i)), output->type);
      check_rank(output->name, output->type);
    }
  } catch (...) {
    name_scope.graph.erase(*made);
    throw;
  }
  for (size_t i = 0; i < made->outputs.size() && i < static_cast<size_t>(node.output_size()); ++i) {
    const std::string& name = node.output(static_cast<int>(i));
    if (!name.empty()) bind(name_scope, name, made->outputs[i]);
  }
}

void Importer::bind_outputs(NameScope& name_scope, const NodeProto& node, const Vals& results,
                            GraphEmitter& emitter) {
  const int count = output_count(node);
  for (int i = 0; i < count; ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    const Val result =
        static_cast<size_t>(i) < results.size() ? results[static_cast<size_t>(i)] : Val();
    if (!result) {
      fail(ErrorCode::kUnsupported, "output ", i, " (", in_quotes(name), ") of ", node.op_type(),
           " can't be made by this form of the operator");
    }
    take_output(name_scope, name, GraphEmitter::unwrap(result), emitter);
  }
}

// Gives a value the name that the file has for it; one that bears a name already is passed through
// Identity.
void Importer::take_output(NameScope& name_scope, const std::string& name, Value* value,
                           GraphEmitter& emitter) {
  if (poisoned_.contains(value)) {
    name_scope.values.try_emplace(name, value);
    return;
  }
  if (name_scope.names_are_final) {
    if (named_.contains(value)) {
      value = GraphEmitter::unwrap(emitter.call("Identity", {GraphEmitter::wrap(value)}));
    }
    vacate_name(name_scope, name);
    name_scope.graph.rename(*value, name);
  }
  value->type = declared_type(name_scope, name, value->type);
  check_rank(name, value->type);
  bind(name_scope, name, value);
}

}  // namespace sardonyx::onnx_import
