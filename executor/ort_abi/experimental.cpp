// Functions that ONNX Runtime gives by name while they are not part of a table: the name has the
// version that they came with. Compiled contexts of execution providers, whose bytes a program may
// keep itself, are never met here; what a program sets is kept, and told.
#include <string_view>
#include <utility>

#include "executor/ort_abi/model_editor/compile_options.h"
#include "executor/ort_abi/session_options.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

// What of the session options regards compiled contexts.
struct OrtEpContextConfig {
  sardonyx::ort_abi::NamedBufferRead read;
};

namespace sardonyx::ort_abi {
namespace {

// The number that shows a program that it has found the function it meant.
OrtStatus* test_of_interface(int64_t* out) {
  return guarded([&] {
    if (!out) refuse(ORT_INVALID_ARGUMENT, "out is null");
    *out = 12345;
  });
}

// Without a function there is no state either.
OrtStatus* set_read_function(OrtSessionOptions* options, OrtReadNamedBufferFunc read, void* state) {
  return guarded([&] {
    if (!options) refuse(ORT_INVALID_ARGUMENT, "'options' parameter must not be NULL");
    options->read_ep_context = {read, read ? state : nullptr};
  });
}

OrtStatus* set_write_function(OrtModelCompilationOptions* options, OrtWriteNamedBufferFunc write,
                              void* state) {
  return guarded([&] {
    if (!options) refuse(ORT_INVALID_ARGUMENT, "OrtModelCompilationOptions is NULL");
    options->write_ep_context = {write, write ? state : nullptr};
  });
}

OrtStatus* get_config(const OrtSessionOptions* options, OrtEpContextConfig** config) {
  return guarded([&] {
    if (config) *config = nullptr;
    if (!options) refuse(ORT_INVALID_ARGUMENT, "OrtSessionOptions is NULL");
    if (!config) refuse(ORT_INVALID_ARGUMENT, "Output OrtEpContextConfig is NULL");
    *config = new OrtEpContextConfig{options->read_ep_context};
  });
}

void release_config(OrtEpContextConfig* config) {
  delete config;
}

void check_places(const OrtEpContextConfig* config, const void* function, const void* state,
                  const char* what) {
  if (!config) refuse(ORT_INVALID_ARGUMENT, "OrtEpContextConfig is NULL");
  if (!function) refuse(ORT_INVALID_ARGUMENT, "Output ", what, " is NULL");
  if (!state) refuse(ORT_INVALID_ARGUMENT, "Output state is NULL");
}

OrtStatus* get_read_function(const OrtEpContextConfig* config, OrtReadNamedBufferFunc* read,
                             void** state) {
  return guarded([&] {
    check_places(config, read, state, "read_func");
    *read = config->read.function;
    *state = config->read.state;
  });
}

// That is set on what a model is compiled with, and no provider's contexts are compiled here.
OrtStatus* get_write_function(const OrtEpContextConfig* config, OrtWriteNamedBufferFunc* write,
                              void** state) {
  return guarded([&] {
    check_places(config, write, state, "write_func");
    *write = nullptr;
    *state = nullptr;
  });
}

struct NamedFunction {
  std::string_view name;
  OrtExperimentalFnPtr function;
};

template <typename Function>
NamedFunction named(std::string_view name, Function* function) {
  return {name, reinterpret_cast<OrtExperimentalFnPtr>(function)};
}

}  // namespace

OrtExperimentalFnPtr Functions::GetExperimentalFunction(const char* name) {
  static const NamedFunction kFunctions[] = {
      named("OrtApi_ExperimentalApiTest_SinceV28", test_of_interface),
      named("OrtApi_SessionOptions_SetEpContextDataReadFunc_SinceV28", set_read_function),
      named("OrtCompileApi_ModelCompilationOptions_SetEpContextDataWriteFunc_SinceV28",
            set_write_function),
      named("OrtEpApi_SessionOptions_GetEpContextConfig_SinceV28", get_config),
      named("OrtEpApi_ReleaseEpContextConfig_SinceV28", release_config),
      named("OrtEpApi_EpContextConfig_GetEpContextDataReadFunc_SinceV28", get_read_function),
      named("OrtEpApi_EpContextConfig_GetEpContextDataWriteFunc_SinceV28", get_write_function)};
  if (!name) return nullptr;
  for (const NamedFunction& known : kFunctions) {
    if (known.name == name) return known.function;
  }
  return nullptr;
}

}  // namespace sardonyx::ort_abi
