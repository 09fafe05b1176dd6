// The tables of functions, made from their lists; a member that is marked as absent says so when it
// is called.
#include <cstdio>

#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/table/not_implemented.h"
#include "executor/ort_abi/table/version.h"

namespace sardonyx::ort_abi {

OrtStatus* not_implemented(const char* member) noexcept {
  return guarded([&] {
    refuse(ORT_NOT_IMPLEMENTED, member, " is not implemented in this library (sardonyx ",
           SARDONYX_VERSION, " in place of ONNX Runtime ", kVersion, ")");
  });
}

namespace {

#define ORT_SUB_MEMBER(index, since, Return, name, parameters) \
  constexpr const char* kNameOf_##name = #name;
namespace ep_names {
#include "executor/ort_abi/table/ep_members.inc"
}
#undef ORT_SUB_MEMBER

// The answer of a member that is missing, which knows its name.
#define ORT_NOT_HERE(Table, names, index, name) \
  table.name = &NotImplemented<Table, index, names::kNameOf_##name, decltype(Table::name)>::call;

constexpr OrtApi made_api() {
  OrtApi table{};
#define ORT_MEMBER(index, since, Return, name, parameters) table.name = &Functions::name;
#include "executor/ort_abi/table/members.inc"
#undef ORT_MEMBER
  return table;
}

constexpr OrtModelEditorApi made_model_editor_api() {
  OrtModelEditorApi table{};
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) \
  table.name = &ModelEditorFunctions::name;
#include "executor/ort_abi/table/model_editor_members.inc"
#undef ORT_SUB_MEMBER
  return table;
}

constexpr OrtCompileApi made_compile_api() {
  OrtCompileApi table{};
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) table.name = &CompileFunctions::name;
#include "executor/ort_abi/table/compile_members.inc"
#undef ORT_SUB_MEMBER
  return table;
}

constexpr OrtInteropApi made_interop_api() {
  OrtInteropApi table{};
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) table.name = &InteropFunctions::name;
#include "executor/ort_abi/table/interop_members.inc"
#undef ORT_SUB_MEMBER
  return table;
}

// Of what providers of the program's own would need, next to nothing is implemented.
constexpr OrtEpApi made_ep_api() {
  OrtEpApi table{};
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) table.name = &EpFunctions::name;
#define ORT_ABSENT(index, since, Return, name, parameters) \
  ORT_NOT_HERE(OrtEpApi, ep_names, index, name)
#include "executor/ort_abi/table/ep_members.inc"
#undef ORT_SUB_MEMBER
  return table;
}

constexpr OrtApi kApi = made_api();
constexpr OrtModelEditorApi kModelEditorApi = made_model_editor_api();
constexpr OrtCompileApi kCompileApi = made_compile_api();
constexpr OrtInteropApi kInteropApi = made_interop_api();
constexpr OrtEpApi kEpApi = made_ep_api();
static_assert(sizeof(OrtApi) == ORT_API_MEMBERS * sizeof(void*));

const OrtApi* api_of_version(uint32_t version) {
  if (version >= 1 && version <= ORT_API_VERSION) return &kApi;
  std::fprintf(stderr,
               "The requested API version [%u] is not available, only API versions [1, %d] are "
               "supported in this build. Current ORT Version is: %s\n",
               version, ORT_API_VERSION, kVersion);
  return nullptr;
}

const char* version_string() {
  return kVersion;
}

}  // namespace

const OrtApi* api() {
  return &kApi;
}

// There is no training here: programs that ask are told so by NULL.
const OrtTrainingApi* Functions::GetTrainingApi(uint32_t) {
  return nullptr;
}
const OrtModelEditorApi* Functions::GetModelEditorApi() {
  return &kModelEditorApi;
}
const OrtCompileApi* Functions::GetCompileApi() {
  return &kCompileApi;
}
const OrtInteropApi* Functions::GetInteropApi() {
  return &kInteropApi;
}
const OrtEpApi* Functions::GetEpApi() {
  return &kEpApi;
}

}  // namespace sardonyx::ort_abi

extern "C" {

__attribute__((visibility("default"))) const OrtApiBase* OrtGetApiBase(void) {
  static constexpr OrtApiBase kBase{sardonyx::ort_abi::api_of_version,
                                    sardonyx::ort_abi::version_string};
  return &kBase;
}

__attribute__((visibility("default"))) OrtStatus* OrtSessionOptionsAppendExecutionProvider_CPU(
    OrtSessionOptions* options, int use_arena) {
  if (!options) return sardonyx::ort_abi::Functions::EnableCpuMemArena(options);
  return use_arena ? sardonyx::ort_abi::Functions::EnableCpuMemArena(options)
                   : sardonyx::ort_abi::Functions::DisableCpuMemArena(options);
}

}  // extern "C"
