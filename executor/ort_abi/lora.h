// LoRA adapters: values for some inputs of a model, from a file.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/core/tensor.h"

struct OrtLoraAdapter {
  int32_t adapter_version = 0, model_version = 0;  // as its maker counts them
  std::map<std::string, sardonyx::Tensor> parameters;
};

namespace sardonyx::ort_abi {

// Reads a file of ONNX Runtime's adapter format (a FlatBuffer with the identifier "TORT"), copying
// what it holds. Throws Failure where it is none.
OrtLoraAdapter read_lora_adapter(std::span<const std::byte> file);
// Such a file. Throws Failure for a parameter of strings.
std::vector<std::byte> write_lora_adapter(const OrtLoraAdapter& adapter);

// The fields of the format's tables, in their order.
enum AdapterField : size_t { kFormatField, kAdapterField, kModelField, kParametersField };
enum ParameterField : size_t { kParameterName, kParameterDims, kParameterType, kParameterData };

constexpr int32_t kLoraFormatVersion = 1;
constexpr const char* kLoraIdentifier = "TORT";

}  // namespace sardonyx::ort_abi
