// What is implemented: a class for each table, with a static function of the member's name and type
// for every member that the lists (*.inc) do not mark as absent. One that nobody defines does not
// link.
#pragma once

#include <type_traits>

#include "executor/ort_abi/table/ort_c_api.h"

namespace sardonyx::ort_abi {

// None of these throws.
struct Functions {
#define ORT_MEMBER(index, since, Return, name, parameters) \
  static std::remove_pointer_t<decltype(OrtApi::name)> name;
#include "executor/ort_abi/table/members.inc"
#undef ORT_MEMBER
};

struct ModelEditorFunctions {
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) \
  static std::remove_pointer_t<decltype(OrtModelEditorApi::name)> name;
#include "executor/ort_abi/table/model_editor_members.inc"
#undef ORT_SUB_MEMBER
};

struct CompileFunctions {
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) \
  static std::remove_pointer_t<decltype(OrtCompileApi::name)> name;
#include "executor/ort_abi/table/compile_members.inc"
#undef ORT_SUB_MEMBER
};

#define ORT_ABSENT(index, since, Return, name, parameters)
struct EpFunctions {
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) \
  static std::remove_pointer_t<decltype(OrtEpApi::name)> name;
#include "executor/ort_abi/table/ep_members.inc"
#undef ORT_SUB_MEMBER
};

struct InteropFunctions {
#define ORT_SUB_MEMBER(index, since, Return, name, parameters) \
  static std::remove_pointer_t<decltype(OrtInteropApi::name)> name;
#include "executor/ort_abi/table/interop_members.inc"
#undef ORT_SUB_MEMBER
};

// The table itself.
const OrtApi* api();

}  // namespace sardonyx::ort_abi
