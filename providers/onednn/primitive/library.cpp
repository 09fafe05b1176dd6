#include "providers/onednn/primitive/library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "ir/core/error.h"
#include "ir/core/sanitizers.h"

namespace sardonyx::onednn {
namespace {

constexpr const char* kFile = "libdnnl.so.2";
constexpr const char* kRemedy =
    "; install oneDNN 2 (Debian's package libdnnl2), or choose the providers \"cpu\"";

static_assert(DNNL_VERSION_MAJOR == 2, "kFile and the shim are those of oneDNN 2");

std::string last_error() {
  const char* reason = dlerror();
  return reason ? reason : "the dynamic linker gives no reason";
}

void* open_library(int flags) {
  if (void* handle = dlopen(kFile, flags)) return handle;
  fail(ErrorCode::kUnsupported, "provider onednn: cannot load its library: ", last_error(),
       kRemedy);
}

// Whether the program exports functions of another oneDNN to the libraries that it loads. They
// would preempt those that our library calls internally.
bool has_foreign_onednn() {
  const char* const names[] = {
#define SARDONYX_NAME(function) #function,
      SARDONYX_ONEDNN_FUNCTIONS(SARDONYX_NAME)
#undef SARDONYX_NAME
  };
  for (const char* name : names) {
    if (dlsym(RTLD_DEFAULT, name)) return true;
  }
  return false;
}

template <typename Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (!function) {
    fail(ErrorCode::kUnsupported, "provider onednn: ", kFile, " has no ", name, ": ", last_error(),
         kRemedy);
  }
}

// Looks up an OpenMP function as the oneDNN library itself resolves it; null if there is none.
template <typename Function>
void find_of_openmp(void* handle, bool is_deep, const char* name, Function& function) {
  void* address = is_deep ? nullptr : dlsym(RTLD_DEFAULT, name);
  function = reinterpret_cast<Function>(address ? address : dlsym(handle, name));
}

void check_version(const Library& library) {
  const dnnl_version_t& version = *library.dnnl_version();
  if (version.major == DNNL_VERSION_MAJOR && version.minor >= DNNL_VERSION_MINOR) return;
  fail(ErrorCode::kUnsupported, "provider onednn: ", kFile, " is oneDNN ", version.major, ".",
       version.minor, ", expected ", DNNL_VERSION_MAJOR, ".", DNNL_VERSION_MINOR, " or newer",
       kRemedy);
}

// oneDNN keeps the last 1024 primitives for who asks for the same again, and what it gives out of
// them is not to be relied on once they are gone (see Primitive). Plans hold what they need
// themselves.
void keep_no_primitives(const Library& library) {
  if (!std::getenv("DNNL_PRIMITIVE_CACHE_CAPACITY")) library.dnnl_set_primitive_cache_capacity(0);
}

Library load() {
  // The library is never unloaded: plans hold handles of oneDNN, and threads have its streams.
  void* const present = dlopen(kFile, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  // Sanitizers replace functions for all libraries, which deep binding would go around. So would it
  // around a program's own operator new, for memory that libstdc++ hands to oneDNN: it is asked for
  // only where it is needed.
  const bool is_deep = !present && !kAddressSanitizer && !kThreadSanitizer && has_foreign_onednn();
  void* const handle =
      present ? present : open_library(RTLD_NOW | RTLD_LOCAL | (is_deep ? RTLD_DEEPBIND : 0));
  Library library{};
#define SARDONYX_FIND(function) find(handle, #function, library.function);
  SARDONYX_ONEDNN_FUNCTIONS(SARDONYX_FIND)
#undef SARDONYX_FIND
  find_of_openmp(handle, is_deep, "omp_set_num_threads", library.omp_set_num_threads);
  find_of_openmp(handle, is_deep, "omp_get_max_threads", library.omp_get_max_threads);
  check_version(library);
  // The program uses a library that was already loaded, so its settings are left alone.
  if (!present) keep_no_primitives(library);
  return library;
}

}  // namespace

const Library& library() {
  static const Library& loaded = *new const Library(load());
  return loaded;
}

void set_onednn_threads(int threads) {
  if (library().omp_set_num_threads) library().omp_set_num_threads(threads);
}

int onednn_threads() {
  return library().omp_get_max_threads ? library().omp_get_max_threads() : 1;
}

}  // namespace sardonyx::onednn
