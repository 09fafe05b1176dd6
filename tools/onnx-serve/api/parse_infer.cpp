// Reads the JSON of requests.
#include <simdjson.h>

#include <algorithm>

#include "tools/onnx-serve/api/infer_request.h"
#include "tools/onnx-serve/api/json_data.h"

namespace sardonyx::serve {
namespace {

using serving::refuse;
namespace ondemand = simdjson::ondemand;

constexpr size_t kMaxNames = 4096;  // inputs, outputs, parameters of one request, dims of a shape

template <typename T>
T got(simdjson::simdjson_result<T>&& result, std::string_view what) {
  T value;
  if (const auto error = std::move(result).get(value))
    refuse(Status::kInvalidArgument, "request: ", what, ": ", simdjson::error_message(error));
  return value;
}

// Valid as long as the document.
std::string_view key_of(ondemand::field& field) {
  return got(field.unescaped_key(), "the name of a field");
}

// Calls visit(key, value) for each field. One that is null is left out: clients that write all
// fields of a record write those so that they don't set.
template <typename Visit>
void each_field(ondemand::object object, std::string_view what, const Visit& visit) {
  size_t count = 0;
  for (auto result : object) {
    if (++count > kMaxNames) refuse(Status::kInvalidArgument, "request: too many fields in ", what);
    ondemand::field field = got(std::move(result), what);
    const std::string_view key = key_of(field);
    ondemand::value value = field.value();
    if (!got(value.is_null(), key)) visit(key, value);
  }
}

template <typename Visit>
void each_element(ondemand::array array, std::string_view what, const Visit& visit) {
  size_t count = 0;
  for (auto result : array) {
    if (++count > kMaxNames) refuse(Status::kInvalidArgument, "request: too many ", what);
    visit(got(std::move(result), what));
  }
}

std::string string_of(ondemand::value value, std::string_view what) {
  std::string_view string;
  if (value.get_string().get(string))
    refuse(Status::kInvalidArgument, "request: ", what, ": expected a string");
  return std::string(string);
}

ParameterValue parameter_of(ondemand::value value, std::string_view name) {
  switch (got(value.type(), name)) {
    case ondemand::json_type::boolean:
      return got(value.get_bool(), name);
    case ondemand::json_type::string:
      return string_of(value, name);
    case ondemand::json_type::number: {
      const ondemand::number number = got(value.get_number(), name);
      if (number.is_int64()) return number.get_int64();
      if (number.is_uint64()) return number.get_uint64();
      return number.get_double();
    }
    default:
      refuse(Status::kInvalidArgument, "parameter '", name,
             "': expected a string, a number or a bool");
  }
}

Parameters parameters_of(ondemand::value value) {
  Parameters parameters;
  each_field(got(value.get_object(), "parameters"), "parameters",
             [&](std::string_view name, ondemand::value one) {
               parameters.insert_or_assign(std::string(name), parameter_of(one, name));
             });
  return parameters;
}

Shape shape_of(ondemand::value value) {
  Shape shape;
  each_element(got(value.get_array(), "shape: expected an array"), "dims of a shape",
               [&](ondemand::value dim) { shape.push_back(got(dim.get_int64(), "shape")); });
  return shape;
}

ParsedInfer::Input input_of(ondemand::value value) {
  ParsedInfer::Input input;
  bool has_shape = false;
  each_field(got(value.get_object(), "inputs"), "an input",
             [&](std::string_view name, ondemand::value one) {
               if (name == "name") {
                 input.name = string_of(one, name);
               } else if (name == "datatype") {
                 input.datatype = string_of(one, name);
               } else if (name == "shape") {
                 input.shape = shape_of(one);
                 has_shape = true;
               } else if (name == "parameters") {
                 input.parameters = parameters_of(one);
               } else if (name == "data") {
                 ondemand::array array = got(one.get_array(), "data: expected an array");
                 input.data = got(array.raw_json(), "data");
                 input.has_data = true;
               }
             });
  if (input.name.empty()) refuse(Status::kInvalidArgument, "request: an input without name");
  if (!has_shape) refuse(Status::kInvalidArgument, "input '", input.name, "': no field 'shape'");
  return input;
}

RequestedOutput output_of(ondemand::value value) {
  RequestedOutput output;
  each_field(got(value.get_object(), "outputs"), "an output",
             [&](std::string_view name, ondemand::value one) {
               if (name == "name") {
                 output.name = string_of(one, name);
               } else if (name == "parameters") {
                 output.parameters = parameters_of(one);
               }
             });
  if (output.name.empty()) refuse(Status::kInvalidArgument, "request: an output without name");
  return output;
}

// One for each thread: it keeps the memory of its last text, up to a size.
ondemand::parser& parser_for(size_t bytes) {
  constexpr size_t kKept = 1 << 20;
  thread_local ondemand::parser parser(simdjson::SIMDJSON_MAXSIZE_BYTES);
  if (parser.capacity() > kKept && bytes <= kKept)
    parser = ondemand::parser(simdjson::SIMDJSON_MAXSIZE_BYTES);
  return parser;
}

}  // namespace

ParsedInfer parse_infer(const std::string& text) {
  ParsedInfer parsed;
  bool has_inputs = false;
  ondemand::document document =
      got(parser_for(text.size())
              .iterate(simdjson::padded_string_view(text.data(), text.size(),
                                                    text.size() + simdjson::SIMDJSON_PADDING)),
          "no JSON");
  each_field(got(document.get_object(), "expected a JSON object"), "the request",
             [&](std::string_view name, ondemand::value value) {
               if (name == "id") {
                 parsed.id = string_of(value, name);
               } else if (name == "parameters") {
                 parsed.parameters = parameters_of(value);
               } else if (name == "inputs") {
                 has_inputs = true;
                 each_element(got(value.get_array(), "inputs: expected an array"), "inputs",
                              [&](ondemand::value one) { parsed.inputs.push_back(input_of(one)); });
               } else if (name == "outputs") {
                 each_element(
                     got(value.get_array(), "outputs: expected an array"), "outputs",
                     [&](ondemand::value one) { parsed.outputs.push_back(output_of(one)); });
               }
             });
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
    refuse(Status::kInvalidArgument, "request: something follows the JSON object");
  if (!has_inputs) refuse(Status::kInvalidArgument, "request: no field 'inputs'");
  return parsed;
}

std::optional<bool> bool_parameter(const Parameters& parameters, std::string_view name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return std::nullopt;
  if (const bool* value = std::get_if<bool>(&found->second)) return *value;
  refuse(Status::kInvalidArgument, "parameter '", name, "': expected true or false");
}

std::optional<uint64_t> count_parameter(const Parameters& parameters, std::string_view name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return std::nullopt;
  if (const auto* value = std::get_if<int64_t>(&found->second); value && *value >= 0)
    return static_cast<uint64_t>(*value);
  if (const auto* value = std::get_if<uint64_t>(&found->second)) return *value;
  refuse(Status::kInvalidArgument, "parameter '", name, "': expected a number from 0 on");
}

std::optional<std::string> string_parameter(const Parameters& parameters, std::string_view name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return std::nullopt;
  if (const auto* value = std::get_if<std::string>(&found->second)) return *value;
  refuse(Status::kInvalidArgument, "parameter '", name, "': expected a string");
}

void apply_parameters(const Parameters& parameters, serving::InferRequest& request) {
  request.priority = count_parameter(parameters, "priority").value_or(0);
  constexpr uint64_t kYear = uint64_t{365} * 24 * 3600 * 1'000'000;
  if (const auto timeout = count_parameter(parameters, "timeout"); timeout && *timeout > 0)
    request.timeout = std::chrono::microseconds(std::min(*timeout, kYear));
  serving::SequenceControl& sequence = request.sequence;
  if (const auto found = parameters.find("sequence_id"); found != parameters.end()) {
    if (std::holds_alternative<std::string>(found->second)) {
      sequence.text_id = std::get<std::string>(found->second);
    } else {
      sequence.number_id = *count_parameter(parameters, "sequence_id");
    }
  }
  sequence.start = bool_parameter(parameters, "sequence_start").value_or(false);
  sequence.end = bool_parameter(parameters, "sequence_end").value_or(false);
}

}  // namespace sardonyx::serve
