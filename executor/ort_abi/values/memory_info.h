// Where memory is, as the interface describes it. All memory of this library is the CPU's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "executor/ort_abi/table/ort_c_api.h"

struct OrtMemoryInfo {
  const char* name = "Cpu";  // static, or in `own_name`
  std::shared_ptr<const std::string> own_name = {};
  OrtAllocatorType type = OrtDeviceAllocator;
  int id = 0;
  OrtMemType mem_type = OrtMemTypeDefault;
  OrtMemoryInfoDeviceType device_type = OrtMemoryInfoDeviceType_CPU;
  uint32_t vendor_id = 0;
  OrtDeviceMemoryType device_mem_type = OrtDeviceMemoryType_DEFAULT;
  size_t alignment = 0;

  bool operator==(const OrtMemoryInfo& other) const;
};

namespace sardonyx::ort_abi {

// Of the default allocator.
const OrtMemoryInfo& cpu_memory_info();
// Of what runs give and sessions allocate.
const OrtMemoryInfo& session_memory_info();

}  // namespace sardonyx::ort_abi
