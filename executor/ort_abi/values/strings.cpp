// The elements of string tensors.
#include <cstring>
#include <string>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/value.h"

namespace sardonyx::ort_abi {
namespace {

std::string& string_at(const OrtValue* value, size_t index,
                       const char* complaint = "element index is out of bounds") {
  const std::span<std::string> strings = strings_of(value);
  if (index >= strings.size()) refuse(ORT_INVALID_ARGUMENT, complaint);
  return strings[index];
}

size_t total_length(std::span<const std::string> strings) {
  size_t length = 0;
  for (const std::string& string : strings)
    length += string.size();
  return length;
}

}  // namespace

std::span<std::string> strings_of(const OrtValue* value) {
  const Tensor& tensor = tensor_of(value);
  if (tensor.dtype() != DType::kString)
    refuse(ORT_FAIL, "Tensor type mismatch. The value is of type ", tensor.dtype(),
           ", expected a string tensor");
  return {static_cast<std::string*>(tensor.raw()), static_cast<size_t>(tensor.count())};
}

OrtStatus* Functions::FillStringTensor(OrtValue* value, const char* const* s, size_t s_len) {
  return guarded([&] {
    const std::span<std::string> strings = strings_of(value);
    if (s_len != strings.size())
      refuse(ORT_INVALID_ARGUMENT, "input array doesn't equal tensor size");
    if (s_len > 0) require(s, "s");
    for (size_t i = 0; i < s_len; ++i)
      strings[i] = &require(s[i], "s");
  });
}

OrtStatus* Functions::FillStringTensorElement(OrtValue* value, const char* s, size_t index) {
  return guarded([&] {
    std::string& string = string_at(value, index);
    string = &require(s, "s");
  });
}

OrtStatus* Functions::GetStringTensorDataLength(const OrtValue* value, size_t* len) {
  return guarded([&] { require(len, "len") = total_length(strings_of(value)); });
}

OrtStatus* Functions::GetStringTensorContent(const OrtValue* value, void* s, size_t s_len,
                                             size_t* offsets, size_t offsets_len) {
  return guarded([&] {
    const std::span<const std::string> strings = strings_of(value);
    if (offsets_len != strings.size())
      refuse(ORT_FAIL, "offsets buffer is not equal to tensor size");
    const size_t length = total_length(strings);
    if (s_len < length)
      refuse(ORT_FAIL, "output buffer is too small. Use GetStringTensorDataLength.");
    if (offsets_len > 0) require(offsets, "offsets");
    if (length > 0) require(static_cast<char*>(s), "s");
    size_t begin = 0;
    for (size_t i = 0; i < strings.size(); ++i) {
      offsets[i] = begin;
      if (strings[i].empty()) continue;
      std::memcpy(static_cast<char*>(s) + begin, strings[i].data(), strings[i].size());
      begin += strings[i].size();
    }
  });
}

OrtStatus* Functions::GetStringTensorElementLength(const OrtValue* value, size_t index,
                                                   size_t* out) {
  return guarded(
      [&] { require(out, "out") = string_at(value, index, "index is out of bounds").size(); });
}

OrtStatus* Functions::GetStringTensorElement(const OrtValue* value, size_t s_len, size_t index,
                                             void* s) {
  return guarded([&] {
    const std::string& string = string_at(value, index);
    if (s_len < string.size()) refuse(ORT_FAIL, "buffer size is too small for string element");
    if (string.empty()) return;
    std::memcpy(&require(static_cast<char*>(s), "s"), string.data(), string.size());
  });
}

OrtStatus* Functions::GetResizedStringTensorElementBuffer(OrtValue* value, size_t index,
                                                          size_t length_in_bytes, char** buffer) {
  return guarded([&] {
    char*& place = require_place(buffer, "buffer");
    std::string& string = string_at(value, index);
    string.resize(length_in_bytes);
    place = string.data();
  });
}

}  // namespace sardonyx::ort_abi
