/* To be preloaded: a machine on which oneDNN is not installed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

void* dlopen(const char* name, int flags) {
  static void* (*real)(const char*, int);
  if (!real) {
    void* address = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&real, &address, sizeof address);
  }
  return real(name && strncmp(name, "libdnnl", 7) == 0 ? "libdnnl-is-not-installed.so" : name,
              flags);
}
