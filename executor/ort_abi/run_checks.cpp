#include "executor/ort_abi/run_checks.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "executor/ort_abi/custom_ops/custom_row.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/values/element_type.h"

namespace sardonyx::ort_abi {
namespace {

void check_dims(const Port& port, const Shape& shape, const char* what) {
  // Of what is declared a scalar ONNX Runtime looks at no shape.
  if (!port.has_rank || port.dims.empty()) return;
  if (shape.size() != port.dims.size()) {
    refuse(ORT_INVALID_ARGUMENT, "Invalid rank for ", what, ": ", port.name, " Got: ", shape.size(),
           " Expected: ", port.dims.size(), " Please fix either the inputs/outputs or the model.");
  }
  std::string wrong;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (port.dims[i] < 0 || port.dims[i] == shape[i]) continue;
    wrong += text("\n index: ", i, " Got: ", shape[i], " Expected: ", port.dims[i]);
  }
  if (wrong.empty()) return;
  refuse(ORT_INVALID_ARGUMENT, "Got invalid dimensions for ", what, ": ", port.name,
         " for the following indices", wrong,
         "\n Please fix either the inputs/outputs or the model.");
}

// A sequence of tensors as ONNX Runtime writes it: "seq(float)".
std::string type_text(const Type& type) {
  const bool is_of_tensors = type.is_sequence() && type.element->is_tensor();
  if (!is_of_tensors) return type.text();
  constexpr size_t kAround = sizeof("tensor(") - 1;
  return "seq(" + tensor_type_text(type.element->dtype).substr(kAround);
}

const char* kind_text(const Datum& value) {
  if (value.is_sequence()) return "a tensor sequence";
  if (value.is_map()) return "a map";
  if (value.is_sparse()) return "a sparse tensor";
  return value.is_tensor() ? "a tensor" : "a value of another kind";
}

// The input that the run missed, where the model has it from no default.
std::string missing_input(const OrtSession& session, std::string_view message) {
  if (message.find(" was not given") == std::string_view::npos) return "";
  for (const Port& port : session.inputs) {
    if (message.starts_with("input " + port.name + " (")) return port.name;
  }
  return "";
}

const Node* reader_of(const Graph& graph, std::string_view value) {
  const Value* found = graph.find_value(value);
  return found && !found->uses.empty() ? found->uses.front().node : nullptr;
}

const Node* node_named(const Graph& graph, std::string_view name) {
  for (const auto& node : graph.nodes()) {
    if (node->name == name) return node.get();
  }
  return nullptr;
}

std::string at_node(const Node* node, std::string_view name) {
  return text("Non-zero status code returned while running ", node ? node->op->name : "a",
              " node. Name:'", name, "' Status Message: ");
}

// Ops whose kernels in ONNX Runtime call it an invalid argument where values don't fit; all others
// just fail.
bool answers_invalid_argument(const OpDef& op) {
  static const std::array ops{&op_named("Gather"),   &op_named("GatherND"), &op_named("Expand"),
                              &op_named("Tile"),     &op_named("OneHot"),   &op_named("SequenceAt"),
                              &op_named("Transpose")};
  return std::ranges::find(ops, &op) != ops.end();
}

OrtErrorCode code_of_run(const Error& error, const Node* node) {
  if (error.code() == ErrorCode::kInternal) {
    const OrtErrorCode custom = code_of_custom_failure(error.what());
    return custom != ORT_OK ? custom : ORT_FAIL;
  }
  const bool is_of_values = error.code() == ErrorCode::kInvalidArgument && node;
  if (!is_of_values) return code_of(error.code());
  const OrtErrorCode custom = code_of_custom_failure(error.what());
  if (custom != ORT_OK) return custom;
  return answers_invalid_argument(*node->op) ? ORT_INVALID_ARGUMENT : ORT_FAIL;
}

}  // namespace

size_t port_named(std::span<const Port> ports, const char* name, size_t hint, const char* what) {
  if (hint < ports.size() && std::strcmp(ports[hint].name.c_str(), name) == 0) return hint;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return i;
  }
  refuse(ORT_INVALID_ARGUMENT, "Invalid ", what, " name: ", name);
}

void check_fits(const Port& port, const Datum& value, const char* what) {
  if (port.is_tensor && value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    if (tensor.dtype() != port.type.dtype) {
      refuse(ORT_INVALID_ARGUMENT, "Unexpected ", what, " data type. Actual: (",
             tensor_type_text(tensor.dtype()), ") , expected: (", tensor_type_text(port.type.dtype),
             ")");
    }
    return check_dims(port, tensor.shape(), what);
  }
  if (!value.defined() || value.has_kind(port.type)) return;
  const Type got = value.type();
  if (port.type.is_optional() && same_kind(*port.type.element, got)) return;
  const bool is_sparse = port.type.kind == Type::Kind::kSparseTensor && !value.is_sparse();
  if (port.is_tensor || is_sparse) {
    refuse(ORT_INVALID_ARGUMENT, what, " with name: '", port.name,
           "' expected to be of type: ", is_sparse ? 4 : 2, " but received ", kind_text(value));
  }
  refuse(ORT_INVALID_ARGUMENT, "Unexpected ", what, " data type. Actual: (", type_text(got),
         ") , expected: (", type_text(port.type), ")");
}

void refuse_run(const OrtSession& session, const Error& error) {
  if (error.code() == ErrorCode::kCancelled)
    refuse(ORT_FAIL, "Exiting due to terminate flag being set to true.");
  const Graph& graph = session.session.graph();
  std::string message = error.what();
  const Node* at = node_named(graph, error.node());
  OrtErrorCode code = code_of_run(error, at);
  const std::string missing = missing_input(session, message);
  if (!missing.empty()) {
    const Node* reader = reader_of(graph, missing);
    code = ORT_FAIL;
    message = at_node(reader, reader ? reader->name : "") + "Missing Input: " + missing;
  } else if (!error.node().empty()) {
    message = at_node(at, error.node()) + message;
  }
  session.logger.write(ORT_LOGGING_LEVEL_ERROR, "run.cpp:1 Run", message);
  refuse(code, message);
}

}  // namespace sardonyx::ort_abi
