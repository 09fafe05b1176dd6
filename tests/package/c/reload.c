/* reload LIBRARY MODEL: 100 times opens the library, runs the model and closes the library. Memory
 * must not grow. */
#include <dlfcn.h>
#include <sardonyx/sardonyx.h>
#include <stdio.h>
#include <string.h>

static long resident_kilobytes(void) {
  long kilobytes = -1;
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) {
    if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1) break;
  }
  if (status) fclose(status);
  return kilobytes;
}

#define FIND(name)                               \
  __typeof__(&sx_##name) name;                   \
  {                                              \
    void* address = dlsym(library, "sx_" #name); \
    if (!address) return 1;                      \
    memcpy(&name, &address, sizeof address);     \
  }

static int run_once(void* library, const char* model) {
  static float pixels[28 * 28];
  const int64_t dims[4] = {1, 1, 28, 28};
  sx_session* session = NULL;
  sx_binding* binding = NULL;
  int good;
  FIND(session_create)
  FIND(session_destroy)
  FIND(binding_create)
  FIND(binding_destroy)
  FIND(binding_set_input)
  FIND(binding_run)
  good = session_create(model, NULL, &session) == SX_OK &&
         binding_create(session, &binding) == SX_OK &&
         binding_set_input(binding, 0, SX_FLOAT, dims, 4, pixels, sizeof pixels) == SX_OK &&
         binding_run(binding, NULL) == SX_OK;
  binding_destroy(binding);
  session_destroy(session);
  return good ? 0 : 1;
}

int main(int argc, char** argv) {
  enum { kCycles = 100, kWarmUp = 20, kAllowedKilobytes = 2048 };
  long before = 0, after;
  int i;
  if (argc < 3) return 2;
  for (i = 0; i < kCycles; ++i) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    if (run_once(library, argv[2]) != 0) {
      fprintf(stderr, "cycle %d failed\n", i);
      return 1;
    }
    dlclose(library);
    if (i == kWarmUp) before = resident_kilobytes();
  }
  after = resident_kilobytes();
  printf("resident: %ld kB after %d cycles, %ld kB after %d\n", before, kWarmUp, after, kCycles);
  return after - before > kAllowedKilobytes;
}
