#include "ir/print.h"

#include <sstream>
#include <unordered_map>

namespace sardonyx {
namespace {

constexpr int64_t kShownElements = 8;

std::string name_text(const Value* value) {
  return value ? "%" + value->name : "none";
}

std::string constant_text(const Tensor& tensor) {
  std::string out = Type::tensor(tensor.dtype(), to_dims(tensor.shape())).text();
  if (tensor.count() > kShownElements || is_complex(tensor.dtype())) return out;
  std::ostringstream elements;
  const auto list = [&](const auto& values) {
    for (const auto& value : values)
      elements << ' ' << value;
  };
  if (tensor.dtype() == DType::kString)
    list(tensor.values<std::string>());
  else if (is_floating(tensor.dtype()))
    list(tensor.to_doubles());
  else
    list(tensor.to_int64s());
  return out + " {" + elements.str() + " }";
}

std::string attributes_text(const Node& node) {
  std::string out;
  for (const auto& [name, value] : node.attrs.to_map()) {
    if (std::holds_alternative<GraphPtr>(value) ||
        std::holds_alternative<std::vector<GraphPtr>>(value))
      continue;  // printed below the node
    out += (out.empty() ? "" : ", ") + name + " = " + to_text(value);
  }
  return out.empty() ? out : " {" + out + "}";
}

std::string origin_text(const Node& node) {
  std::string out;
  for (const std::string* part : {&node.name, &node.scope, &node.source}) {
    if (!part->empty()) out += (out.empty() ? "  # " : ", ") + *part;
  }
  return out;
}

class TextPrinter {
 public:
  std::string take() { return std::move(out_); }

  void graph(const Graph& graph, size_t indent) {
    line(indent, "graph " + (graph.name.empty() ? "(unnamed)" : graph.name) + " {");
    for (const Value* input : graph.inputs()) {
      line(indent + 1,
           "input " + typed(*input) +
               (input->default_value ? " = " + constant_text(*input->default_value) : ""));
    }
    for (const Value* capture : graph.captures())
      line(indent + 1, "capture " + typed(*capture));
    for (const auto& node : graph.nodes())
      this->node(*node, indent + 1);
    std::string results;
    for (const Value* output : graph.outputs())
      results += (results.empty() ? "" : ", ") + operand(output);
    line(indent + 1, "return " + results);
    line(indent, "}");
  }

 private:
  static std::string typed(const Value& value) {
    return name_text(&value) + ": " + value.type.text();
  }
  static std::string operand(const Value* value) {
    if (!value || !value->constant) return name_text(value);
    return name_text(value) + " (" + constant_text(*value->constant) + ")";
  }

  void node(const Node& node, size_t indent) {
    std::string text;
    for (const Value* output : node.outputs)
      text += (text.empty() ? "" : ", ") + (output ? typed(*output) : "none");
    text += " = " + full_name(*node.op) + "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i > 0) text += i == node.formal_inputs() ? "; " : ", ";
      text += operand(node.inputs[i]);
    }
    line(indent, text + ")" + attributes_text(node) + origin_text(node));
    for (const GraphPtr& inner : subgraphs_of(node))
      graph(*inner, indent + 1);
  }

  void line(size_t indent, const std::string& text) {
    out_ += std::string(2 * indent, ' ') + text + '\n';
  }

  std::string out_;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

class DotPrinter {
 public:
  std::string take() { return "digraph {\n  node [shape=box]\n" + out_ + "}\n"; }

  void graph(const Graph& graph) {
    for (const Value* input : graph.inputs())
      declare(*input, "input " + input->name, "ellipse");
    for (const Value* capture : graph.captures())
      declare(*capture, "capture " + capture->name, "ellipse");
    for (const auto& node : graph.nodes())
      this->node(*node);
    for (const Value* output : graph.outputs()) {
      const std::string id = fresh();
      out_ += "  " + id + " [shape=ellipse, label=" + quoted("output " + output->name) + "]\n";
      edge(*output, id);
    }
  }

 private:
  std::string fresh() { return "n" + std::to_string(next_++); }

  void declare(const Value& value, const std::string& label, const std::string& shape) {
    const std::string id = fresh();
    out_ += "  " + id + " [shape=" + shape + ", label=" + quoted(label) + "]\n";
    makers_[&value] = id;
  }

  void edge(const Value& value, const std::string& to) {
    const auto maker = makers_.find(&value);
    if (maker == makers_.end()) return;  // a constant
    out_ += "  " + maker->second + " -> " + to + " [label=" + quoted(value.type.text()) + "]\n";
  }

  void node(const Node& node) {
    const std::string id = fresh();
    const std::string label = full_name(*node.op) + (node.name.empty() ? "" : "\n" + node.name);
    out_ += "  " + id + " [label=" + quoted(label) + "]\n";
    for (const Value* input : node.inputs) {
      if (input) edge(*input, id);
    }
    for (const Value* output : node.outputs) {
      if (output) makers_[output] = id;
    }
    for (const GraphPtr& inner : subgraphs_of(node)) {
      out_ += "  subgraph cluster_" + fresh() + " {\n  label=" + quoted(label) + "\n";
      graph(*inner);
      out_ += "  }\n";
    }
  }

  std::unordered_map<const Value*, std::string> makers_;
  std::string out_;
  size_t next_ = 0;
};

}  // namespace

std::string to_text(const Graph& graph) {
  TextPrinter printer;
  printer.graph(graph, 0);
  return printer.take();
}

std::string to_dot(const Graph& graph) {
  DotPrinter printer;
  printer.graph(graph);
  return printer.take();
}

}  // namespace sardonyx
