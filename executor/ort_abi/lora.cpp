#include "executor/ort_abi/lora.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "executor/ort_abi/run_options.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "onnx_io/ort_format/flat_buffer.h"

namespace sardonyx::ort_abi {
namespace {

constexpr size_t kMaxParameters = 1 << 20;

DType stored_type(int32_t number) {
  const bool is_known =
      number > 0 && number < kDTypeCount && static_cast<DType>(number) != DType::kString;
  if (!is_known)
    refuse(ORT_INVALID_ARGUMENT, "LoRA adapter: element type ", number, " is not supported");
  return static_cast<DType>(number);
}

std::pair<std::string, Tensor> read_parameter(const FlatTable& table) {
  const std::span<const std::byte> data = table.bytes(kParameterData);
  const DType dtype = stored_type(table.number<int32_t>(kParameterType));
  Shape shape = table.numbers<int64_t>(kParameterDims);
  for (const int64_t dim : shape) {
    if (dim < 0) refuse(ORT_INVALID_ARGUMENT, "LoRA adapter: a dim of ", dim);
  }
  if (bytes_for(dtype, element_count(shape)) != data.size()) {
    refuse(ORT_INVALID_ARGUMENT, "LoRA adapter: ", dtype, to_text(shape), " has ", data.size(),
           " bytes");
  }
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  if (!data.empty()) std::memcpy(tensor.raw(), data.data(), data.size());
  return {std::string(table.text(kParameterName)), std::move(tensor)};
}

OrtLoraAdapter read_adapter(const FlatTable& adapter) {
  const auto version = adapter.number<int32_t>(kFormatField);
  if (version != kLoraFormatVersion) {
    refuse(ORT_INVALID_ARGUMENT, "Unsupported LoRA adapter format version: ", version);
  }
  OrtLoraAdapter made{
      adapter.number<int32_t>(kAdapterField), adapter.number<int32_t>(kModelField), {}};
  size_t count = 0;
  adapter.each_table(kParametersField, [&](const FlatTable& parameter) {
    if (++count > kMaxParameters)
      refuse(ORT_INVALID_ARGUMENT, "LoRA adapter: more than ", kMaxParameters, " parameters");
    made.parameters.insert(read_parameter(parameter));
  });
  return made;
}

OrtStatus* create_adapter(OrtLoraAdapter** out, const auto& bytes) {
  return guarded([&] {
    OrtLoraAdapter*& place = require_place(out, "out");
    place = new OrtLoraAdapter(read_lora_adapter(bytes()));
  });
}

}  // namespace

OrtLoraAdapter read_lora_adapter(std::span<const std::byte> bytes) {
  if (!FlatBuffer::has_identifier(bytes, kLoraIdentifier))
    refuse(ORT_FAIL, "The buffer does not appear to be a valid lora parameter format");
  const FlatBuffer file(bytes, "LoRA adapter");
  try {
    return read_adapter(FlatTable::root_of(file));
  } catch (const Error& error) {
    refuse(ORT_INVALID_ARGUMENT, error.what());
  }
}

OrtStatus* Functions::CreateLoraAdapter(const char* adapter_file_path, OrtAllocator*,
                                        OrtLoraAdapter** out) {
  std::vector<char> content;
  return create_adapter(out, [&] {
    std::ifstream file(&require(adapter_file_path, "adapter_file_path"), std::ios::binary);
    if (!file) refuse(ORT_INVALID_ARGUMENT, "Load LoRA adapter ", adapter_file_path, " failed");
    content.assign(std::istreambuf_iterator<char>(file), {});
    return std::as_bytes(std::span(content));
  });
}

OrtStatus* Functions::CreateLoraAdapterFromArray(const void* bytes, size_t num_bytes, OrtAllocator*,
                                                 OrtLoraAdapter** out) {
  return create_adapter(out, [&] {
    require(static_cast<const char*>(bytes), "bytes");
    return std::span(static_cast<const std::byte*>(bytes), num_bytes);
  });
}

void Functions::ReleaseLoraAdapter(OrtLoraAdapter* input) {
  delete input;
}

// The adapter is the program's, and must be there when runs with these options are made.
OrtStatus* Functions::RunOptionsAddActiveLoraAdapter(OrtRunOptions* options,
                                                     const OrtLoraAdapter* adapter) {
  return guarded(
      [&] { require(options, "options").adapters.push_back(&require(adapter, "adapter")); });
}

}  // namespace sardonyx::ort_abi
