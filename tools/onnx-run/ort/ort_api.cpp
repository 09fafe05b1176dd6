#include "tools/onnx-run/ort/ort_api.h"

#include <dlfcn.h>

namespace sardonyx::tool::ort {
namespace {

// What OrtGetApiBase gives.
struct ApiBase {
  const void* (*get_api)(uint32_t version);
  const char* (*version_string)();
};

// The oldest version of the table that libraries of today and of some years ago both offer.
constexpr uint32_t kTableVersion = 8;

}  // namespace

Api::Api(const std::filesystem::path& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    fail(ErrorCode::kInvalidArgument, "can't load '", library.string(), "': ", dlerror());
  const auto base_of = reinterpret_cast<const ApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  if (!base_of) {
    fail(ErrorCode::kInvalidArgument, "'", library.string(),
         "' is no ONNX Runtime library: it has no OrtGetApiBase");
  }
  const ApiBase* base = base_of();
  version_ = base->version_string();
  table_ = static_cast<void* const*>(base->get_api(kTableVersion));
  if (!table_) {
    fail(ErrorCode::kInvalidArgument, "'", library.string(), "' of version ", version_,
         " does not offer version ", kTableVersion, " of its interface");
  }
}

void Api::check(Status* status) const {
  if (!status) return;
  const auto message = reinterpret_cast<const char* (*)(const Status*)>(table_[kGetErrorMessage]);
  const std::string what = message(status);
  release(kReleaseStatus, status);
  fail(ErrorCode::kInvalidArgument, "the other runtime: ", what);
}

}  // namespace sardonyx::tool::ort
