#include "executor/ort_abi/profile_arguments.h"

#include <charconv>
#include <cstdio>
#include <vector>

#include "ir/core/dtype.h"
#include "ir/core/error.h"

namespace sardonyx::ort_abi {
namespace {

struct TypeAndShape {
  std::string_view type, dims;  // "float", "1, 64"
};

// Of "float[1, 64], int64[2]". What is no tensor is passed over.
std::vector<TypeAndShape> tensors_in(std::string_view types) {
  std::vector<TypeAndShape> tensors;
  while (true) {
    const size_t open = types.find('['), close = types.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
      return tensors;
    std::string_view type = types.substr(0, open);
    type.remove_prefix(std::min(type.find_last_of(" ,(") + 1, type.size()));
    tensors.push_back({type, types.substr(open + 1, close - open - 1)});
    types.remove_prefix(close + 1);
  }
}

// [{"float":[1,64]},{"int64":[2]}]
std::string shapes_json(const std::vector<TypeAndShape>& tensors) {
  std::string json;
  for (const TypeAndShape& tensor : tensors) {
    std::string dims;
    for (const char c : tensor.dims) {
      if (c != ' ') dims += c;
    }
    json += text(json.empty() ? "" : ",", "{", json_text(tensor.type), ":[", dims, "]}");
  }
  return "[" + json + "]";
}

// Of strings, and of types that are not known, none.
size_t bytes_of(const TypeAndShape& tensor) {
  const DType dtype = dtype_named(tensor.type);
  int64_t count = 1;
  std::string_view dims = tensor.dims;
  while (!dims.empty()) {
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(dims.data(), dims.data() + dims.size(), dim);
    if (error != std::errc()) return 0;
    count *= dim;
    dims.remove_prefix(static_cast<size_t>(end - dims.data()));
    dims.remove_prefix(std::min(dims.find_first_not_of(", "), dims.size()));
  }
  const bool has_bytes = dtype != DType::kUndefined && dtype != DType::kString;
  return has_bytes ? bytes_for(dtype, count) : 0;
}

size_t bytes_of(const std::vector<TypeAndShape>& tensors) {
  size_t bytes = 0;
  for (const TypeAndShape& tensor : tensors)
    bytes += bytes_of(tensor);
  return bytes;
}

}  // namespace

std::string json_text(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Weights are part of a step: what it reads besides its inputs.
std::string arguments_of(const NodeTiming& step, size_t index) {
  constexpr std::string_view kArrow = " -> ";
  const std::string_view types = step.types;
  const size_t arrow = types.find(kArrow);
  const bool has_outputs = arrow != std::string_view::npos;
  const auto inputs = tensors_in(types.substr(0, has_outputs ? arrow : types.size()));
  const auto outputs =
      tensors_in(has_outputs ? types.substr(arrow + kArrow.size()) : std::string_view());
  const size_t read = bytes_of(inputs), written = bytes_of(outputs);
  const size_t parameters = step.bytes > read + written ? step.bytes - read - written : 0;
  return text("{\"op_name\" : ", json_text(step.op),
              ",\"provider\" : \"CPUExecutionProvider\",\"node_index\" : \"", index,
              "\",\"parameter_size\" : \"", parameters, "\",\"activation_size\" : \"", read,
              "\",\"output_size\" : \"", written, "\",\"input_type_shape\" : ", shapes_json(inputs),
              ",\"output_type_shape\" : ", shapes_json(outputs),
              ",\"thread_scheduling_stats\" : {},\"implementation\" : ",
              json_text(step.implementation), "}");
}

}  // namespace sardonyx::ort_abi
