// LoRA adapters: values for some inputs of a model, from a file.
#pragma once

#include <map>
#include <span>
#include <string>

#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/core/tensor.h"

struct OrtLoraAdapter {
  std::map<std::string, sardonyx::Tensor> parameters;
};

namespace sardonyx::ort_abi {

// Reads a file of ONNX Runtime's adapter format (a FlatBuffer with the identifier "TORT"), copying
// what it holds. Throws Failure where it is none.
OrtLoraAdapter read_lora_adapter(std::span<const std::byte> file);

}  // namespace sardonyx::ort_abi
