// What programs ask of devices, providers and models that were compiled for them: there is the CPU.
#include <cstring>

#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

const OrtEpDevice* cpu_device() {
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  (void)lib.api->GetEpDevices(lib.env, &devices, &count);
  for (size_t i = 0; i < count; ++i) {
    if (std::strcmp(lib.api->EpDevice_EpName(devices[i]), "CPUExecutionProvider") == 0)
      return devices[i];
  }
  return nullptr;
}

std::string compiled_model() {
  ModelParts parts{{port("x", tensor_type(1, {"2"}))},
                   {port("y", tensor_type(1, {"2"}))},
                   {{"Relu", {"x"}, {"y"}}}};
  parts.metadata = {
      Message().bytes(1, "other").bytes(2, "text").text,
      Message().bytes(1, "ep_compatibility_info.CPUExecutionProvider").bytes(2, "v1;x").text};
  return model(parts);
}

void write_compatibility(const OrtEpDevice* cpu) {
  auto status = OrtCompiledModelCompatibility_EP_UNSUPPORTED;
  const OrtEpDevice* two[] = {cpu, nullptr};
  if (ANSWER(GetModelCompatibilityForEpDevices(&cpu, 1, "info", &status))) line("status", status);
  ANSWER(GetModelCompatibilityForEpDevices(two, 2, "info", &status));
  ANSWER(GetModelCompatibilityForEpDevices(&cpu, 0, "info", &status));
  ANSWER(GetModelCompatibilityForEpDevices(nullptr, 1, "info", &status));
  ANSWER(GetModelCompatibilityForEpDevices(&cpu, 1, nullptr, &status));
  ANSWER(GetModelCompatibilityForEpDevices(&cpu, 1, "info", nullptr));
  const std::string bytes = compiled_model();
  for (const char* ep : {"CPUExecutionProvider", "other"}) {
    char* info = nullptr;
    if (ANSWER(GetCompatibilityInfoFromModelBytes(bytes.data(), bytes.size(), ep, lib.allocator,
                                                  &info)))
      line("info", text_of(info));
  }
  char* info = nullptr;
  ANSWER(GetCompatibilityInfoFromModelBytes("abcdefg", 7, "other", lib.allocator, &info));
  ANSWER(GetCompatibilityInfoFromModelBytes(bytes.data(), 0, "other", lib.allocator, &info));
  ANSWER(GetCompatibilityInfoFromModelBytes(bytes.data(), 9, "", lib.allocator, &info));
  ANSWER(GetCompatibilityInfoFromModel("no such file", "other", lib.allocator, &info));
  ANSWER(GetCompatibilityInfoFromModel(nullptr, "other", lib.allocator, &info));
}

void write_details(const OrtEpDevice* cpu) {
  const OrtHardwareDevice* hardware = lib.api->EpDevice_Device(cpu);
  OrtDeviceEpIncompatibilityDetails* details = nullptr;
  if (ANSWER(GetHardwareDeviceEpIncompatibilityDetails(lib.env, "CPUExecutionProvider", hardware,
                                                       &details))) {
    uint32_t reasons = 9;
    int32_t code = 9;
    const char* notes = "";
    ANSWER(DeviceEpIncompatibilityDetails_GetReasonsBitmask(details, &reasons));
    ANSWER(DeviceEpIncompatibilityDetails_GetErrorCode(details, &code));
    ANSWER(DeviceEpIncompatibilityDetails_GetNotes(details, &notes));
    line("details", std::to_string(reasons) + " " + std::to_string(code) + (notes ? notes : ""));
    ANSWER(DeviceEpIncompatibilityDetails_GetNotes(details, nullptr));
    lib.api->ReleaseDeviceEpIncompatibilityDetails(details);
  }
  ANSWER(DeviceEpIncompatibilityDetails_GetNotes(nullptr, nullptr));
  ANSWER(GetHardwareDeviceEpIncompatibilityDetails(lib.env, "other", hardware, &details));
  ANSWER(GetHardwareDeviceEpIncompatibilityDetails(lib.env, "", hardware, &details));
  ANSWER(GetHardwareDeviceEpIncompatibilityDetails(lib.env, "other", nullptr, &details));
  ANSWER(GetHardwareDeviceEpIncompatibilityDetails(lib.env, "other", hardware, nullptr));
}

void write_assignment() {
  const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
  size_t count = 0;
  ANSWER(Session_GetEpGraphAssignmentInfo(load("relu", relu()), &subgraphs, &count));
  OrtSessionOptions* with = options();
  ANSWER(AddSessionConfigEntry(with, "session.record_ep_graph_assignment_info", "1"));
  if (!ANSWER(Session_GetEpGraphAssignmentInfo(load("relu", relu(), with), &subgraphs, &count)))
    return;
  line("subgraphs", count);
  const char *provider = nullptr, *name = nullptr, *domain = nullptr, *op = nullptr;
  const OrtEpAssignedNode* const* nodes = nullptr;
  ANSWER(EpAssignedSubgraph_GetEpName(subgraphs[0], &provider));
  ANSWER(EpAssignedSubgraph_GetNodes(subgraphs[0], &nodes, &count));
  ANSWER(EpAssignedNode_GetName(nodes[0], &name));
  ANSWER(EpAssignedNode_GetDomain(nodes[0], &domain));
  ANSWER(EpAssignedNode_GetOperatorType(nodes[0], &op));
  line("assigned", std::string(provider) + " " + name + " '" + domain + "' " + op);
  const std::string type = tensor_type(1, {"3", "2"});
  const std::string chain = model({{port("x", type)},
                                   {port("y", type)},
                                   {{"Add", {"x", "x"}, {"a"}, {}, "first"},
                                    {"Mul", {"a", "x"}, {"b"}, {}, "second"},
                                    {"Add", {"b", "x"}, {"y"}, {}, "third"}}});
  ANSWER(Session_GetEpGraphAssignmentInfo(load("chain", chain, with), &subgraphs, &count));
  line("subgraphs of a chain", count);
}

