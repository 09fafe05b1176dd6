#include "executor/ort_abi/load/load_errors.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "executor/ort_abi/status.h"
#include "onnx_io/ort_format/is_ort_model.h"

namespace sardonyx::ort_abi {
namespace {

// What the message begins with for files, and for bytes.
std::string load_prefix(const ModelSource& source) {
  return source.path ? text("Load model from ", source.path->native(), " failed:") : "";
}

void check_path(const ModelSource& source) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(*source.path, ignored);
  if (!std::filesystem::exists(status)) {
    refuse(ORT_NO_SUCHFILE, load_prefix(source), "Load model ", source.path->native(),
           " failed. File doesn't exist");
  }
  if (std::filesystem::is_directory(status)) {
    refuse(ORT_INVALID_ARGUMENT, "The model path is a directory. Loading a model package from a ",
           "directory path is not supported. Give the path of a model file.");
  }
  if (std::filesystem::is_regular_file(status) &&
      std::filesystem::file_size(*source.path, ignored) == 0)
    refuse(ORT_FAIL, load_prefix(source), "ModelProto does not have a graph.");
}

constexpr std::string_view kNoOrtModel = "ORT model verification failed.";

[[noreturn]] void refuse_protobuf(const ModelSource& source) {
  refuse(ORT_INVALID_PROTOBUF, source.path
                                   ? load_prefix(source) + "Protobuf parsing failed."
                                   : "Failed to load model because protobuf parsing failed.");
}

// The text between the quotes that follow `before`.
std::string quoted_after(std::string_view message, std::string_view before) {
  const size_t at = message.find(before);
  if (at == std::string_view::npos) return "";
  const size_t begin = at + before.size();
  return std::string(message.substr(begin, message.find('"', begin) - begin));
}

bool says(std::string_view message, std::string_view part) {
  return message.find(part) != std::string_view::npos;
}

// Parts of our messages about models that break ONNX's rules, with the codes that ONNX Runtime has
// for the same. For all others it is ORT_FAIL.
struct ModelFault {
  std::string_view part, second;  // both are in the message
  OrtErrorCode code;
  std::string_view words;  // before our message
};
constexpr std::string_view kInvalid = "This is an invalid model. ";
constexpr ModelFault kFaults[] = {
    {": expected ", " inputs, got ", ORT_INVALID_GRAPH, kInvalid},
    {": expected ", " outputs, got ", ORT_INVALID_GRAPH, kInvalid},
    {"attribute ", "is required and was not given", ORT_INVALID_GRAPH, kInvalid},
    {"attribute ", "the op has no such attribute", ORT_INVALID_GRAPH, kInvalid},
    {"attribute ", ": expected ", ORT_INVALID_GRAPH, kInvalid},
    {": expected a type of ", "", ORT_INVALID_GRAPH, kInvalid},
    {"no custom operator ", "", ORT_INVALID_GRAPH, kInvalid},
    {" not in range [min=", "", ORT_INVALID_GRAPH, kInvalid},
    {"is marked single but has an empty string", "", ORT_INVALID_GRAPH, kInvalid},
    {"Type '", "of input parameter (", ORT_INVALID_GRAPH, "This is an invalid model. Type Error: "},
    {"Type parameter (", "bound to different types (", ORT_FAIL, "Type Error: "},
    {"has a cycle", "", ORT_FAIL, "This is an invalid model. Error: the graph is not acyclic. "},
    {"is produced twice", "", ORT_FAIL,
     "This is an invalid model. Error: Duplicate definition of name. "},
    {"names must be unique", "", ORT_FAIL, "Error: Duplicate definition-site. "},
    {"has no opset_import", "", ORT_FAIL, "Missing opset in the model. "},
    {"does not broadcast", "", ORT_FAIL, "[ShapeInferenceError] Incompatible dimensions. "},
    {"must have the type of ", "", ORT_FAIL, "Type Error: "},
    {"declared with type ", "", ORT_FAIL, "Type Error: "},
};

// Programs look for these words, in which the name is.
void refuse_unknown_name(const std::string& prefix, std::string_view message) {
  if (says(message, "input \"") && says(message, "is produced by no node")) {
    refuse(ORT_INVALID_ARGUMENT, prefix, "Invalid model. Node input '",
           quoted_after(message, "input \""),
           "' is not a graph input, initializer, or output of a previous node. (", message, ")");
  }
  if (says(message, "is not in opset_import")) {
    refuse(ORT_INVALID_GRAPH, prefix, kInvalid, "Error No opset import for domain '",
           quoted_after(message, "the domain \""), "' (", message, ")");
  }
}

[[noreturn]] void refuse_model(const std::string& prefix, std::string_view message) {
  if (says(message, "external data location ")) {
    const std::string name = quoted_after(message, "initializer \"");
    // Of a path that leads out of the folder, what programs look for.
    const bool escapes =
        says(message, "..") || says(message, "beneath") || says(message, "outside");
    refuse(ORT_FAIL, prefix, "External data path validation failed for initializer: ", name,
           ". Error: ", escapes ? "External data path escapes model directory. " : "", message);
  }
  refuse_unknown_name(prefix, message);
  for (const ModelFault& fault : kFaults) {
    if (says(message, fault.part) && says(message, fault.second))
      refuse(fault.code, prefix, fault.words, message);
  }
  refuse(ORT_FAIL, prefix, kInvalid, message);
}

[[noreturn]] void refuse_op(const std::string& prefix, std::string_view message,
                            const std::string& op) {
  const std::string domain = quoted_after(message, "\" in domain \"");
  if (domain == "ai.onnx") {
    refuse(ORT_INVALID_GRAPH, prefix, kInvalid, "Error No Op registered for ", op, " (", message,
           ")");
  }
  refuse(ORT_FAIL, prefix, "Fatal error: ", domain, ":", op,
         "(-1) is not a registered function/op (", message, ")");
}

}  // namespace

