// Providers of other devices, which this library has not: each function for one says so.
#include <dlfcn.h>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

// What ONNX Runtime says where it was built without the provider.
OrtStatus* not_enabled(const char* provider) {
  return guarded(
      [&] { refuse(ORT_FAIL, provider, " execution provider is not enabled in this build."); });
}

// A place for a result is NULL from then on.
template <typename T>
OrtStatus* not_enabled(const char* provider, T** place) {
  if (place) *place = nullptr;
  return not_enabled(provider);
}

// What it says where the provider's own library is not there.
OrtStatus* not_loaded(const OrtSessionOptions* options, const char* function) {
  return guarded([&] {
    require(options, "options");
    refuse(ORT_FAIL, function, ": Failed to load shared library");
  });
}

OrtStatus* no_gpu() {
  return guarded(
      [] { refuse(ORT_FAIL, "CUDA execution provider is either not enabled or not available."); });
}

}  // namespace

#define ORT_NOT_LOADED(name, Options)                                                            \
  OrtStatus* Functions::SessionOptionsAppendExecutionProvider_##name(OrtSessionOptions* options, \
                                                                     Options) {                  \
    return not_loaded(options, "SessionOptionsAppendExecutionProvider_" #name);                  \
  }
ORT_NOT_LOADED(CUDA, const OrtCUDAProviderOptions*)
ORT_NOT_LOADED(CUDA_V2, const OrtCUDAProviderOptionsV2*)
ORT_NOT_LOADED(TensorRT, const OrtTensorRTProviderOptions*)
ORT_NOT_LOADED(TensorRT_V2, const OrtTensorRTProviderOptionsV2*)
ORT_NOT_LOADED(OpenVINO, const OrtOpenVINOProviderOptions*)
ORT_NOT_LOADED(MIGraphX, const OrtMIGraphXProviderOptions*)
#undef ORT_NOT_LOADED

OrtStatus* Functions::SessionOptionsAppendExecutionProvider_OpenVINO_V2(OrtSessionOptions* options,
                                                                        const char* const*,
                                                                        const char* const*,
                                                                        size_t) {
  return not_loaded(options, "SessionOptionsAppendExecutionProvider_OpenVINO_V2");
}
OrtStatus* Functions::SessionOptionsAppendExecutionProvider_VitisAI(OrtSessionOptions* options,
                                                                    const char* const*,
                                                                    const char* const*, size_t) {
  return not_loaded(options, "SessionOptionsAppendExecutionProvider_VitisAI");
}

// ---- options of providers: there is none to make, so that none is ever changed or read

#define ORT_NOT_ENABLED(Name, Options, provider)                                          \
  OrtStatus* Functions::Create##Name##ProviderOptions(Options** out) {                    \
    return not_enabled(provider, out);                                                    \
  }                                                                                       \
  OrtStatus* Functions::Update##Name##ProviderOptions(Options*, const char* const*,       \
                                                      const char* const*, size_t) {       \
    return not_enabled(provider);                                                         \
  }                                                                                       \
  OrtStatus* Functions::Get##Name##ProviderOptionsAsString(const Options*, OrtAllocator*, \
                                                           char** ptr) {                  \
    return not_enabled(provider, ptr);                                                    \
  }                                                                                       \
  void Functions::Release##Name##ProviderOptions(Options*) {}
ORT_NOT_ENABLED(CUDA, OrtCUDAProviderOptionsV2, "CUDA")
ORT_NOT_ENABLED(TensorRT, OrtTensorRTProviderOptionsV2, "TensorRT")
ORT_NOT_ENABLED(CANN, OrtCANNProviderOptions, "CANN")
ORT_NOT_ENABLED(Dnnl, OrtDnnlProviderOptions, "oneDNN")
ORT_NOT_ENABLED(ROCM, OrtROCMProviderOptions, "ROCM")
#undef ORT_NOT_ENABLED

OrtStatus* Functions::SessionOptionsAppendExecutionProvider_ROCM(OrtSessionOptions*,
                                                                 const OrtROCMProviderOptions*) {
  return not_enabled("ROCM");
}
OrtStatus* Functions::SessionOptionsAppendExecutionProvider_CANN(OrtSessionOptions*,
                                                                 const OrtCANNProviderOptions*) {
  return not_enabled("CANN");
}
OrtStatus* Functions::SessionOptionsAppendExecutionProvider_Dnnl(OrtSessionOptions*,
                                                                 const OrtDnnlProviderOptions*) {
  return not_enabled("oneDNN");
}
OrtStatus* Functions::UpdateCUDAProviderOptionsWithValue(OrtCUDAProviderOptionsV2*, const char*,
                                                         void*) {
  return not_enabled("CUDA");
}
OrtStatus* Functions::GetCUDAProviderOptionsByName(const OrtCUDAProviderOptionsV2*, const char*,
                                                   void** ptr) {
  return not_enabled("CUDA", ptr);
}
OrtStatus* Functions::UpdateTensorRTProviderOptionsWithValue(OrtTensorRTProviderOptionsV2*,
                                                             const char*, void*) {
  return not_enabled("TensorRT");
}
OrtStatus* Functions::GetTensorRTProviderOptionsByName(const OrtTensorRTProviderOptionsV2*,
                                                       const char*, void** ptr) {
  return not_enabled("TensorRT", ptr);
}

OrtStatus* Functions::SetCurrentGpuDeviceId(int) {
  return no_gpu();
}
OrtStatus* Functions::GetCurrentGpuDeviceId(int*) {
  return no_gpu();
}

// ---- libraries of providers

OrtStatus* Functions::RegisterExecutionProviderLibrary(OrtEnv* env, const char* registration_name,
                                                       const char* path) {
  return guarded([&] {
    require(env, "env");
    require(registration_name, "registration_name");
    void* library = dlopen(&require(path, "path"), RTLD_LAZY | RTLD_LOCAL);
    if (!library) refuse(ORT_FAIL, "Failed to load library ", path, " with error: ", dlerror());
    dlclose(library);
    refuse(ORT_NOT_IMPLEMENTED, "RegisterExecutionProviderLibrary: ", path,
           ": this library runs models on the CPU itself, and takes no further providers");
  });
}

OrtStatus* Functions::UnregisterExecutionProviderLibrary(OrtEnv* env,
                                                         const char* registration_name) {
  return guarded([&] {
    require(env, "env");
    refuse(ORT_FAIL,
           "Execution provider library: ", &require(registration_name, "registration_name"),
           " was not registered.");
  });
}

}  // namespace sardonyx::ort_abi
