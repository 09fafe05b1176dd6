/* library_check LIBRARY MODEL: what a program in C sees of libonnxruntime.so.1: the table, a run, and that the library
   may be closed and opened anew, used in a forked child, and used beside another copy (SARDONYX_ONNXRUNTIME). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ort_abi/table/ort_c_api.h"

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                               \
    }                                                                        \
  } while (0)

/* Each member by its index in the list, and by its place in the struct. */
static void check_table(const OrtApi* api) {
  const void* const* table = (const void* const*)api;
  int count = 0;
#define ORT_MEMBER(index, since, Return, name, parameters)                     \
  CHECK(offsetof(OrtApi, name) == (size_t)(index) * sizeof(void*));            \
  CHECK(since >= 1 && since <= ORT_API_VERSION);                               \
  CHECK(table[index] != NULL);                                                 \
  ++count;
#include "executor/ort_abi/table/members.inc"
#undef ORT_MEMBER
  CHECK(count == ORT_API_MEMBERS);
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < i; ++j)
      CHECK(table[i] != table[j]);
}

static void* g_library;

static const OrtApi* opened(const char* path) {
  g_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!g_library) fprintf(stderr, "%s\n", dlerror());
  CHECK(g_library);
  const OrtApiBase* (*base)(void);
  *(void**)&base = dlsym(g_library, "OrtGetApiBase");
  CHECK(base);
  for (uint32_t version = 1; version <= ORT_API_VERSION; ++version)
    CHECK(base()->GetApi(version) == base()->GetApi(ORT_API_VERSION));
  CHECK(strncmp(base()->GetVersionString(), "1.30.", 5) == 0);
  return base()->GetApi(ORT_API_VERSION);
}

static void require(const OrtApi* api, OrtStatus* status) {
  if (!status) return;
  fprintf(stderr, "%d: %s\n", api->GetErrorCode(status), api->GetErrorMessage(status));
  exit(1);
}

/* Runs the model on zeros of the shape that it declares, with 1 for dims that are not known. */
static void run_model(const OrtApi* api, const char* model) {
  OrtEnv* env = NULL;
  OrtSessionOptions* options = NULL;
  OrtSession* session = NULL;
  OrtAllocator* allocator = NULL;
  require(api, api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "check", &env));
  require(api, api->CreateSessionOptions(&options));
  require(api, api->CreateSession(env, model, options, &session));
  api->ReleaseSessionOptions(options);
  require(api, api->GetAllocatorWithDefaultOptions(&allocator));
  char *input_name = NULL, *output_name = NULL;
  require(api, api->SessionGetInputName(session, 0, allocator, &input_name));
  require(api, api->SessionGetOutputName(session, 0, allocator, &output_name));
  OrtTypeInfo* type = NULL;
  const OrtTensorTypeAndShapeInfo* info = NULL;
  require(api, api->SessionGetInputTypeInfo(session, 0, &type));
  require(api, api->CastTypeInfoToTensorInfo(type, &info));
  size_t rank = 0, bytes = 0;
  int64_t dims[8];
  require(api, api->GetDimensionsCount(info, &rank));
  CHECK(rank <= 8);
  require(api, api->GetDimensions(info, dims, rank));
  for (size_t i = 0; i < rank; ++i)
    if (dims[i] < 0) dims[i] = 1;
  OrtValue *input = NULL, *output = NULL;
  require(api, api->CreateTensorAsOrtValue(allocator, dims, rank, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
  void* data = NULL;
  require(api, api->GetTensorMutableData(input, &data));
  require(api, api->GetTensorSizeInBytes(input, &bytes));
  memset(data, 0, bytes);
  const char *inputs[] = {input_name}, *outputs[] = {output_name};
  const OrtValue* values[] = {input};
  require(api, api->Run(session, NULL, inputs, values, 1, outputs, 1, &output));
  int is_tensor = 0;
  require(api, api->IsTensor(output, &is_tensor));
  CHECK(is_tensor);
  api->ReleaseValue(input);
  api->ReleaseValue(output);
  api->ReleaseTypeInfo(type);
  require(api, api->AllocatorFree(allocator, input_name));
  require(api, api->AllocatorFree(allocator, output_name));
  api->ReleaseSession(session);
  api->ReleaseEnv(env);
}

static void check_child(const OrtApi* api, const char* model) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    run_model(api, model);
    _exit(0);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  const char* other = getenv("SARDONYX_ONNXRUNTIME");
  if (other) run_model(opened(other), argv[2]);
  for (int i = 0; i < 3; ++i) {
    const OrtApi* api = opened(argv[1]);
    CHECK(dlsym(g_library, "OrtSessionOptionsAppendExecutionProvider_CPU"));
    CHECK(!dlsym(g_library, "sx_version"));
    check_table(api);
    run_model(api, argv[2]);
    check_child(api, argv[2]);
    CHECK(dlclose(g_library) == 0);
  }
  puts(other ? "passed, beside another runtime" : "passed");
  return 0;
}
