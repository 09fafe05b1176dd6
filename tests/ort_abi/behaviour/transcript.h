// What the calls of a library answer, as lines of text that are the same for libraries that behave
// alike.
#pragma once

#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "executor/ort_abi/table/ort_c_api.h"
#include "tests/ort_abi/behaviour/onnx_bytes.h"

namespace behaviour {

// The library that is asked.
struct Library {
  const OrtApiBase* base = nullptr;
  const OrtApi* api = nullptr;
  OrtEnv* env = nullptr;
  OrtAllocator* allocator = nullptr;
  OrtMemoryInfo* cpu = nullptr;
  std::string folder;  // for files
};
extern Library lib;

// A line of the transcript. Line ends in the text are shown.
inline void line(const std::string& label, const std::string& text) {
  std::string shown;
  for (const char c : text)
    shown += c == '\n' ? std::string("\\n") : std::string(1, c);
  std::printf("%s -> %s\n", label.c_str(), shown.c_str());
  std::fflush(stdout);
}
template <typename T>
requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void line(const std::string& label,
                                                                 T number) {
  line(label, std::to_string(number));
}

// Code and message; true where there is none.
inline bool answer(const std::string& label, OrtStatus* status) {
  if (!status) {
    line(label, "OK");
    return true;
  }
  line(label, "[" + std::to_string(lib.api->GetErrorCode(status)) + "] " +
                  lib.api->GetErrorMessage(status));
  lib.api->ReleaseStatus(status);
  return false;
}
#define ANSWER(call) answer(#call, lib.api->call)

inline std::string text_of(char* allocated) {
  const std::string text = allocated ? allocated : "NULL";
  if (allocated) (void)lib.allocator->Free(lib.allocator, allocated);
  return text;
}

// Objects that a chapter makes stay until its process ends.
inline OrtSessionOptions* options() {
  OrtSessionOptions* made = nullptr;
  if (OrtStatus* status = lib.api->CreateSessionOptions(&made)) answer("options", status);
  return made;
}
inline OrtRunOptions* run_options() {
  OrtRunOptions* made = nullptr;
  if (OrtStatus* status = lib.api->CreateRunOptions(&made)) answer("run options", status);
  return made;
}
// NULL, with a line, where it is not loaded.
inline OrtSession* load(const std::string& label, const std::string& bytes,
                        const OrtSessionOptions* with = nullptr) {
  OrtSession* made = nullptr;
  OrtStatus* status = lib.api->CreateSessionFromArray(lib.env, bytes.data(), bytes.size(),
                                                      with ? with : options(), &made);
  if (status) answer("load " + label, status);
  return made;
}
// A line in any case.
inline void loads(const std::string& label, const std::string& bytes,
                  const OrtSessionOptions* with = nullptr) {
  OrtSession* made = load(label, bytes, with);
  if (!made) return;
  line("load " + label, "OK");
  lib.api->ReleaseSession(made);
}

template <typename T>
constexpr ONNXTensorElementDataType element_of() {
  if constexpr (std::is_same_v<T, float>) return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
  if constexpr (std::is_same_v<T, int64_t>) return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
  if constexpr (std::is_same_v<T, int32_t>) return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
  if constexpr (std::is_same_v<T, uint8_t>) return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}
template <typename T>
OrtValue* tensor(const std::vector<int64_t>& shape, const std::vector<T>& elements) {
  OrtValue* made = nullptr;
  OrtStatus* status = lib.api->CreateTensorAsOrtValue(lib.allocator, shape.data(), shape.size(),
                                                      element_of<T>(), &made);
  if (status) answer("tensor", status);
  void* data = nullptr;
  if (made && !lib.api->GetTensorMutableData(made, &data) && !elements.empty())
    std::memcpy(data, elements.data(), elements.size() * sizeof(T));
  return made;
}
inline OrtValue* strings(const std::vector<int64_t>& shape, const std::vector<const char*>& all) {
  OrtValue* made = nullptr;
  OrtStatus* status = lib.api->CreateTensorAsOrtValue(lib.allocator, shape.data(), shape.size(),
                                                      ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &made);
  if (!status) status = lib.api->FillStringTensor(made, all.data(), all.size());
  if (status) answer("strings", status);
  return made;
}

// Type, shape and elements of a value, or what it consists of.
std::string described(const OrtValue* value);
std::string described(const OrtTypeInfo* info);

using Names = std::vector<const char*>;
using Values = std::vector<OrtValue*>;
// A line for the run and one for each result.
void run(const std::string& label, OrtSession* session, const Names& inputs, const Values& values,
         const Names& outputs, Values results = {}, const OrtRunOptions* with = nullptr);

// The chapters, each of which has a process of its own.
void library_chapter();
void option_chapter();
void provider_chapter();
void load_chapter();
void info_chapter();
void run_chapter();
void run_failure_chapter();
void binding_chapter();
void value_chapter();
void numbered_type_chapter();
void string_chapter();
void container_chapter();
void sparse_chapter();
void memory_chapter();
void env_chapter();
void file_chapter();
void weights_chapter();
void custom_op_chapter();
void schema_chapter();
void called_op_chapter();
void device_chapter();
void inspection_chapter();
void built_model_chapter();
void compilation_chapter();
void null_chapter();

}  // namespace behaviour
