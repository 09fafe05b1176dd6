// Tensors of requests and answers.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "executor/serving/datatype.h"
#include "executor/serving/json_text.h"
#include "ir/core/dtype_convert.h"
#include "tools/onnx-serve/api/infer_request.h"
#include "tools/onnx-serve/api/json_data.h"
#include "tools/onnx-serve/api/shared_memory.h"
#include "tools/onnx-serve/tracing/tracer.h"

namespace sardonyx::serve {
namespace {

using serving::NamedTensor;
using serving::refuse;
using serving::ServedModel;
using serving::TensorConfig;

size_t size_of(DType dtype, const Shape& shape, std::string_view what) {
  if (dtype == DType::kString)
    refuse(Status::kInvalidArgument, what, ": BYTES need parameter binary_data_size");
  return bytes_for(dtype, serving::checked_count(shape, what));
}

void append_parameters_begin(std::string& out, bool& is_first) {
  out += is_first ? ",\"parameters\":{" : ",";
  is_first = false;
}

void append_output(const TensorConfig& config, const Tensor& tensor, const Parameters& wanted,
                   bool is_binary, bool allows_nan, const SharedMemory* memory,
                   HttpAnswer& answer) {
  std::string& out = answer.text;
  out += "{\"name\":";
  serving::append_json_string(out, config.name);
  out += ",\"datatype\":\"";
  out += serving::protocol_name(tensor.dtype());
  out += "\",\"shape\":[";
  for (size_t i = 0; i < tensor.rank(); ++i) {
    if (i > 0) out += ',';
    serving::append_number(out, tensor.shape()[i]);
  }
  out += ']';
  const std::string what = "output '" + config.name + "'";
  bool is_first = true;
  if (const auto region = string_parameter(wanted, "shared_memory_region")) {
    const uint64_t offset = count_parameter(wanted, "shared_memory_offset").value_or(0);
    const auto size = count_parameter(wanted, "shared_memory_byte_size");
    expect_shared_memory(memory, size.has_value(), what);
    memory->write(*region, offset, *size, tensor, what);
    append_parameters_begin(out, is_first);
    out += "\"shared_memory_region\":" + serving::json_string(*region) +
           ",\"shared_memory_offset\":" + std::to_string(offset) +
           ",\"shared_memory_byte_size\":" + std::to_string(serving::binary_size(tensor)) + "}}";
    return;
  }
  if (is_binary) {
    append_parameters_begin(out, is_first);
    out += "\"binary_data_size\":";
    serving::append_number(out, serving::binary_size(tensor));
    out += "}}";
    HttpAnswer::Part part;
    if (tensor.dtype() == DType::kString) {
      serving::append_binary_strings(tensor, part.text);
    } else {
      part.tensor = tensor;
    }
    answer.parts.push_back(std::move(part));
    return;
  }
  out += ",\"data\":";
  append_json_data(tensor, out, what, allows_nan);
  out += '}';
}

}  // namespace

void expect_shared_memory(const SharedMemory* memory, bool has_size, std::string_view what) {
  if (!memory) {
    refuse(Status::kUnsupported, what,
           ": shared memory of clients is off; start the server with --allow-client-shm");
  }
  if (!has_size)
    refuse(Status::kInvalidArgument, what, ": needs parameter shared_memory_byte_size");
}

std::vector<NamedTensor> request_tensors(const HttpRequest& http, const ParsedInfer& parsed,
                                         const ServedModel& model, const SharedMemory* memory) {
  std::vector<NamedTensor> tensors;
  const bool allows_nan = bool_parameter(parsed.parameters, "allow_nan").value_or(false);
  size_t at = 0;  // in the binary part
  const size_t there = http.has_binary ? http.binary->size() : 0;
  for (const ParsedInfer::Input& input : parsed.inputs) {
    model.input(input.name);  // it must have one of this name
    const std::string what = "input '" + input.name + "' for model '" + model.name() + "'";
    const DType dtype = serving::required_dtype(input.datatype, what);
    const auto region = string_parameter(input.parameters, "shared_memory_region");
    const auto size = count_parameter(input.parameters, "binary_data_size");
    if ((region || size) && input.has_data)
      refuse(Status::kInvalidArgument, what, ": has data in JSON and elsewhere");
    if (region) {
      const auto bytes = count_parameter(input.parameters, "shared_memory_byte_size");
      expect_shared_memory(memory, bytes.has_value(), what);
      tensors.push_back(
          {input.name,
           memory->read(*region,
                        count_parameter(input.parameters, "shared_memory_offset").value_or(0),
                        *bytes, dtype, input.shape, what)});
    } else if (input.has_data) {
      tensors.push_back(
          {input.name, tensor_from_json(dtype, input.shape, input.data, what, allows_nan)});
    } else if (http.has_binary) {
      const uint64_t bytes = size ? *size : size_of(dtype, input.shape, what);
      if (bytes > there - at) {
        refuse(Status::kInvalidArgument, what, ": ", bytes, " bytes of binary data, but ",
               there - at, " of the body are left");
      }
      tensors.push_back({input.name, serving::tensor_from_binary(dtype, input.shape, http.binary,
                                                                 at, bytes, what)});
      at += bytes;
    } else {
      refuse(Status::kInvalidArgument, what,
             size ? ": binary_data_size without field Inference-Header-Content-Length"
                  : ": no field 'data'");
    }
  }
  if (at != there) {
    refuse(Status::kInvalidArgument, "the binary part of the body has ", there,
           " bytes, but the inputs name ", at);
  }
  return tensors;
}

std::vector<NamedTensor> raw_tensors(const HttpRequest& http, const ServedModel& model) {
  const auto& inputs = model.config().inputs;
  if (inputs.size() != 1) {
    refuse(Status::kInvalidArgument,
           "Raw request must only have 1 input (found 1) to be deduced but got ", inputs.size(),
           " inputs in '", model.name(), "' model configuration");
  }
  const TensorConfig& input = inputs[0];
  const std::string what = "input '" + input.name + "' for model '" + model.name() + "'";
  Shape shape = input.dims;
  const size_t bytes = http.binary->size();
  if (input.dtype == DType::kString) {
    // The body is one element, without a length of its own.
    for (int64_t& dim : shape)
      dim = dim < 0 ? 1 : dim;
    if (model.config().max_batch_size > 0) shape.insert(shape.begin(), 1);
    if (element_count(shape) != 1)
      refuse(Status::kInvalidArgument, "For BYTE datatype raw input '", input.name,
             "', the model must have input shape [1]");
    Tensor tensor = Tensor::allocate(DType::kString, shape);
    tensor.mutable_values<std::string>()[0].assign(
        reinterpret_cast<const char*>(http.binary->data()), bytes);
    return {{input.name, std::move(tensor)}};
  }
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& dim : shape) {
    if (dim >= 0) {
      known *= dim;
    } else if (open) {
      refuse(Status::kInvalidArgument, "The shape of the raw input '", input.name,
             "' can not be deduced because there are more than one variable-sized dimension: ",
             to_text(input.dims));
    } else {
      open = &dim;
    }
  }
  const size_t row = bytes_for(input.dtype, known);
  if (open) {
    if (row == 0 || bytes % row != 0)
      refuse(Status::kInvalidArgument, what, ": ", bytes, " bytes are no multiple of ", row);
    *open = static_cast<int64_t>(bytes / row);
  }
  if (model.config().max_batch_size > 0) shape.insert(shape.begin(), 1);
  return {
      {input.name, serving::tensor_from_binary(input.dtype, shape, http.binary, 0, bytes, what)}};
}

