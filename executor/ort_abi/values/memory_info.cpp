#include "executor/ort_abi/values/memory_info.h"

#include <cstring>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

constexpr uint32_t kNvidia = 0x10de, kMicrosoft = 0x1414, kAmd = 0x1002, kIntel = 0x8086,
                   kQualcomm = 0x5143;

// The names that programs may use, and what ONNX Runtime makes of them.
struct NamedMemory {
  const char *asked, *name;
  OrtMemoryInfoDeviceType device_type;
  uint32_t vendor_id;
  OrtDeviceMemoryType device_mem_type;
};
constexpr auto kGpu = OrtMemoryInfoDeviceType_GPU;
constexpr auto kOwnMemory = OrtDeviceMemoryType_DEFAULT;
constexpr auto kHostMemory = OrtDeviceMemoryType_HOST_ACCESSIBLE;
constexpr NamedMemory kNamedMemories[] = {
    {"Cpu", "Cpu", OrtMemoryInfoDeviceType_CPU, 0, kOwnMemory},
    {"Cuda", "Cuda", kGpu, kNvidia, kOwnMemory},
    {"CudaPinned", "CudaPinned", kGpu, kNvidia, kHostMemory},
    {"DML", "DML", kGpu, kMicrosoft, kOwnMemory},
    {"Hip", "Hip", kGpu, kAmd, kOwnMemory},
    {"HipPinned", "HipPinned", kGpu, kAmd, kHostMemory},
    {"OpenVINO_GPU", "OpenVINO_GPU", kGpu, kIntel, kOwnMemory},
    {"OpenVINO_RT_NPU", "OpenVINO_RT_NPU", OrtMemoryInfoDeviceType_NPU, kIntel, kOwnMemory},
    {"WebGPU_Buffer", "WebGPU_Buf", kGpu, 0, kOwnMemory},
    {"WebGPU_Buf", "WebGPU_Buf", kGpu, 0, kOwnMemory},
    {"WebNN_Tensor", "WebNN_Ten", kGpu, 0, kOwnMemory},
    {"WebNN_Ten", "WebNN_Ten", kGpu, 0, kOwnMemory},
    {"QnnHtpShared", "QnnHtpShared", OrtMemoryInfoDeviceType_CPU, kQualcomm, kHostMemory},
};

OrtMemoryInfo named_memory(const char* asked) {
  for (const NamedMemory& known : kNamedMemories) {
    if (std::strcmp(asked, known.asked) != 0) continue;
    OrtMemoryInfo info;
    info.name = known.name;
    info.device_type = known.device_type;
    info.vendor_id = known.vendor_id;
    info.device_mem_type = known.device_mem_type;
    return info;
  }
  refuse(ORT_INVALID_ARGUMENT, "Specified device is not supported. Try CreateMemoryInfo_V2.");
}

template <typename T>
OrtStatus* read_info(const OrtMemoryInfo* info, T* out, T OrtMemoryInfo::*member) {
  return guarded([&] {
    const OrtMemoryInfo& read = require(info, "memory info");
    require(out, "out") = read.*member;
  });
}

}  // namespace

const OrtMemoryInfo& cpu_memory_info() {
  static const OrtMemoryInfo* const info = new OrtMemoryInfo;
  return *info;
}

const OrtMemoryInfo& session_memory_info() {
  static const OrtMemoryInfo* const info = new OrtMemoryInfo{.type = OrtArenaAllocator};
  return *info;
}

OrtStatus* Functions::CreateMemoryInfo(const char* name, OrtAllocatorType type, int id,
                                       OrtMemType mem_type, OrtMemoryInfo** out) {
  return guarded([&] {
    OrtMemoryInfo*& place = require_place(out, "out");
    OrtMemoryInfo info = named_memory(&require(name, "name"));
    info.type = type;
    info.id = info.device_type == OrtMemoryInfoDeviceType_CPU && info.vendor_id == 0 ? 0 : id;
    info.mem_type = mem_type;
    place = new OrtMemoryInfo(info);
  });
}

OrtStatus* Functions::CreateMemoryInfo_V2(const char* name, OrtMemoryInfoDeviceType device_type,
                                          uint32_t vendor_id, int32_t device_id,
                                          OrtDeviceMemoryType mem_type, size_t alignment,
                                          OrtAllocatorType allocator_type, OrtMemoryInfo** out) {
  return guarded([&] {
    OrtMemoryInfo*& place = require_place(out, "out");
    OrtMemoryInfo info;
    info.own_name = std::make_shared<const std::string>(&require(name, "name"));
    info.name = info.own_name->c_str();
    info.type = allocator_type;
    info.id = device_id;
    // Memory that both sides see is told by this number as well.
    info.mem_type =
        mem_type == OrtDeviceMemoryType_HOST_ACCESSIBLE ? OrtMemTypeCPU : OrtMemTypeDefault;
    info.device_type = device_type;
    info.vendor_id = vendor_id;
    info.device_mem_type = mem_type;
    info.alignment = alignment;
    place = new OrtMemoryInfo(info);
  });
}

OrtStatus* Functions::CreateCpuMemoryInfo(OrtAllocatorType type, OrtMemType mem_type,
                                          OrtMemoryInfo** out) {
  return CreateMemoryInfo("Cpu", type, 0, mem_type, out);
}

void Functions::ReleaseMemoryInfo(OrtMemoryInfo* input) {
  delete input;
}

OrtStatus* Functions::CompareMemoryInfo(const OrtMemoryInfo* info1, const OrtMemoryInfo* info2,
                                        int* out) {
  return guarded([&] {
    const bool are_equal = require(info1, "info1") == require(info2, "info2");
    require(out, "out") = are_equal ? 0 : -1;
  });
}

OrtStatus* Functions::MemoryInfoGetName(const OrtMemoryInfo* ptr, const char** out) {
  return read_info(ptr, out, &OrtMemoryInfo::name);
}
OrtStatus* Functions::MemoryInfoGetId(const OrtMemoryInfo* ptr, int* out) {
  return read_info(ptr, out, &OrtMemoryInfo::id);
}
OrtStatus* Functions::MemoryInfoGetMemType(const OrtMemoryInfo* ptr, OrtMemType* out) {
  return read_info(ptr, out, &OrtMemoryInfo::mem_type);
}
OrtStatus* Functions::MemoryInfoGetType(const OrtMemoryInfo* ptr, OrtAllocatorType* out) {
  return read_info(ptr, out, &OrtMemoryInfo::type);
}

void Functions::MemoryInfoGetDeviceType(const OrtMemoryInfo* ptr, OrtMemoryInfoDeviceType* out) {
  if (out) *out = ptr ? ptr->device_type : OrtMemoryInfoDeviceType_CPU;
}
OrtDeviceMemoryType Functions::MemoryInfoGetDeviceMemType(const OrtMemoryInfo* ptr) {
  return ptr ? ptr->device_mem_type : OrtDeviceMemoryType_DEFAULT;
}
uint32_t Functions::MemoryInfoGetVendorId(const OrtMemoryInfo* ptr) {
  return ptr ? ptr->vendor_id : 0;
}

}  // namespace sardonyx::ort_abi

bool OrtMemoryInfo::operator==(const OrtMemoryInfo& other) const {
  return std::strcmp(name, other.name) == 0 && type == other.type && id == other.id &&
         mem_type == other.mem_type && device_type == other.device_type &&
         vendor_id == other.vendor_id && device_mem_type == other.device_mem_type &&
         alignment == other.alignment;
}
