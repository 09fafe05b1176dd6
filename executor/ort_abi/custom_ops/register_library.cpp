// Operators that come in libraries of their own.
#include <dlfcn.h>

#include "executor/ort_abi/session_options.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

using RegisterFunction = OrtStatus* (*)(OrtSessionOptions*, const OrtApiBase*);

std::string loader_error() {
  const char* error = dlerror();
  return error ? error : "unknown";
}

void* opened_library(const char* path) {
  void* library = dlopen(&require(path, "library_path"), RTLD_NOW | RTLD_LOCAL);
  if (!library) refuse(ORT_FAIL, "Failed to load library ", path, " with error: ", loader_error());
  return library;
}

RegisterFunction entry_of(void* library) {
  void* entry = dlsym(library, "RegisterCustomOps");
  if (entry) return reinterpret_cast<RegisterFunction>(entry);
  const std::string error = loader_error();
  dlclose(library);
  refuse(ORT_FAIL, "Failed to get symbol RegisterCustomOps with error: ", error);
}

}  // namespace

// The library is the caller's to close.
OrtStatus* Functions::RegisterCustomOpsLibrary(OrtSessionOptions* options, const char* library_path,
                                               void** library_handle) {
  RegisterFunction entry = nullptr;
  OrtStatus* refused = guarded([&] {
    void*& place = require_place(library_handle, "library_handle");
    require(options, "options");
    void* library = opened_library(library_path);
    entry = entry_of(library);
    place = library;
  });
  return refused ? refused : entry(options, OrtGetApiBase());
}

// The library stays open until the options and the last session made with them are gone.
OrtStatus* Functions::RegisterCustomOpsLibrary_V2(OrtSessionOptions* options,
                                                  const char* library_name) {
  RegisterFunction entry = nullptr;
  OrtStatus* refused = guarded([&] {
    OrtSessionOptions& changed = require(options, "options");
    void* library = opened_library(library_name);
    entry = entry_of(library);
    changed.libraries.emplace_back(library, [](void* closed) { dlclose(closed); });
  });
  return refused ? refused : entry(options, OrtGetApiBase());
}

OrtStatus* Functions::RegisterCustomOpsUsingFunction(OrtSessionOptions* options,
                                                     const char* registration_func_name) {
  RegisterFunction entry = nullptr;
  OrtStatus* refused = guarded([&] {
    require(options, "options");
    const char* name = registration_func_name;
    if (!name) {
      refuse(ORT_INVALID_ARGUMENT,
             "RegisterCustomOpsUsingFunction: Registration function name must be specified.");
    }
    entry = reinterpret_cast<RegisterFunction>(dlsym(RTLD_DEFAULT, name));
    if (!entry) {
      refuse(ORT_FAIL, "Failed to get symbol ", name, " with error: ", loader_error());
    }
  });
  return refused ? refused : entry(options, OrtGetApiBase());
}

}  // namespace sardonyx::ort_abi
