#include "executor/plan/segment.h"

namespace sardonyx {
namespace {

void append(std::string& out, std::span<const StepValue> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    const TypeInfo* facts = values[i].facts.get();
    out += facts ? std::string(name_of(facts->type.dtype)) + to_text(*facts->shape) : "-";
  }
}

std::string layout_of(const StepValue& value) {
  return value.layout ? value.layout->text() : "plain";
}

}  // namespace

std::string source_text(const Node& node) {
  return node.source.empty() ? "" : " of " + node.source;
}

std::string label_of(const Step& step, std::span<const Value* const> values) {
  return step.node ? step.node->name : "reorder of " + values[step.reordered]->name;
}

std::string types_of(const Step& step) {
  std::string out;
  if (!step.prepared) return out;
  const auto& [inputs, outputs] = std::tie(step.prepared->inputs, step.prepared->outputs);
  append(out, inputs);
  if (!step.node) return out + " " + layout_of(inputs[0]) + " -> " + layout_of(outputs[0]);
  if (outputs.empty()) return out;
  out += " -> ";
  append(out, outputs);
  return out;
}

std::string step_text(const Step& step, std::span<const Value* const> values) {
  return text(step.node ? full_name(*step.node->op) : "reorder", " ", label_of(step, values), ": ",
              step.implementation(), "; ", types_of(step));
}

bool ShapeGuard::holds(const Datum& datum) const {
  if (!datum.is_tensor()) return datum.has_kind(type);
  const Tensor& tensor = datum.tensor();
  return shape && tensor.dtype() == type.dtype && tensor.shape() == *shape &&
         (!equals || (has_elements(tensor) && tensor == *equals));
}

}  // namespace sardonyx
