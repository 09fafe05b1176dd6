#include "executor/ort_abi/devices.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/table/version.h"

namespace sardonyx::ort_abi {
namespace {

struct CpuVendor {
  const char *cpuid, *name;
  uint32_t pci_id;
};
constexpr CpuVendor kCpuVendors[] = {{"GenuineIntel", "Intel", 0x8086},
                                     {"AuthenticAMD", "AMD", 0x1022},
                                     {"HygonGenuine", "Hygon", 0x1d94}};

OrtHardwareDevice* made_cpu() {
  auto* cpu = new OrtHardwareDevice;
#if defined(__x86_64__)
  unsigned highest = 0, name[4] = {};
  if (__get_cpuid(0, &highest, &name[0], &name[2], &name[1])) {
    for (const CpuVendor& vendor : kCpuVendors) {
      if (std::strncmp(reinterpret_cast<const char*>(name), vendor.cpuid, 12) != 0) continue;
      cpu->vendor = vendor.name;
      cpu->vendor_id = vendor.pci_id;
    }
  }
#endif
  return cpu;
}

OrtEpDevice* made_device() {
  auto* device = new OrtEpDevice;
  device->metadata.add("version", kVersion);
  device->device = made_cpu();
  return device;
}

}  // namespace

const OrtEpDevice& cpu_device() {
  static const OrtEpDevice* const device = made_device();
  return *device;
}

OrtStatus* Functions::GetEpDevices(const OrtEnv* env, const OrtEpDevice* const** ep_devices,
                                   size_t* num_ep_devices) {
  return guarded([&] {
    require(env, "env");
    static const OrtEpDevice* const devices[] = {&cpu_device()};
    require(ep_devices, "ep_devices");
    require(num_ep_devices, "num_ep_devices") = 1;
    *ep_devices = devices;
  });
}

OrtStatus* Functions::GetNumHardwareDevices(const OrtEnv* env, size_t* num_devices) {
  return guarded([&] {
    require(env, "env");
    require(num_devices, "num_devices") = 1;
  });
}

OrtStatus* Functions::GetHardwareDevices(const OrtEnv* env, const OrtHardwareDevice** devices,
                                         size_t num_devices) {
  return guarded([&] {
    require(env, "env");
    if (num_devices < 1) refuse(ORT_INVALID_ARGUMENT, "num_devices: expected 1, got 0");
    require(devices, "devices") = cpu_device().device;
  });
}

OrtHardwareDeviceType Functions::HardwareDevice_Type(const OrtHardwareDevice* device) {
  return device ? device->type : OrtHardwareDeviceType_CPU;
}
uint32_t Functions::HardwareDevice_VendorId(const OrtHardwareDevice* device) {
  return device ? device->vendor_id : 0;
}
const char* Functions::HardwareDevice_Vendor(const OrtHardwareDevice* device) {
  return device ? device->vendor : nullptr;
}
uint32_t Functions::HardwareDevice_DeviceId(const OrtHardwareDevice* device) {
  return device ? device->device_id : 0;
}
const OrtKeyValuePairs* Functions::HardwareDevice_Metadata(const OrtHardwareDevice* device) {
  return device ? &device->metadata : nullptr;
}

const char* Functions::EpDevice_EpName(const OrtEpDevice* ep_device) {
  return ep_device ? ep_device->ep_name : nullptr;
}
const char* Functions::EpDevice_EpVendor(const OrtEpDevice* ep_device) {
  return ep_device ? ep_device->ep_vendor : nullptr;
}
const OrtKeyValuePairs* Functions::EpDevice_EpMetadata(const OrtEpDevice* ep_device) {
  return ep_device ? &ep_device->metadata : nullptr;
}
const OrtKeyValuePairs* Functions::EpDevice_EpOptions(const OrtEpDevice* ep_device) {
  return ep_device ? &ep_device->options : nullptr;
}
const OrtHardwareDevice* Functions::EpDevice_Device(const OrtEpDevice* ep_device) {
  return ep_device ? ep_device->device : nullptr;
}
// It has no memory of its own beside the default allocator's.
const OrtMemoryInfo* Functions::EpDevice_MemoryInfo(const OrtEpDevice*, OrtDeviceMemoryType) {
  return nullptr;
}

}  // namespace sardonyx::ort_abi
