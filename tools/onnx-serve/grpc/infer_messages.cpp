#include "tools/onnx-serve/grpc/infer_messages.h"

#include <google/protobuf/map.h>

#include "executor/serving/datatype.h"
#include "executor/serving/json_text.h"
#include "ir/core/dtype_convert.h"
#include "tools/onnx-serve/api/shared_memory.h"

namespace sardonyx::serve {
namespace {

using inference::InferParameter;
using inference::InferTensorContents;
using inference::ModelInferRequest;
using serving::refuse;

Parameters parameters_of(const google::protobuf::Map<std::string, InferParameter>& message) {
  Parameters parameters;
  for (const auto& [name, value] : message) {
    switch (value.parameter_choice_case()) {
      case InferParameter::kBoolParam:
        parameters[name] = value.bool_param();
        break;
      case InferParameter::kInt64Param:
        parameters[name] = value.int64_param();
        break;
      case InferParameter::kStringParam:
        parameters[name] = value.string_param();
        break;
      case InferParameter::kDoubleParam:
        parameters[name] = value.double_param();
        break;
      case InferParameter::kUint64Param:
        parameters[name] = value.uint64_param();
        break;
      default:
        refuse(Status::kInvalidArgument, "parameter '", name, "' has no value");
    }
  }
  return parameters;
}

// Which field of the contents a type's elements are in; the others must be empty.
int filled_fields(const InferTensorContents& contents) {
  return (contents.bool_contents_size() > 0) + (contents.int_contents_size() > 0) +
         (contents.int64_contents_size() > 0) + (contents.uint_contents_size() > 0) +
         (contents.uint64_contents_size() > 0) + (contents.fp32_contents_size() > 0) +
         (contents.fp64_contents_size() > 0) + (contents.bytes_contents_size() > 0);
}

template <typename T, typename Field>
Tensor tensor_of(const Field& values, const Shape& shape, std::string_view what) {
  const int64_t count = serving::checked_count(shape, what);
  if (count != static_cast<int64_t>(values.size())) {
    refuse(Status::kInvalidArgument, what, ": expected ", count, " elements for shape ",
           to_text(shape), ", got ", values.size());
  }
  Tensor tensor = Tensor::allocate(dtype_of<T>(), shape);
  T* to = tensor.mutable_values<T>().data();
  for (const auto& value : values) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (!std::in_range<T>(value))
        refuse(Status::kInvalidArgument, what, ": ", value, " is out of range");
    }
    *to++ = static_cast<T>(value);
  }
  return tensor;
}

Tensor tensor_from_contents(DType dtype, const Shape& shape, const InferTensorContents& contents,
                            std::string_view what) {
  if (filled_fields(contents) > 1)
    refuse(Status::kInvalidArgument, what, ": contents of several types");
  switch (dtype) {
    case DType::kBool:
      return tensor_of<bool>(contents.bool_contents(), shape, what);
    case DType::kInt8:
      return tensor_of<int8_t>(contents.int_contents(), shape, what);
    case DType::kInt16:
      return tensor_of<int16_t>(contents.int_contents(), shape, what);
    case DType::kInt32:
      return tensor_of<int32_t>(contents.int_contents(), shape, what);
    case DType::kInt64:
      return tensor_of<int64_t>(contents.int64_contents(), shape, what);
    case DType::kUInt8:
      return tensor_of<uint8_t>(contents.uint_contents(), shape, what);
    case DType::kUInt16:
      return tensor_of<uint16_t>(contents.uint_contents(), shape, what);
    case DType::kUInt32:
      return tensor_of<uint32_t>(contents.uint_contents(), shape, what);
    case DType::kUInt64:
      return tensor_of<uint64_t>(contents.uint64_contents(), shape, what);
    case DType::kFloat:
      return tensor_of<float>(contents.fp32_contents(), shape, what);
    case DType::kDouble:
      return tensor_of<double>(contents.fp64_contents(), shape, what);
    case DType::kString:
      return tensor_of<std::string>(contents.bytes_contents(), shape, what);
    default:
      refuse(Status::kInvalidArgument, what, ": FP16 and BF16 need raw_input_contents");
  }
}

Tensor tensor_from_raw(DType dtype, const Shape& shape, std::string& raw, std::string_view what) {
  const auto keeper = std::make_shared<std::string>(std::move(raw));
  const auto buffer = Buffer::borrow(keeper->data(), keeper->size(), keeper);
  return serving::tensor_from_binary(dtype, shape, buffer, 0, keeper->size(), what);
}

}  // namespace

