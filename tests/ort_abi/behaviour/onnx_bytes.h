// Small ONNX models as bytes, written field by field, so that they may also be wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace behaviour {

using Strings = std::vector<std::string>;
using Dims = std::vector<std::string>;  // sizes, and names of others; "?" for neither

// A message of protobuf's.
class Message {
 public:
  Message& number(int field, int64_t value) {
    varint(static_cast<uint64_t>(field) << 3);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& bytes(int field, const std::string& value) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(value.size());
    text += value;
    return *this;
  }
  Message& real(int field, float value) {
    varint(static_cast<uint64_t>(field) << 3 | 5);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }

  std::string text;

 private:
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7)
      text += static_cast<char>(value | 128);
    text += static_cast<char>(value);
  }
};

inline std::string tensor_type(int element, const Dims& dims, bool has_shape = true) {
  Message shape;
  for (const std::string& dim : dims) {
    Message one;
    if (dim[0] >= '0' && dim[0] <= '9')
      one.number(1, std::stoll(dim));
    else if (dim != "?")
      one.bytes(2, dim);
    shape.bytes(1, one.text);
  }
  Message tensor;
  tensor.number(1, element);
  if (has_shape) tensor.bytes(2, shape.text);
  return Message().bytes(1, tensor.text).text;
}
inline std::string sequence_type(const std::string& item) {
  return Message().bytes(4, Message().bytes(1, item).text).text;
}
inline std::string optional_type(const std::string& item) {
  return Message().bytes(9, Message().bytes(1, item).text).text;
}
inline std::string map_type(int key, const std::string& value) {
  return Message().bytes(5, Message().number(1, key).bytes(2, value).text).text;
}

inline std::string port(const std::string& name, const std::string& type) {
  return Message().bytes(1, name).bytes(2, type).text;
}

template <typename T>
std::string initializer(const std::string& name, int element, const std::vector<int64_t>& dims,
                        const std::vector<T>& elements) {
  Message tensor;
  for (int64_t dim : dims)
    tensor.number(1, dim);
  tensor.number(2, element).bytes(8, name);
  return tensor
      .bytes(9, std::string(reinterpret_cast<const char*>(elements.data()),
                            elements.size() * sizeof(T)))
      .text;
}
inline std::string external_initializer(const std::string& name, const std::vector<int64_t>& dims,
                                        const std::string& location) {
  Message tensor;
  for (int64_t dim : dims)
    tensor.number(1, dim);
  return tensor.number(2, 1)
      .bytes(8, name)
      .bytes(13, Message().bytes(1, "location").bytes(2, location).text)
      .number(14, 1)
      .text;
}

inline std::string attribute(const std::string& name, int64_t value) {
  return Message().bytes(1, name).number(3, value).number(20, 2).text;
}
inline std::string attribute(const std::string& name, const std::vector<int64_t>& values) {
  Message made;
  made.bytes(1, name);
  for (int64_t value : values)
    made.number(8, value);
  return made.number(20, 7).text;
}

struct Node {
  std::string op;
  Strings inputs, outputs;
  Strings attributes = {};
  std::string name = "", domain = "";
};

struct ModelParts {
  Strings inputs, outputs;
  std::vector<Node> nodes;
  Strings initializers = {};
  int64_t ir_version = 8, opset = 17;
  Strings more_opsets = {};
  Strings metadata = {};
};

inline std::string node_bytes(const Node& node) {
  Message made;
  for (const std::string& input : node.inputs)
    made.bytes(1, input);
  for (const std::string& output : node.outputs)
    made.bytes(2, output);
  made.bytes(3, node.name).bytes(4, node.op);
  for (const std::string& one : node.attributes)
    made.bytes(5, one);
  if (!node.domain.empty()) made.bytes(7, node.domain);
  return made.text;
}

inline std::string opset(const std::string& domain, int64_t version) {
  return Message().bytes(1, domain).number(2, version).text;
}

inline std::string model(const ModelParts& parts) {
  Message graph;
  for (const Node& node : parts.nodes)
    graph.bytes(1, node_bytes(node));
  graph.bytes(2, "graph");
  for (const std::string& one : parts.initializers)
    graph.bytes(5, one);
  for (const std::string& one : parts.inputs)
    graph.bytes(11, one);
  for (const std::string& one : parts.outputs)
    graph.bytes(12, one);
  Message made;
  made.number(1, parts.ir_version).bytes(7, graph.text);
  if (parts.opset > 0) made.bytes(8, opset("", parts.opset));
  for (const std::string& one : parts.more_opsets)
    made.bytes(8, one);
  for (const std::string& one : parts.metadata)
    made.bytes(14, one);
  return made.text;
}

// y = op(x) of float[n,3], or of the given types.
inline std::string unary(const std::string& op, const std::string& in, const std::string& out) {
  return model({{port("x", in)}, {port("y", out)}, {{op, {"x"}, {"y"}, {}, "the_node"}}});
}
inline std::string relu() {
  const std::string type = tensor_type(1, {"n", "3"});
  return unary("Relu", type, type);
}

}  // namespace behaviour