OutputChoice choose_outputs(const ParsedInfer& parsed, const ServedModel& model) {
  OutputChoice choice;
  if (parsed.outputs.empty()) {
    choice.order.resize(model.config().outputs.size());
    std::iota(choice.order.begin(), choice.order.end(), size_t{0});
    choice.parameters.resize(choice.order.size());
    return choice;
  }
  for (const RequestedOutput& output : parsed.outputs) {
    const size_t index = model.output_index(output.name);
    if (std::find(choice.order.begin(), choice.order.end(), index) != choice.order.end()) {
      refuse(Status::kInvalidArgument, "Duplicate output name '", output.name,
             "' is not allowed in a request");
    }
    choice.order.push_back(index);
    choice.parameters.push_back(output.parameters);
  }
  return choice;
}

HttpAnswer infer_answer(const ServedModel& model, const ParsedInfer& parsed,
                        const OutputChoice& choice, const std::vector<Datum>& outputs,
                        bool prefers_binary, const SharedMemory* memory) {
  HttpAnswer answer;
  std::string& out = answer.text;
  out.reserve(256);
  out += "{\"model_name\":";
  serving::append_json_string(out, model.name());
  out += ",\"model_version\":\"";
  serving::append_number(out, model.version());
  out += '"';
  if (parsed.id) {
    out += ",\"id\":";
    serving::append_json_string(out, *parsed.id);
  }
  out += ",\"outputs\":[";
  const bool all_binary =
      bool_parameter(parsed.parameters, "binary_data_output").value_or(prefers_binary);
  const bool allows_nan = bool_parameter(parsed.parameters, "allow_nan").value_or(false);
  for (size_t i = 0; i < choice.order.size(); ++i) {
    if (i > 0) out += ',';
    const TensorConfig& config = model.config().outputs[choice.order[i]];
    const Parameters& wanted = choice.parameters[i];
    Tensor tensor = outputs[choice.order[i]].tensor();
    if (const auto k = count_parameter(wanted, "classification"); k && *k > 0)
      tensor = classification(tensor, *k, config, model.config().max_batch_size > 0);
    const bool is_binary = bool_parameter(wanted, "binary_data").value_or(all_binary);
    append_output(config, tensor, wanted, is_binary, allows_nan, memory, answer);
  }
  out += "]}";
  if (!answer.parts.empty()) {
    answer.content_type = "application/octet-stream";
    answer.fields.emplace_back("Inference-Header-Content-Length", std::to_string(out.size()));
  }
  return answer;
}

