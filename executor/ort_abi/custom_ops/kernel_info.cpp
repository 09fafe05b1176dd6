#include "executor/ort_abi/custom_ops/kernel_info.h"

#include <algorithm>
#include <cstring>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"
#include "executor/ort_abi/values/type_info.h"

OrtKernelInfo::OrtKernelInfo(sardonyx::CustomCall of, const OrtLogger& log,
                             const OrtKeyValuePairs& entries)
    : call(std::move(of)), logger(&log), config(&entries) {
  for (const auto& [name, value] : call.attrs)
    attributes.push_back({name, value});
  for (const auto& constant : call.constants)
    constants.emplace_back(constant ? sardonyx::Datum(*constant) : sardonyx::Datum());
}

namespace sardonyx::ort_abi {

const OrtOpAttr* find_attribute(const OrtKernelInfo& info, std::string_view name) {
  const auto at = std::ranges::find(info.attributes, name, &OrtOpAttr::name);
  return at == info.attributes.end() ? nullptr : &*at;
}

namespace {

template <typename T>
const T& attribute_of(const OrtKernelInfo* info, const char* name) {
  const OrtOpAttr* attribute = find_attribute(require(info, "info"), &require(name, "name"));
  if (!attribute) refuse(ORT_FAIL, "No attribute with name:'", name, "'is defined.");
  const T* value = std::get_if<T>(&attribute->value);
  if (!value) {
    refuse(ORT_FAIL, "Attribute name and type don't match: ", name, " is of kind ",
           kind_name(attribute->value));
  }
  return *value;
}

template <typename T>
OrtStatus* read_attribute(const OrtKernelInfo* info, const char* name, T* out) {
  return guarded([&] {
    const T& value = attribute_of<T>(info, name);
    require(out, "out") = value;
  });
}

// Without a place the size is told; `size` counts elements.
template <typename T>
void copy_to_caller(const T* from, size_t count, T* out, size_t* size,
                    const std::string& complaint = "Result buffer is not large enough") {
  const size_t given = std::exchange(require(size, "size"), count);
  if (!out) return;
  if (given < count) refuse(ORT_INVALID_ARGUMENT, complaint);
  std::copy_n(from, count, out);
}

void copy_text(const std::string& text, char* out, size_t* size) {
  copy_to_caller(text.c_str(), text.size() + 1, out, size);
}
// What of the info it is goes into the error.
void copy_info_text(const std::string& from, char* out, size_t* size, const char* what) {
  copy_to_caller(from.c_str(), from.size() + 1, out, size,
                 text("Output buffer is not large enough for ::OrtKernelInfo ", what));
}

template <typename T>
OrtStatus* read_list(const OrtKernelInfo* info, const char* name, T* out, size_t* size) {
  return guarded([&] {
    const auto& values = attribute_of<std::vector<T>>(info, name);
    copy_to_caller(values.data(), values.size(), out, size);
  });
}

const std::string& named(const std::vector<std::string>& names, size_t index, const char* what) {
  if (index < names.size()) return names[index];
  refuse(ORT_INVALID_ARGUMENT, "::OrtKernelInfo ", what, " index is out of bounds");
}

OrtStatus* describe_type(const std::vector<Type>& types, size_t index, OrtTypeInfo*& place,
                         const char* what) {
  return guarded([&] {
    if (index >= types.size())
      refuse(ORT_INVALID_ARGUMENT, "::OrtKernelInfo ", what, " index is out of bounds");
    place = new OrtTypeInfo(type_info_of(types[index]));
  });
}

}  // namespace

OrtStatus* Functions::KernelInfoGetAttribute_float(const OrtKernelInfo* info, const char* name,
                                                   float* out) {
  return read_attribute(info, name, out);
}
OrtStatus* Functions::KernelInfoGetAttribute_int64(const OrtKernelInfo* info, const char* name,
                                                   int64_t* out) {
  return read_attribute(info, name, out);
}
OrtStatus* Functions::KernelInfoGetAttribute_string(const OrtKernelInfo* info, const char* name,
                                                    char* out, size_t* size) {
  return guarded([&] { copy_text(attribute_of<std::string>(info, name), out, size); });
}
OrtStatus* Functions::KernelInfoGetAttributeArray_float(const OrtKernelInfo* info, const char* name,
                                                        float* out, size_t* size) {
  return read_list(info, name, out, size);
}
OrtStatus* Functions::KernelInfoGetAttributeArray_int64(const OrtKernelInfo* info, const char* name,
                                                        int64_t* out, size_t* size) {
  return read_list(info, name, out, size);
}

OrtStatus* Functions::KernelInfoGetAttributeArray_string(const OrtKernelInfo* info,
                                                         const char* name, OrtAllocator* allocator,
                                                         char*** out, size_t* size) {
  return guarded([&] {
    char**& place = require_place(out, "out");
    require(size, "size") = 0;
    const auto& values = attribute_of<std::vector<std::string>>(info, name);
    if (values.empty()) return;
    auto** strings = static_cast<char**>(
        allocate(require(allocator, "allocator"), values.size() * sizeof(char*)));
    for (size_t i = 0; i < values.size(); ++i)
      strings[i] = copied_string(allocator, values[i].c_str());
    place = strings;
    *size = values.size();
  });
}

OrtStatus* Functions::KernelInfoGetAttribute_tensor(const OrtKernelInfo* info, const char* name,
                                                    OrtAllocator* allocator, OrtValue** out) {
  return guarded([&] {
    OrtValue*& place = require_place(out, "out");
    require(allocator, "allocator");
    place = new OrtValue(Datum(attribute_of<Tensor>(info, name).clone()));
  });
}

OrtStatus* Functions::CopyKernelInfo(const OrtKernelInfo* info, OrtKernelInfo** info_copy) {
  return guarded([&] {
    OrtKernelInfo*& place = require_place(info_copy, "info_copy");
    place = new OrtKernelInfo(require(info, "info"));
  });
}
void Functions::ReleaseKernelInfo(OrtKernelInfo* input) {
  delete input;
}

OrtStatus* Functions::KernelInfo_GetInputCount(const OrtKernelInfo* info, size_t* out) {
  return guarded([&] { require(out, "out") = require(info, "info").call.inputs.size(); });
}
OrtStatus* Functions::KernelInfo_GetOutputCount(const OrtKernelInfo* info, size_t* out) {
  return guarded([&] { require(out, "out") = require(info, "info").call.output_names.size(); });
}
OrtStatus* Functions::KernelInfo_GetInputName(const OrtKernelInfo* info, size_t index, char* out,
                                              size_t* size) {
  return guarded([&] {
    copy_info_text(named(require(info, "info").call.input_names, index, "input"), out, size,
                   "input name");
  });
}
OrtStatus* Functions::KernelInfo_GetOutputName(const OrtKernelInfo* info, size_t index, char* out,
                                               size_t* size) {
  return guarded([&] {
    copy_info_text(named(require(info, "info").call.output_names, index, "output"), out, size,
                   "output name");
  });
}
OrtStatus* Functions::KernelInfo_GetInputTypeInfo(const OrtKernelInfo* info, size_t index,
                                                  OrtTypeInfo** type_info) {
  OrtStatus* refused = guarded([&] {
    require_place(type_info, "type_info");
    require(info, "info");
  });
  return refused ? refused : describe_type(info->call.inputs, index, *type_info, "input");
}
OrtStatus* Functions::KernelInfo_GetOutputTypeInfo(const OrtKernelInfo* info, size_t index,
                                                   OrtTypeInfo** type_info) {
  OrtStatus* refused = guarded([&] {
    require_place(type_info, "type_info");
    require(info, "info");
  });
  return refused ? refused : describe_type(info->output_types, index, *type_info, "output");
}

OrtStatus* Functions::KernelInfo_GetNodeName(const OrtKernelInfo* info, char* out, size_t* size) {
  return guarded([&] { copy_info_text(require(info, "info").call.node, out, size, "node name"); });
}
OrtStatus* Functions::KernelInfo_GetOperatorDomain(const OrtKernelInfo* info, char* out,
                                                   size_t* size) {
  return guarded([&] { copy_text(require(info, "info").call.domain, out, size); });
}
OrtStatus* Functions::KernelInfo_GetOperatorType(const OrtKernelInfo* info, char* out,
                                                 size_t* size) {
  return guarded([&] { copy_text(require(info, "info").call.op, out, size); });
}
OrtStatus* Functions::KernelInfo_GetOperatorSinceVersion(const OrtKernelInfo* info,
                                                         int* since_version) {
  return guarded([&] {
    require(since_version, "since_version") = static_cast<int>(require(info, "info").call.version);
  });
}

OrtStatus* Functions::KernelInfo_GetConfigEntries(const OrtKernelInfo* info,
                                                  OrtKeyValuePairs** out) {
  return guarded([&] {
    OrtKeyValuePairs*& place = require_place(out, "out");
    place = new OrtKeyValuePairs(require(info, "info").config->entries);
  });
}
OrtStatus* Functions::KernelInfo_GetLogger(const OrtKernelInfo* info, const OrtLogger** logger) {
  return guarded([&] {
    const OrtLogger*& place = require_place(logger, "logger");
    place = require(info, "info").logger;
  });
}

OrtStatus* Functions::KernelInfoGetConstantInput_tensor(const OrtKernelInfo* info, size_t index,
                                                        int* is_constant, const OrtValue** out) {
  return guarded([&] {
    const OrtValue*& place = require_place(out, "out");
    const OrtKernelInfo& node = require(info, "info");
    const bool is_known = index < node.constants.size() && node.constants[index].datum.defined();
    require(is_constant, "is_constant") = is_known ? 1 : 0;
    if (is_known) place = &node.constants[index];
  });
}

OrtStatus* Functions::KernelInfoGetAllocator(const OrtKernelInfo* info, OrtMemType,
                                             OrtAllocator** out) {
  return guarded([&] {
    OrtAllocator*& place = require_place(out, "out");
    require(info, "info");
    place = new_allocator(session_memory_info());
  });
}

}  // namespace sardonyx::ort_abi
