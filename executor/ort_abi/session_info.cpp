// What a session's model takes and gives.
#include <algorithm>

#include "executor/ort_abi/devices.h"
#include "executor/ort_abi/session.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"
#include "executor/ort_abi/values/type_info.h"

namespace sardonyx::ort_abi {
namespace {

using Ports = std::span<const Port>;

Ports inputs_of(const OrtSession& session) {
  return Ports(session.inputs).first(session.required);
}
Ports outputs_of(const OrtSession& session) {
  return session.outputs;
}
// Initializers that are inputs as well: they have a value where a run gives none.
Ports overridable_of(const OrtSession& session) {
  return Ports(session.inputs).subspan(session.required);
}

OrtStatus* count_ports(const OrtSession* session, size_t* out, Ports (*ports)(const OrtSession&)) {
  return guarded([&] { require(out, "out") = ports(require(session, "session")).size(); });
}

OrtStatus* describe_port(const OrtSession* session, size_t index, OrtTypeInfo** out,
                         Ports (*ports)(const OrtSession&)) {
  return guarded([&] {
    OrtTypeInfo*& place = require_place(out, "type_info");
    const Ports all = ports(require(session, "session"));
    if (index >= all.size()) refuse(ORT_FAIL, "out of index");
    place = new OrtTypeInfo(type_info_of(all[index].type));
  });
}

OrtStatus* name_port(const OrtSession* session, size_t index, OrtAllocator* allocator, char** out,
                     Ports (*ports)(const OrtSession&)) {
  return guarded([&] {
    char*& place = require_place(out, "value");
    const Ports all = ports(require(session, "session"));
    if (index >= all.size()) refuse(ORT_FAIL, "index out of range");
    place = copied_string(allocator, all[index].name.c_str());
  });
}

// Gives `value` for each input or output.
template <typename T>
OrtStatus* fill_ports(const OrtSession* session, const T** list, size_t size, const T& value,
                      Ports (*ports)(const OrtSession&), const char* what) {
  return guarded([&] {
    const size_t count = ports(require(session, "session")).size();
    if (size < count) {
      refuse(ORT_INVALID_ARGUMENT, "Number of ", what, " ", count, " exceeds the provided size of ",
             size);
    }
    if (count > 0) require(list, what);
    std::fill_n(list, count, &value);
  });
}

}  // namespace

OrtStatus* Functions::SessionGetInputCount(const OrtSession* session, size_t* out) {
  return count_ports(session, out, inputs_of);
}
OrtStatus* Functions::SessionGetOutputCount(const OrtSession* session, size_t* out) {
  return count_ports(session, out, outputs_of);
}
OrtStatus* Functions::SessionGetOverridableInitializerCount(const OrtSession* session,
                                                            size_t* out) {
  return count_ports(session, out, overridable_of);
}

OrtStatus* Functions::SessionGetInputTypeInfo(const OrtSession* session, size_t index,
                                              OrtTypeInfo** type_info) {
  return describe_port(session, index, type_info, inputs_of);
}
OrtStatus* Functions::SessionGetOutputTypeInfo(const OrtSession* session, size_t index,
                                               OrtTypeInfo** type_info) {
  return describe_port(session, index, type_info, outputs_of);
}
OrtStatus* Functions::SessionGetOverridableInitializerTypeInfo(const OrtSession* session,
                                                               size_t index,
                                                               OrtTypeInfo** type_info) {
  return describe_port(session, index, type_info, overridable_of);
}

OrtStatus* Functions::SessionGetInputName(const OrtSession* session, size_t index,
                                          OrtAllocator* allocator, char** value) {
  return name_port(session, index, allocator, value, inputs_of);
}
OrtStatus* Functions::SessionGetOutputName(const OrtSession* session, size_t index,
                                           OrtAllocator* allocator, char** value) {
  return name_port(session, index, allocator, value, outputs_of);
}
OrtStatus* Functions::SessionGetOverridableInitializerName(const OrtSession* session, size_t index,
                                                           OrtAllocator* allocator, char** value) {
  return name_port(session, index, allocator, value, overridable_of);
}

OrtStatus* Functions::SessionGetMemoryInfoForInputs(const OrtSession* session,
                                                    const OrtMemoryInfo** inputs_memory_info,
                                                    size_t num_inputs) {
  return fill_ports(session, inputs_memory_info, num_inputs, session_memory_info(), inputs_of,
                    "inputs");
}
OrtStatus* Functions::SessionGetMemoryInfoForOutputs(const OrtSession* session,
                                                     const OrtMemoryInfo** outputs_memory_info,
                                                     size_t num_outputs) {
  return fill_ports(session, outputs_memory_info, num_outputs, session_memory_info(), outputs_of,
                    "outputs");
}
OrtStatus* Functions::SessionGetEpDeviceForInputs(const OrtSession* session,
                                                  const OrtEpDevice** inputs_ep_devices,
                                                  size_t num_inputs) {
  return fill_ports(session, inputs_ep_devices, num_inputs, cpu_device(), inputs_of, "inputs");
}
OrtStatus* Functions::SessionGetEpDeviceForOutputs(const OrtSession* session,
                                                   const OrtEpDevice** outputs_ep_devices,
                                                   size_t num_outputs) {
  return fill_ports(session, outputs_ep_devices, num_outputs, cpu_device(), outputs_of, "outputs");
}

}  // namespace sardonyx::ort_abi