void add_inputs(Trace& trace, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& input : tensors)
    trace.tensors.push_back({"TENSOR_QUEUE_INPUT", input.name, input.tensor});
}

void add_outputs(Trace& trace, const ServedModel& model, const OutputChoice& choice,
                 const std::vector<Datum>& outputs) {
  for (const size_t index : choice.order) {
    trace.tensors.push_back(
        {"TENSOR_BACKEND_OUTPUT", model.config().outputs[index].name, outputs[index].tensor()});
  }
}

Tensor classification(const Tensor& scores, uint64_t k, const TensorConfig& output,
                      bool has_batch_dim) {
  if (scores.dtype() == DType::kString || scores.dtype() == DType::kBool ||
      (has_batch_dim && scores.rank() == 0)) {
    refuse(Status::kInvalidArgument, "output '", output.name,
           "': classification needs numbers, got ", serving::protocol_name(scores.dtype()));
  }
  const int64_t items = has_batch_dim ? scores.shape()[0] : 1;
  const int64_t classes = items > 0 ? scores.count() / items : 0;
  const auto kept = static_cast<int64_t>(std::min<uint64_t>(k, static_cast<uint64_t>(classes)));
  Tensor top = Tensor::allocate(DType::kString, has_batch_dim ? Shape{items, kept} : Shape{kept});
  std::string* to = top.mutable_values<std::string>().data();
  std::vector<double> values(static_cast<size_t>(classes));
  std::vector<int64_t> order(static_cast<size_t>(classes));
  for (int64_t item = 0; item < items; ++item) {
    load_numbers(scores.dtype(), scores.raw(), item * classes, 1, classes, values.data());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](int64_t a, int64_t b) {
      const double x = values[static_cast<size_t>(a)], y = values[static_cast<size_t>(b)];
      return x != y ? x > y : a < b;
    });
    for (int64_t i = 0; i < kept; ++i) {
      const auto index = static_cast<size_t>(order[static_cast<size_t>(i)]);
      char number[64];
      const bool is_float = is_floating(scores.dtype());
      if (is_float) {
        snprintf(number, sizeof(number), "%f", values[index]);
      } else {
        snprintf(number, sizeof(number), "%lld", static_cast<long long>(values[index]));
      }
      *to = text(number, ':', index);
      if (index < output.labels.size()) *to += ':' + output.labels[index];
      ++to;
    }
  }
  return top;
}

}  // namespace sardonyx::serve
