// The one device there is: the CPU that the library runs on.
#pragma once

#include "executor/ort_abi/key_values.h"
#include "executor/ort_abi/table/ort_c_api.h"

struct OrtHardwareDevice {
  OrtHardwareDeviceType type = OrtHardwareDeviceType_CPU;
  uint32_t vendor_id = 0, device_id = 0;
  const char* vendor = "";
  OrtKeyValuePairs metadata;
};

struct OrtEpDevice {
  const char* ep_name = "CPUExecutionProvider";
  const char* ep_vendor = "Microsoft";  // whose provider of that name programs look for
  OrtKeyValuePairs metadata, options;
  const OrtHardwareDevice* device = nullptr;
};

namespace sardonyx::ort_abi {

const OrtEpDevice& cpu_device();

}  // namespace sardonyx::ort_abi
