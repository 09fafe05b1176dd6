// ort_behaviour LIBRARY FOLDER [CHAPTER]: makes the same calls whichever library it is given, and
// prints what they answer; FOLDER is for files. Transcripts of two libraries are compared by
// compare. A chapter that crashes says so, and the next one begins.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {

Library lib;

namespace {

struct Chapter {
  const char* name;
  void (*run)();
};
constexpr Chapter kChapters[] = {
    {"library", library_chapter},
    {"options", option_chapter},
    {"providers", provider_chapter},
    {"loads", load_chapter},
    {"infos", info_chapter},
    {"runs", run_chapter},
    {"run failures", run_failure_chapter},
    {"bindings", binding_chapter},
    {"values", value_chapter},
    {"numbered types", numbered_type_chapter},
    {"strings", string_chapter},
    {"containers", container_chapter},
    {"sparse", sparse_chapter},
    {"memory", memory_chapter},
    {"environments", env_chapter},
    {"files", file_chapter},
    {"weights", weights_chapter},
    {"custom operators", custom_op_chapter},
    {"schemas", schema_chapter},
    {"called operators", called_op_chapter},
    {"devices", device_chapter},
    {"inspection", inspection_chapter},
    {"built models", built_model_chapter},
    {"compilations", compilation_chapter},
    {"nulls", null_chapter},
};

void open(const char* path, const char* folder) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  lib.base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"))();
  lib.api = lib.base->GetApi(ORT_API_VERSION);
  lib.folder = folder;
  answer("CreateEnv", lib.api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "behaviour", &lib.env));
  answer("allocator", lib.api->GetAllocatorWithDefaultOptions(&lib.allocator));
  answer("memory info",
         lib.api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &lib.cpu));
}

void write_chapter(const Chapter& chapter, const char* path, const char* folder) {
  std::printf("# %s\n", chapter.name);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    open(path, folder);
    chapter.run();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("crashed: %s\n", strsignal(WTERMSIG(status)));
}

}  // namespace
}  // namespace behaviour

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "ort_behaviour LIBRARY FOLDER [CHAPTER]\n");
    return 2;
  }
  for (const auto& chapter : behaviour::kChapters) {
    if (count > 3 && std::strcmp(chapter.name, arguments[3]) != 0) continue;
    behaviour::write_chapter(chapter, arguments[1], arguments[2]);
  }
}
