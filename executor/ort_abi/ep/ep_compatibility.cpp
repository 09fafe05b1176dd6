// Does a model suit an execution provider, or a device one? Models that were compiled
// for a provider carry what it needs to know; the CPU's takes any and has no say.
#include <cstring>

#include "executor/ort_abi/devices.h"
#include "executor/ort_abi/load/model_fields.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"

// What keeps a device from a provider: nothing ever keeps the CPU from its own.
struct OrtDeviceEpIncompatibilityDetails {
  uint32_t reasons = 0;
  int32_t error_code = 0;
  const char* notes = nullptr;
};

namespace sardonyx::ort_abi {
namespace {

[[noreturn]] void refuse_arguments(const char* member) {
  refuse(ORT_INVALID_ARGUMENT, "Invalid argument provided to ", member, ".");
}

// The text that the provider put into the model, NULL where it put none.
char* compatibility_info(const ModelSource& source, const char* ep_type, OrtAllocator* allocator) {
  const std::optional<std::string> info =
      metadata_prop(source, text("ep_compatibility_info.", ep_type));
  return info ? copied_string(allocator, info->c_str()) : nullptr;
}

OrtStatus* read_detail(const OrtDeviceEpIncompatibilityDetails* details, auto* out,
                       const char* what, auto OrtDeviceEpIncompatibilityDetails::*field) {
  return guarded([&] {
    if (!details) refuse(ORT_INVALID_ARGUMENT, "details cannot be null");
    if (!out) refuse(ORT_INVALID_ARGUMENT, what, " output parameter cannot be null");
    *out = details->*field;
  });
}

}  // namespace

OrtStatus* Functions::GetModelCompatibilityForEpDevices(const OrtEpDevice* const* ep_devices,
                                                        size_t num_ep_devices,
                                                        const char* compatibility_info,
                                                        OrtCompiledModelCompatibility* out_status) {
  return guarded([&] {
    if (!ep_devices || num_ep_devices == 0 || !compatibility_info || !out_status)
      refuse_arguments("GetModelCompatibilityForEpDevices");
    for (size_t i = 0; i < num_ep_devices; ++i) {
      if (!ep_devices[i]) refuse(ORT_INVALID_ARGUMENT, "ep_devices contains a null entry.");
    }
    *out_status = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
  });
}

OrtStatus* Functions::GetCompatibilityInfoFromModel(const char* model_path, const char* ep_type,
                                                    OrtAllocator* allocator,
                                                    char** compatibility_info_out) {
  return guarded([&] {
    if (!model_path || !ep_type || *ep_type == '\0' || !allocator || !compatibility_info_out)
      refuse_arguments("GetCompatibilityInfoFromModel");
    *compatibility_info_out = nullptr;
    std::error_code ignored;
    if (!std::filesystem::exists(model_path, ignored))
      refuse(ORT_NO_SUCHFILE, "Load model ", model_path, " failed. File doesn't exist");
    if (!std::filesystem::is_regular_file(model_path, ignored))
      refuse(ORT_INVALID_GRAPH, "Protobuf parsing failed. ", model_path, " is no file.");
    *compatibility_info_out = compatibility_info({.path = model_path}, ep_type, allocator);
  });
}

OrtStatus* Functions::GetCompatibilityInfoFromModelBytes(const void* model_data,
                                                         size_t model_data_length,
                                                         const char* ep_type,
                                                         OrtAllocator* allocator,
                                                         char** compatibility_info_out) {
  return guarded([&] {
    const bool is_given = model_data && model_data_length > 0;
    if (!is_given || !ep_type || *ep_type == '\0' || !allocator || !compatibility_info_out)
      refuse_arguments("GetCompatibilityInfoFromModelBytes");
    *compatibility_info_out = nullptr;
    const auto* first = static_cast<const std::byte*>(model_data);
    *compatibility_info_out =
        compatibility_info({.bytes = {first, model_data_length}}, ep_type, allocator);
  });
}

OrtStatus* Functions::GetHardwareDeviceEpIncompatibilityDetails(
    const OrtEnv* env, const char* ep_name, const OrtHardwareDevice* hw,
    OrtDeviceEpIncompatibilityDetails** details) {
  return guarded([&] {
    if (!details) refuse(ORT_INVALID_ARGUMENT, "details output parameter cannot be null");
    *details = nullptr;
    if (!env) refuse(ORT_INVALID_ARGUMENT, "env is required and cannot be null");
    if (!ep_name || *ep_name == '\0')
      refuse(ORT_INVALID_ARGUMENT, "ep_name is required and cannot be null or empty");
    if (!hw) refuse(ORT_INVALID_ARGUMENT, "hw is required and cannot be null");
    if (std::strcmp(ep_name, cpu_device().ep_name) != 0) {
      refuse(ORT_INVALID_ARGUMENT, "No valid factory found for execution provider '", ep_name,
             "'.");
    }
    *details = new OrtDeviceEpIncompatibilityDetails;
  });
}

OrtStatus* Functions::DeviceEpIncompatibilityDetails_GetReasonsBitmask(
    const OrtDeviceEpIncompatibilityDetails* details, uint32_t* reasons_bitmask) {
  return read_detail(details, reasons_bitmask, "reasons_bitmask",
                     &OrtDeviceEpIncompatibilityDetails::reasons);
}
OrtStatus* Functions::DeviceEpIncompatibilityDetails_GetNotes(
    const OrtDeviceEpIncompatibilityDetails* details, const char** notes) {
  return read_detail(details, notes, "notes", &OrtDeviceEpIncompatibilityDetails::notes);
}
OrtStatus* Functions::DeviceEpIncompatibilityDetails_GetErrorCode(
    const OrtDeviceEpIncompatibilityDetails* details, int32_t* error_code) {
  return read_detail(details, error_code, "error_code",
                     &OrtDeviceEpIncompatibilityDetails::error_code);
}
void Functions::ReleaseDeviceEpIncompatibilityDetails(OrtDeviceEpIncompatibilityDetails* input) {
  delete input;
}

}  // namespace sardonyx::ort_abi