bool is_meant_as_ort(const std::filesystem::path& path, std::string_view format) {
  return format.empty() ? ort_format::has_ort_name(path) : format == "ORT";
}

bool is_ort_format(const ModelSource& source) {
  std::array<std::byte, 8> begin{};
  if (source.path) {
    std::ifstream(*source.path, std::ios::binary)
        .read(reinterpret_cast<char*>(begin.data()), begin.size());
  } else {
    std::ranges::copy(source.bytes.first(std::min(source.bytes.size(), begin.size())),
                      begin.begin());
  }
  return ort_format::is_ort_model(begin);
}

void check_source(const ModelSource& source, std::string_view format) {
  if (source.path)
    check_path(source);
  else if (source.bytes.empty())
    refuse(ORT_INVALID_ARGUMENT, "No graph was found in the protobuf.");
  const bool is_ort = is_ort_format(source);
  // Bytes have no name that tells the format: they do it themselves.
  const bool is_meant =
      source.path || !format.empty() ? is_meant_as_ort(source.path.value_or(""), format) : is_ort;
  if (is_ort == is_meant) return;
  if (!is_ort) refuse(ORT_FAIL, kNoOrtModel);
  refuse_protobuf(source);
}

void refuse_load(const ModelSource& source, const Error& error) {
  const std::string prefix = load_prefix(source);
  const std::string_view message = error.what();
  if (error.code() == ErrorCode::kCancelled)
    refuse(ORT_MODEL_LOAD_CANCELED, prefix, "Graph loading canceled due to user request.");
  if (says(message, "is no valid protobuf of ONNX")) refuse_protobuf(source);
  if (says(message, "the file ends early or is corrupt") && is_ort_format(source))
    refuse(ORT_FAIL, kNoOrtModel, " ", message);
  if (says(message, "ORT format model version")) refuse(ORT_FAIL, message);
  if (says(message, "the file is no ONNX model: it has no graph")) {
    if (!source.path) refuse(ORT_INVALID_ARGUMENT, "No graph was found in the protobuf.");
    refuse(ORT_FAIL, prefix, "ModelProto does not have a graph.");
  }
  const std::string op = quoted_after(message, "there is no operator \"");
  if (!op.empty()) refuse_op(prefix, message, op);
  if (says(message, "initializers: expected ")) refuse(ORT_FAIL, prefix, message);
  if (error.code() == ErrorCode::kInvalidModel) refuse_model(prefix, message);
  if (error.code() == ErrorCode::kUnsupported && says(message, "is newer than ")) {
    const bool is_file = says(message, "ir_version");
    refuse(ORT_FAIL, prefix, is_file ? "Unsupported model IR version: " : "", message);
  }
  refuse(code_of(error.code()), prefix, message);
}

std::optional<std::string> unknown_initializer(const Error& error) {
  constexpr std::string_view kBefore = "the model has no initializer \"";
  if (!says(error.what(), kBefore)) return std::nullopt;
  return quoted_after(error.what(), kBefore);
}

}  // namespace sardonyx::ort_abi
