// What of the interface for execution providers the programs that run models ask as well.
#include "executor/ort_abi/devices.h"
#include "executor/ort_abi/env.h"
#include "executor/ort_abi/session_options.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/memory_info.h"

namespace sardonyx::ort_abi {
namespace {

// A device as memory infos name it: the handle of the one is that of the other.
const OrtMemoryInfo& info_of(const OrtMemoryDevice* device) {
  return *reinterpret_cast<const OrtMemoryInfo*>(device);
}
const OrtMemoryDevice* device_of(const OrtMemoryInfo* info) {
  return reinterpret_cast<const OrtMemoryDevice*>(info);
}

}  // namespace

// Of the environment that there is.
OrtStatus* EpFunctions::GetEnvConfigEntries(OrtKeyValuePairs** config_entries) {
  return guarded([&] {
    if (!config_entries) {
      refuse(ORT_INVALID_ARGUMENT,
             "GetEnvConfigEntries requires a valid (non-null) output parameter into which to "
             "store the new OrtKeyValuePairs instance");
    }
    *config_entries = nullptr;
    *config_entries = new OrtKeyValuePairs(env_config_entries());
  });
}

const OrtMemoryDevice* EpFunctions::MemoryInfo_GetMemoryDevice(const OrtMemoryInfo* memory_info) {
  return device_of(memory_info);
}
const OrtMemoryDevice* EpFunctions::Value_GetMemoryDevice(const OrtValue* value) {
  return value && value->datum.is_tensor() ? device_of(value->memory_info.get()) : nullptr;
}
bool EpFunctions::MemoryDevice_AreEqual(const OrtMemoryDevice* a, const OrtMemoryDevice* b) {
  if (!a || !b) return a == b;
  const OrtMemoryInfo &x = info_of(a), &y = info_of(b);
  return x.device_type == y.device_type && x.device_mem_type == y.device_mem_type &&
         x.vendor_id == y.vendor_id && x.id == y.id;
}
OrtMemoryInfoDeviceType EpFunctions::MemoryDevice_GetDeviceType(
    const OrtMemoryDevice* memory_device) {
  return memory_device ? info_of(memory_device).device_type : OrtMemoryInfoDeviceType_CPU;
}
OrtDeviceMemoryType EpFunctions::MemoryDevice_GetMemoryType(const OrtMemoryDevice* memory_device) {
  return memory_device ? info_of(memory_device).device_mem_type : OrtDeviceMemoryType_DEFAULT;
}
uint32_t EpFunctions::MemoryDevice_GetVendorId(const OrtMemoryDevice* memory_device) {
  return memory_device ? info_of(memory_device).vendor_id : 0;
}
uint32_t EpFunctions::MemoryDevice_GetDeviceId(const OrtMemoryDevice* memory_device) {
  return memory_device ? static_cast<uint32_t>(info_of(memory_device).id) : 0;
}

// Models whose weights are elsewhere are for providers that want them so; the CPU's reads its own.
OrtStatus* Functions::SessionOptionsSetWeightlessSourceModelBuffer(
    OrtSessionOptions* options, const void* source_model_data, size_t source_model_data_length) {
  return guarded([&] {
    OrtSessionOptions& changed = require(options, "options");
    if (!source_model_data)
      refuse(ORT_INVALID_ARGUMENT, "Invalid source model: data pointer is null");
    if (source_model_data_length == 0)
      refuse(ORT_INVALID_ARGUMENT, "Invalid source model: data size is 0");
    changed.weightless_source = {static_cast<const std::byte*>(source_model_data),
                                 source_model_data_length};
  });
}
OrtStatus* EpFunctions::SessionOptionsGetWeightlessSourceModelBuffer(
    const OrtSessionOptions* session_options, const void** source_model_data,
    size_t* source_model_data_length) {
  return guarded([&] {
    const void*& place = require_place(source_model_data, "source_model_data");
    const OrtSessionOptions& options = require(session_options, "session_options");
    require(source_model_data_length, "source_model_data_length") =
        options.weightless_source.size();
    place = options.weightless_source.data();
  });
}

}  // namespace sardonyx::ort_abi
