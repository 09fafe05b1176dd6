// Execution providers by name. There is one, the CPU's.
#include <algorithm>
#include <cstring>

#include "executor/ort_abi/devices.h"
#include "executor/ort_abi/session_options.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

struct KnownProvider {
  const char *name, *full_name;
};
// Those that ONNX Runtime takes by name.
constexpr KnownProvider kProviders[] = {
    {"DML", "DmlExecutionProvider"},
    {"QNN", "QNNExecutionProvider"},
    {"OpenVINO", "OpenVINOExecutionProvider"},
    {"SNPE", "SNPEExecutionProvider"},
    {"XNNPACK", "XnnpackExecutionProvider"},
    {"WEBNN", "WebNNExecutionProvider"},
    {"WebGPU", "WebGpuExecutionProvider"},
    {"AZURE", "AzureExecutionProvider"},
    {"JS", "JsExecutionProvider"},
    {"VitisAI", "VitisAIExecutionProvider"},
    {"CoreML", "CoreMLExecutionProvider"},
    {"NvTensorRtRtx", "NvTensorRTRTXExecutionProvider"},
    {"MIGraphX", "MIGraphXExecutionProvider"},
};

bool is_cpu(const char* name) {
  return std::strcmp(name, "CPU") == 0 || std::strcmp(name, "CPUExecutionProvider") == 0;
}

void require_provider(const char* name) {
  if (is_cpu(name)) return;
  std::string known;
  for (const KnownProvider& provider : kProviders) {
    if (std::strcmp(name, provider.name) == 0 || std::strcmp(name, provider.full_name) == 0) {
      refuse(ORT_INVALID_ARGUMENT, name, " execution provider is not supported in this build. ");
    }
    known += text("'", provider.name, "'/'", provider.full_name, "', ");
  }
  refuse(ORT_INVALID_ARGUMENT, "Unknown provider name '", name,
         "'. Currently supported values are ", known, "and 'CPU'/'CPUExecutionProvider'.");
}

void check_provider_options(const char* const* keys, const char* const* values, size_t count) {
  constexpr size_t kLongestKey = 960;  // the config entry it becomes has a prefix
  if (count > 0) require(keys, "provider_options_keys");
  if (count > 0) require(values, "provider_options_values");
  for (size_t i = 0; i < count; ++i) {
    if (!keys[i] || !values[i] || *keys[i] == '\0' || *values[i] == '\0')
      refuse(ORT_INVALID_ARGUMENT, "Provider options key/value cannot be empty");
    const size_t length = std::strlen(keys[i]);
    if (length > kLongestKey) {
      refuse(ORT_INVALID_ARGUMENT, "Provider option key length is ", length, " but the limit is ",
             kLongestKey, ". Provider option key: ", keys[i]);
    }
  }
}

}  // namespace

OrtStatus* Functions::SessionOptionsAppendExecutionProvider(
    OrtSessionOptions* options, const char* provider_name, const char* const* provider_options_keys,
    const char* const* provider_options_values, size_t num_keys) {
  return guarded([&] {
    OrtSessionOptions& changed = require(options, "options");
    require(provider_name, "provider_name");
    check_provider_options(provider_options_keys, provider_options_values, num_keys);
    require_provider(provider_name);
    changed.appends_cpu = true;
  });
}

OrtStatus* Functions::SessionOptionsAppendExecutionProvider_V2(
    OrtSessionOptions* session_options, OrtEnv* env, const OrtEpDevice* const* ep_devices,
    size_t num_ep_devices, const char* const*, const char* const*, size_t) {
  return guarded([&] {
    require(session_options, "session_options");
    require(env, "env");
    if (num_ep_devices == 0 || !ep_devices)
      refuse(ORT_INVALID_ARGUMENT, "Must provide one or more OrtEpDevice instances.");
    for (size_t i = 0; i < num_ep_devices; ++i) {
      if (ep_devices[i] != &cpu_device())
        refuse(ORT_INVALID_ARGUMENT, "ep_devices: ", i, " is no device of this library");
    }
  });
}

OrtStatus* Functions::SessionOptionsSetEpSelectionPolicy(OrtSessionOptions* session_options,
                                                         OrtExecutionProviderDevicePolicy) {
  return guarded([&] { require(session_options, "session_options"); });
}

OrtStatus* Functions::SessionOptionsSetEpSelectionPolicyDelegate(OrtSessionOptions* session_options,
                                                                 EpSelectionDelegate delegate,
                                                                 void* delegate_state) {
  return guarded([&] {
    require(session_options, "session_options").selection = {delegate, delegate_state};
  });
}

// The CPU has none: what is set is passed over.
OrtStatus* Functions::SetEpDynamicOptions(OrtSession* sess, const char* const* keys,
                                          const char* const* values, size_t kv_len) {
  return guarded([&] {
    require(sess, "session");
    if (kv_len == 0) refuse(ORT_INVALID_ARGUMENT, "no inputs were passed");
    require(keys, "keys");
    require(values, "values");
  });
}

OrtStatus* Functions::GetExecutionProviderApi(const char* provider_name, uint32_t,
                                              const void** provider_api) {
  return guarded([&] {
    require_place(provider_api, "provider_api");
    require(provider_name, "provider_name");
    refuse(ORT_INVALID_ARGUMENT, "Specified provider is not supported.");
  });
}

OrtStatus* Functions::EnableOrtCustomOps(OrtSessionOptions* options) {
  return guarded([&] {
    require(options, "options");
    refuse(ORT_FAIL,
           "EnableOrtCustomOps: Custom operators in onnxruntime-extensions are not enabled");
  });
}

}  // namespace sardonyx::ort_abi
