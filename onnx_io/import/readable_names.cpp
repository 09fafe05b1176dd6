#include "onnx_io/import/readable_names.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {
namespace {

using onnx_schema::AttributeProto;
using onnx_schema::FunctionProto;
using onnx_schema::GraphProto;
using onnx_schema::ModelProto;
using onnx_schema::NodeProto;

constexpr std::string_view kEscape = "\\x";

// The length of the character that `bytes` begin with; 0 where they begin with none.
size_t character_length(std::string_view bytes) {
  constexpr size_t kLongest = 4;
  for (size_t length = 1; length <= std::min(kLongest, bytes.size()); ++length) {
    if (is_utf8(bytes.substr(0, length))) return length;
  }
  return 0;
}

std::string escaped(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  while (!name.empty()) {
    const size_t length = character_length(name);
    if (length > 0) {
      out += name.substr(0, length);
    } else {
      const auto byte = static_cast<unsigned char>(name.front());
      out += kEscape;
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
    name.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

class NameWriter {
 public:
  explicit NameWriter(const Leniency& leniency) : leniency_(leniency) {}

  void model(ModelProto& model) {
    imports(*model.mutable_opset_import());
    for (FunctionProto& function : *model.mutable_functions())
      this->function(function);
    graph(*model.mutable_graph());
    for (const auto& [readable, bytes] : written_) {
      if (looks_escaped_.contains(readable)) fail_equal(readable);
    }
  }

 private:
  // The replacement of a name; nullopt where it can stay.
  std::optional<std::string> readable(const std::string& name) {
    if (is_utf8(name)) {
      if (name.find(kEscape) != std::string::npos) looks_escaped_.insert(name);
      return std::nullopt;
    }
    std::string out = escaped(name);
    const auto [known, is_new] = written_.emplace(out, name);
    if (!is_new && known->second != name) fail_equal(out);
    if (is_new) {
      leniency_.tolerate(kNotUtf8, "the name ", in_quotes(out),
                         " is not valid UTF-8; taken as it is written here");
    }
    return out;
  }

  template <typename Names>
  void each(Names* names) {
    for (std::string& name : *names) {
      if (auto out = readable(name)) name = std::move(*out);
    }
  }

  template <typename Named>
  void name_of(Named& named) {
    if (auto out = readable(named.name())) named.set_name(std::move(*out));
  }
  template <typename Messages>
  void names_of(Messages* messages) {
    for (auto& message : *messages)
      name_of(message);
  }

  // Makes the domain of a node or a function readable.
  template <typename Callable>
  void domain_of(Callable& callable) {
    if (auto out = readable(callable.domain())) callable.set_domain(std::move(*out));
    if (auto out = readable(callable.overload())) callable.set_overload(std::move(*out));
  }

  void imports(google::protobuf::RepeatedPtrField<onnx_schema::OperatorSetIdProto>& all) {
    for (auto& import : all) {
      if (auto out = readable(import.domain())) import.set_domain(std::move(*out));
    }
  }

  void nodes(google::protobuf::RepeatedPtrField<NodeProto>& all) {
    for (NodeProto& node : all) {
      name_of(node);
      if (auto out = readable(node.op_type())) node.set_op_type(std::move(*out));
      domain_of(node);
      each(node.mutable_input());
      each(node.mutable_output());
      attributes(*node.mutable_attribute());
    }
  }

  void attributes(google::protobuf::RepeatedPtrField<AttributeProto>& all) {
    for (AttributeProto& proto : all) {
      name_of(proto);
      if (auto out = readable(proto.ref_attr_name())) proto.set_ref_attr_name(std::move(*out));
      if (proto.has_g()) graph(*proto.mutable_g());
      for (GraphProto& inner : *proto.mutable_graphs())
        graph(inner);
    }
  }

  void graph(GraphProto& proto) {
    names_of(proto.mutable_input());
    names_of(proto.mutable_output());
    names_of(proto.mutable_value_info());
    names_of(proto.mutable_initializer());
    for (auto& sparse : *proto.mutable_sparse_initializer()) {
      if (sparse.has_values()) name_of(*sparse.mutable_values());
    }
    nodes(*proto.mutable_node());
  }

  void function(FunctionProto& proto) {
    name_of(proto);
    domain_of(proto);
    each(proto.mutable_input());
    each(proto.mutable_output());
    each(proto.mutable_attribute());
    attributes(*proto.mutable_attribute_proto());
    names_of(proto.mutable_value_info());
    imports(*proto.mutable_opset_import());
    nodes(*proto.mutable_node());
  }

  [[noreturn]] static void fail_equal(const std::string& readable) {
    fail(ErrorCode::kInvalidModel, "the name ", in_quotes(readable),
         " stands for another one that is not valid UTF-8; rename one of them");
  }

  const Leniency& leniency_;
  std::unordered_map<std::string, std::string> written_;  // by what stands for them
  std::unordered_set<std::string> looks_escaped_;
};

}  // namespace

void make_names_readable(ModelProto& model, const Leniency& leniency) {
  NameWriter(leniency).model(model);
}

}  // namespace sardonyx::onnx_import