void write_interop(const OrtEpDevice* cpu) {
  OrtSyncStream* stream = nullptr;
  ANSWER(CreateSyncStreamForEpDevice(cpu, nullptr, &stream));
  ANSWER(CreateSyncStreamForEpDevice(nullptr, nullptr, &stream));
  lib.api->ReleaseSyncStream(nullptr);
  ANSWER(SessionReleaseCapturedGraph(load("relu", relu()), 0));
  const OrtInteropApi& interop = *lib.api->GetInteropApi();
  OrtExternalResourceImporter* importer = nullptr;
  answer("importer", interop.CreateExternalResourceImporterForDevice(cpu, &importer));
  line("importer", importer ? "made" : "NULL");
  answer("no device", interop.CreateExternalResourceImporterForDevice(nullptr, &importer));
  bool is_possible = false;
  answer("no importer",
         interop.CanImportMemory(nullptr, OrtExternalMemoryHandleType(0), &is_possible));
  answer("no semaphore", interop.WaitSemaphore(nullptr, nullptr, nullptr, 0));
  answer("graphics", interop.InitGraphicsInteropForEpDevice(cpu, nullptr));
  answer("end of graphics", interop.DeinitGraphicsInteropForEpDevice(cpu));
}

// Functions that are asked for by name.
template <typename Function>
Function* experimental(const char* name) {
  return reinterpret_cast<Function*>(lib.api->GetExperimentalFunction(name));
}

void write_experimental() {
  for (const char* name : {"", "none", "OrtApi_ExperimentalApiTest_SinceV29"})
    line(name, lib.api->GetExperimentalFunction(name) ? "there" : "NULL");
  line("no name", lib.api->GetExperimentalFunction(nullptr) ? "there" : "NULL");
  int64_t number = 0;
  answer("test",
         experimental<OrtStatus*(int64_t*)>("OrtApi_ExperimentalApiTest_SinceV28")(&number));
  line("number", number);
  auto* set = experimental<OrtStatus*(OrtSessionOptions*, OrtReadNamedBufferFunc, void*)>(
      "OrtApi_SessionOptions_SetEpContextDataReadFunc_SinceV28");
  auto* get = experimental<OrtStatus*(const OrtSessionOptions*, OrtEpContextConfig**)>(
      "OrtEpApi_SessionOptions_GetEpContextConfig_SinceV28");
  auto* read = experimental<OrtStatus*(const OrtEpContextConfig*, OrtReadNamedBufferFunc*, void**)>(
      "OrtEpApi_EpContextConfig_GetEpContextDataReadFunc_SinceV28");
  auto* release =
      experimental<void(OrtEpContextConfig*)>("OrtEpApi_ReleaseEpContextConfig_SinceV28");
  const OrtReadNamedBufferFunc nothing = [](void*, const char*, OrtAllocator*, void**,
                                            size_t*) -> OrtStatus* { return nullptr; };
  OrtSessionOptions* with = options();
  answer("set", set(with, nothing, &number));
  answer("set on nothing", set(nullptr, nothing, &number));
  OrtEpContextConfig* config = nullptr;
  answer("get", get(with, &config));
  OrtReadNamedBufferFunc function = nullptr;
  void* state = nullptr;
  answer("read", read(config, &function, &state));
  line("is kept", function == nothing && state == &number);
  answer("read no state", read(config, &function, nullptr));
  release(config);
  answer("clear", set(with, nullptr, &number));
  answer("get", get(with, &config));
  answer("read", read(config, &function, &state));
  line("is cleared", !function && !state);
  release(config);
}

void write_ep_api() {
  const OrtEpApi& ep = *lib.api->GetEpApi();
  answer("entries", ep.GetEnvConfigEntries(nullptr));
  OrtKeyValuePairs* entries = nullptr;
  if (answer("entries", ep.GetEnvConfigEntries(&entries))) lib.api->ReleaseKeyValuePairs(entries);
  const OrtMemoryDevice* device = ep.MemoryInfo_GetMemoryDevice(lib.cpu);
  line("type", ep.MemoryDevice_GetDeviceType(device));
  line("memory", ep.MemoryDevice_GetMemoryType(device));
  line("equal",
       ep.MemoryDevice_AreEqual(device, ep.Value_GetMemoryDevice(tensor<float>({1}, {1}))));
  OrtSessionOptions* with = options();
  ANSWER(SessionOptionsSetWeightlessSourceModelBuffer(with, "abc", 3));
  ANSWER(SessionOptionsSetWeightlessSourceModelBuffer(with, nullptr, 3));
  ANSWER(SessionOptionsSetWeightlessSourceModelBuffer(with, "abc", 0));
  const void* data = nullptr;
  size_t size = 0;
  answer("source", ep.SessionOptionsGetWeightlessSourceModelBuffer(with, &data, &size));
  line("size", size);
}

}  // namespace

void device_chapter() {
  const OrtEpDevice* cpu = cpu_device();
  write_compatibility(cpu);
  write_details(cpu);
  write_assignment();
  write_interop(cpu);
  write_experimental();
  write_ep_api();
}

}  // namespace behaviour
