// One node of ai.onnx on its way into a file, and what rewrites of it ask for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attributes.h"
#include "ir/graph.h"

namespace sardonyx::onnx_export {

struct WrittenCall {
  std::string op;
  AttrMap attrs;
  std::vector<const Value*> inputs;          // formal ones; null for an omitted one
  std::vector<const Value*> outputs;         // null for an omitted one
  std::vector<std::shared_ptr<Value>> made;  // constants that older forms ask for, by base name

  bool has_input(size_t index) const { return index < inputs.size() && inputs[index]; }
  // Removes an input that is constant; nullptr where it is none.
  const Tensor* take_constant(size_t index);
  // Gives the input a constant of its own.
  void set_constant(size_t index, std::string name, Tensor value);

  template <typename T>
  T attribute_or(std::string_view name, T otherwise) const {
    const auto found = attrs.find(name);
    if (found == attrs.end()) return otherwise;
    const T* value = std::get_if<T>(&found->second);
    return value ? *value : otherwise;
  }
};

// What an input of a fixed meaning becomes in an older form: "" is good, else why it can't.
std::string ints_to_attribute(WrittenCall& call, size_t index, const std::string& name);
std::string float_to_attribute(WrittenCall& call, size_t index, const std::string& name);

// Resize as the opset has it.
std::string resize_19(WrittenCall& call, int64_t opset);
std::string resize_18(WrittenCall& call, int64_t opset);
std::string resize_13(WrittenCall& call, int64_t opset);
std::string resize_11(WrittenCall& call, int64_t opset);

}  // namespace sardonyx::onnx_export
