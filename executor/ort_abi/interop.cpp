// Memory, semaphores and streams of other devices: the CPU has none, and says so.
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

// What works on a handle that nobody can have.
template <typename... Handles>
OrtStatus* refuse_without(const char* needed, const Handles*... handles) {
  return guarded([&] {
    const bool are_given = (... && (handles != nullptr));
    if (!are_given) refuse(ORT_INVALID_ARGUMENT, needed, " must be provided.");
    refuse(ORT_INVALID_ARGUMENT, "the handle is none of this library's, which makes none");
  });
}

OrtStatus* refuse_graphics(const char* member, bool are_given, const char* needed) {
  return guarded([&] {
    if (!are_given) refuse(ORT_INVALID_ARGUMENT, needed, " must be provided.");
    refuse(ORT_NOT_IMPLEMENTED, member, " is not implemented for this EP factory.");
  });
}

}  // namespace

// NULL: the device imports nothing.
OrtStatus* InteropFunctions::CreateExternalResourceImporterForDevice(
    const OrtEpDevice* ep_device, OrtExternalResourceImporter** out_importer) {
  return guarded([&] {
    if (out_importer) *out_importer = nullptr;
    if (!ep_device || !out_importer)
      refuse(ORT_INVALID_ARGUMENT, "ep_device and out_importer must be provided.");
  });
}
void InteropFunctions::ReleaseExternalResourceImporter(OrtExternalResourceImporter*) {}

OrtStatus* InteropFunctions::CanImportMemory(const OrtExternalResourceImporter* importer,
                                             OrtExternalMemoryHandleType, bool* out_supported) {
  return refuse_without("importer and out_supported", importer, out_supported);
}
OrtStatus* InteropFunctions::ImportMemory(OrtExternalResourceImporter* importer,
                                          const OrtExternalMemoryDescriptor* desc,
                                          OrtExternalMemoryHandle** out_handle) {
  if (out_handle) *out_handle = nullptr;
  return refuse_without("importer, desc, and out_handle", importer, desc, out_handle);
}
void InteropFunctions::ReleaseExternalMemoryHandle(OrtExternalMemoryHandle*) {}

OrtStatus* InteropFunctions::CreateTensorFromMemory(OrtExternalResourceImporter* importer,
                                                    const OrtExternalMemoryHandle* mem_handle,
                                                    const OrtExternalTensorDescriptor* tensor_desc,
                                                    OrtValue** out_tensor) {
  if (out_tensor) *out_tensor = nullptr;
  return refuse_without("importer, mem_handle, tensor_desc, and out_tensor", importer, mem_handle,
                        tensor_desc, out_tensor);
}

OrtStatus* InteropFunctions::CanImportSemaphore(const OrtExternalResourceImporter* importer,
                                                OrtExternalSemaphoreType, bool* out_supported) {
  return refuse_without("importer and out_supported", importer, out_supported);
}
OrtStatus* InteropFunctions::ImportSemaphore(OrtExternalResourceImporter* importer,
                                             const OrtExternalSemaphoreDescriptor* desc,
                                             OrtExternalSemaphoreHandle** out_handle) {
  if (out_handle) *out_handle = nullptr;
  return refuse_without("importer, desc, and out_handle", importer, desc, out_handle);
}
void InteropFunctions::ReleaseExternalSemaphoreHandle(OrtExternalSemaphoreHandle*) {}

OrtStatus* InteropFunctions::WaitSemaphore(OrtExternalResourceImporter* importer,
                                           OrtExternalSemaphoreHandle* semaphore_handle,
                                           OrtSyncStream* stream, uint64_t) {
  return refuse_without("importer, semaphore_handle, and stream", importer, semaphore_handle,
                        stream);
}
OrtStatus* InteropFunctions::SignalSemaphore(OrtExternalResourceImporter* importer,
                                             OrtExternalSemaphoreHandle* semaphore_handle,
                                             OrtSyncStream* stream, uint64_t) {
  return refuse_without("importer, semaphore_handle, and stream", importer, semaphore_handle,
                        stream);
}

OrtStatus* InteropFunctions::InitGraphicsInteropForEpDevice(
    const OrtEpDevice* ep_device, const OrtGraphicsInteropConfig* config) {
  return refuse_graphics("InitGraphicsInterop", ep_device && config, "ep_device and config");
}
OrtStatus* InteropFunctions::DeinitGraphicsInteropForEpDevice(const OrtEpDevice* ep_device) {
  return refuse_graphics("DeinitGraphicsInterop", ep_device != nullptr, "ep_device");
}

OrtStatus* Functions::CreateSyncStreamForEpDevice(const OrtEpDevice* ep_device,
                                                  const OrtKeyValuePairs*, OrtSyncStream** stream) {
  return guarded([&] {
    if (stream) *stream = nullptr;
    if (!ep_device || !stream)
      refuse(ORT_INVALID_ARGUMENT, "ep_device and stream must be provided.");
    refuse(ORT_INVALID_ARGUMENT, "ep_device does not use DEFAULT memory of a non-CPU device.");
  });
}
void* Functions::SyncStream_GetHandle(OrtSyncStream*) {
  return nullptr;
}
void Functions::ReleaseSyncStream(OrtSyncStream*) {}
void Functions::RunOptionsSetSyncStream(OrtRunOptions*, OrtSyncStream*) {}

// The CPU captures no graphs, so that there is none to release.
OrtStatus* Functions::SessionReleaseCapturedGraph(OrtSession* session, int) {
  return guarded([&] { require(session, "session"); });
}

}  // namespace sardonyx::ort_abi