grpc::Status grpc_status(const ServingError& error) {
  const auto code = [&] {
    switch (error.status()) {
      case Status::kOk:
        return grpc::StatusCode::OK;
      case Status::kInvalidArgument:
        return grpc::StatusCode::INVALID_ARGUMENT;
      case Status::kNotFound:
        return grpc::StatusCode::NOT_FOUND;
      case Status::kUnavailable:
        return grpc::StatusCode::UNAVAILABLE;
      case Status::kResourceExhausted:
      case Status::kTooLarge:
        return grpc::StatusCode::RESOURCE_EXHAUSTED;
      case Status::kUnsupported:
        return grpc::StatusCode::UNIMPLEMENTED;
      case Status::kCancelled:
        return grpc::StatusCode::CANCELLED;
      case Status::kDeadlineExceeded:
        return grpc::StatusCode::DEADLINE_EXCEEDED;
      case Status::kInternal:
        break;
    }
    return grpc::StatusCode::INTERNAL;
  };
  return {code(), serving::utf8_text(error.message())};
}

GrpcInfer read_infer(ModelInferRequest& message, const serving::ServedModel& model,
                     const SharedMemory* memory) {
  GrpcInfer infer;
  infer.parsed.id = message.id();
  infer.parsed.parameters = parameters_of(message.parameters());
  for (const auto& output : message.outputs())
    infer.parsed.outputs.push_back({output.name(), parameters_of(output.parameters())});
  int raw = 0;
  for (const auto& input : message.inputs()) {
    model.input(input.name());  // it must have one of this name
    const std::string what = "input '" + input.name() + "' for model '" + model.name() + "'";
    const DType dtype = serving::required_dtype(input.datatype(), what);
    const Shape shape(input.shape().begin(), input.shape().end());
    const Parameters parameters = parameters_of(input.parameters());
    if (const auto region = string_parameter(parameters, "shared_memory_region")) {
      const auto bytes = count_parameter(parameters, "shared_memory_byte_size");
      expect_shared_memory(memory, bytes.has_value(), what);
      const uint64_t offset = count_parameter(parameters, "shared_memory_offset").value_or(0);
      infer.tensors.push_back(
          {input.name(), memory->read(*region, offset, *bytes, dtype, shape, what)});
    } else if (message.raw_input_contents_size() > 0) {
      if (filled_fields(input.contents()) > 0)
        refuse(Status::kInvalidArgument, what, ": contents beside raw_input_contents");
      if (raw == message.raw_input_contents_size())
        refuse(Status::kInvalidArgument, what, ": raw_input_contents has ", raw, " tensors only");
      infer.tensors.push_back(
          {input.name(),
           tensor_from_raw(dtype, shape, *message.mutable_raw_input_contents(raw++), what)});
    } else {
      infer.tensors.push_back(
          {input.name(), tensor_from_contents(dtype, shape, input.contents(), what)});
    }
  }
  if (raw != message.raw_input_contents_size()) {
    refuse(Status::kInvalidArgument, "raw_input_contents has ", message.raw_input_contents_size(),
           " tensors, but ", raw, " inputs are to be taken from there");
  }
  return infer;
}

void write_answer(const serving::ServedModel& model, const ParsedInfer& parsed,
                  const OutputChoice& choice, const std::vector<Datum>& outputs,
                  const SharedMemory* memory, inference::ModelInferResponse& answer) {
  answer.set_model_name(model.name());
  answer.set_model_version(std::to_string(model.version()));
  answer.set_id(parsed.id.value_or(""));
  for (size_t i = 0; i < choice.order.size(); ++i) {
    const serving::TensorConfig& config = model.config().outputs[choice.order[i]];
    const Parameters& wanted = choice.parameters[i];
    Tensor tensor = outputs[choice.order[i]].tensor();
    if (const auto k = count_parameter(wanted, "classification"); k && *k > 0)
      tensor = classification(tensor, *k, config, model.config().max_batch_size > 0);
    auto& output = *answer.add_outputs();
    output.set_name(config.name);
    output.set_datatype(std::string(serving::protocol_name(tensor.dtype())));
    for (const int64_t dim : tensor.shape())
      output.add_shape(dim);
    if (const auto region = string_parameter(wanted, "shared_memory_region")) {
      const auto bytes = count_parameter(wanted, "shared_memory_byte_size");
      expect_shared_memory(memory, bytes.has_value(), "output '" + config.name + "'");
      const uint64_t offset = count_parameter(wanted, "shared_memory_offset").value_or(0);
      memory->write(*region, offset, *bytes, tensor, "output '" + config.name + "'");
      auto& parameters = *output.mutable_parameters();
      parameters["shared_memory_region"].set_string_param(*region);
      parameters["shared_memory_offset"].set_int64_param(static_cast<int64_t>(offset));
      parameters["shared_memory_byte_size"].set_int64_param(
          static_cast<int64_t>(serving::binary_size(tensor)));
      continue;
    }
    std::string& raw = *answer.add_raw_output_contents();
    if (tensor.dtype() == DType::kString) {
      serving::append_binary_strings(tensor, raw);
    } else {
      raw.assign(static_cast<const char*>(tensor.raw()), tensor.bytes());
    }
  }
}

}  // namespace sardonyx::serve
