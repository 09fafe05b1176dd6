// LoRA adapters as files: a FlatBuffer that is written from its beginning to its end.
#include "executor/ort_abi/lora.h"
#include "executor/ort_abi/status.h"
#include "onnx_io/ort_format/flat_writer.h"

namespace sardonyx::ort_abi {
namespace {

// Readers map files and use elements where they are.
constexpr size_t kDataAlignment = 8;

void put_parameter(FlatWriter& file, size_t from, const std::string& name, const Tensor& tensor) {
  if (tensor.dtype() == DType::kString)
    refuse(ORT_INVALID_ARGUMENT, "LoRA adapter: parameter ", name, " is of strings");
  const auto at = FlatFields()
                      .offset(kParameterName)
                      .offset(kParameterDims)
                      .number(kParameterType, static_cast<int32_t>(tensor.dtype()))
                      .offset(kParameterData)
                      .write(file, from);
  file.text(at[kParameterName], name);
  file.numbers(at[kParameterDims], tensor.shape());
  file.vector(at[kParameterData], tensor.raw(), tensor.bytes(), 1, kDataAlignment);
}

}  // namespace

std::vector<std::byte> write_lora_adapter(const OrtLoraAdapter& adapter) {
  FlatWriter file(kLoraIdentifier);
  const auto at = FlatFields()
                      .number(kFormatField, kLoraFormatVersion)
                      .number(kAdapterField, adapter.adapter_version)
                      .number(kModelField, adapter.model_version)
                      .offset(kParametersField)
                      .write(file, FlatWriter::root());
  file.each(at[kParametersField], adapter.parameters, [&](size_t place, const auto& parameter) {
    put_parameter(file, place, parameter.first, parameter.second);
  });
  file.align(kDataAlignment);
  return file.take();
}

}  // namespace sardonyx::ort_abi
