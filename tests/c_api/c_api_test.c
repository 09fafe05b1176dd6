/* Uses the C interface as a program in C would: c_api_test LENET.onnx
 *
 * The model has one input float[batch, 1, 28, 28] and one output float[batch, 10]. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sardonyx/sardonyx.h"

static int failures = 0;

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "%s:%d: expected %s (%s)\n", __FILE__, __LINE__, #condition, \
              sx_last_error());                                                    \
      ++failures;                                                                  \
    }                                                                              \
  } while (0)

enum { kPixels = 28 * 28, kClasses = 10 };

static float input[3 * kPixels];
static const int64_t input_dims[4] = {3, 1, 28, 28};
static const int64_t output_dims[2] = {3, kClasses};

static void test_errors(const char* path) {
  sx_session* session = NULL;
  sx_session_options options;
  EXPECT(sx_session_create(NULL, NULL, &session) == SX_INVALID_ARGUMENT);
  EXPECT(strstr(sx_last_error(), "path") != NULL);
  EXPECT(sx_session_create("no such file", NULL, &session) == SX_INVALID_ARGUMENT);
  EXPECT(session == NULL);
  EXPECT(sx_session_create_from_bytes("not a model", 11, NULL, &session) == SX_INVALID_MODEL);
  EXPECT(sx_session_create(path, NULL, NULL) == SX_INVALID_ARGUMENT);

  EXPECT(sx_session_options_init(&options, sizeof options) == SX_OK);
  options.providers = "onednn,none";
  EXPECT(sx_session_create(path, &options, &session) == SX_INVALID_ARGUMENT);
  EXPECT(strstr(sx_last_error(), "none") != NULL);
  options.providers = NULL;
  options.memory_limit = 1000;
  EXPECT(sx_session_create(path, &options, &session) == SX_RESOURCE_EXHAUSTED);
  EXPECT(strcmp(sx_status_name(SX_RESOURCE_EXHAUSTED), "resource exhausted") == 0);
  EXPECT(sx_session_input_count(NULL) == 0);
  sx_session_destroy(NULL);
  sx_binding_destroy(NULL);
  sx_cancellation_destroy(NULL);
}

/* Structs of an older and of a later version of this header. */
static void test_versions(const char* path) {
  struct {
    sx_session_options known;
    int64_t later;
  } later;
  sx_session_options older;
  sx_session* session = NULL;
  memset(&later, 0xff, sizeof later);
  EXPECT(sx_session_options_init(&later.known, sizeof later) == SX_OK);
  EXPECT(later.later == 0 && later.known.struct_size == sizeof later);
  EXPECT(sx_session_create(path, &later.known, &session) == SX_OK);
  sx_session_destroy(session);
  later.later = 1;
  EXPECT(sx_session_create(path, &later.known, &session) == SX_INVALID_ARGUMENT);
  EXPECT(strstr(sx_last_error(), "later version") != NULL);

  memset(&older, 0xff, sizeof older);
  EXPECT(sx_session_options_init(&older, offsetof(sx_session_options, memory_limit)) == SX_OK);
  EXPECT(older.memory_limit == (uint64_t)-1);
  EXPECT(sx_session_create(path, &older, &session) == SX_OK);
  sx_session_destroy(session);
  EXPECT(sx_session_options_init(&older, 0) == SX_INVALID_ARGUMENT);
}

static void test_info(sx_session* session) {
  sx_value_info info;
  size_t index = 7;
  memset(&info, 0, sizeof info);
  EXPECT(sx_session_input(session, 0, &info) == SX_INVALID_ARGUMENT); /* no size */
  info.struct_size = sizeof info;
  EXPECT(sx_session_input_count(session) == 1 && sx_session_output_count(session) == 1);
  EXPECT(sx_session_input(session, 0, &info) == SX_OK);
  EXPECT(info.kind == SX_TENSOR && info.dtype == SX_FLOAT && info.rank == 4 && !info.is_optional);
  EXPECT(info.dims[0] == -1 && strcmp(info.dim_names[0], "batch") == 0);
  EXPECT(info.dims[3] == 28 && info.dim_names[3] == NULL);
  EXPECT(sx_session_find_input(session, info.name, &index) == SX_OK && index == 0);
  EXPECT(sx_session_find_input(session, "nothing", &index) == SX_INVALID_ARGUMENT);
  EXPECT(sx_session_output(session, 1, &info) == SX_INVALID_ARGUMENT);
  EXPECT(sx_session_output(session, 0, &info) == SX_OK && info.rank == 2);
}

static void test_runs(sx_session* session) {
  sx_binding* binding = NULL;
  sx_tensor tensor;
  sx_stats stats;
  float bound[3 * kClasses];
  float copied[3 * kClasses];
  int64_t one[4] = {1, 1, 28, 28};
  int i;
  tensor.struct_size = sizeof tensor;
  EXPECT(sx_binding_create(session, &binding) == SX_OK);
  EXPECT(sx_binding_run(binding, NULL) == SX_INVALID_ARGUMENT); /* no input */
  EXPECT(sx_binding_set_input(binding, 0, SX_FLOAT, input_dims, 4, input, 5) ==
         SX_INVALID_ARGUMENT);
  EXPECT(sx_binding_set_input(binding, 0, SX_FLOAT, input_dims, 4, input, sizeof input) == SX_OK);
  EXPECT(sx_binding_output(binding, 0, &tensor) == SX_INVALID_ARGUMENT); /* not run yet */
  EXPECT(sx_binding_run(binding, NULL) == SX_OK);
  EXPECT(sx_binding_output(binding, 0, &tensor) == SX_OK);
  EXPECT(tensor.dtype == SX_FLOAT && tensor.rank == 2 && tensor.size == sizeof copied);
  EXPECT(tensor.dims[0] == 3 && tensor.dims[1] == kClasses);
  memcpy(copied, tensor.data, sizeof copied);
  for (i = 0; i < 3 * kClasses; ++i)
    EXPECT(isfinite(copied[i]));

  EXPECT(sx_binding_set_output(binding, 0, SX_FLOAT, output_dims, 2, bound, sizeof bound) == SX_OK);
  for (i = 0; i < 3; ++i) {
    memset(bound, 0, sizeof bound);
    EXPECT(sx_binding_run(binding, NULL) == SX_OK);
    EXPECT(memcmp(bound, copied, sizeof bound) == 0);
    EXPECT(sx_binding_output(binding, 0, &tensor) == SX_OK && tensor.data == bound);
    EXPECT(tensor.written == 1);
  }
  /* Another shape does not fit what is bound, and comes in other memory. */
  EXPECT(sx_binding_set_input(binding, 0, SX_FLOAT, one, 4, input, sizeof(float) * kPixels) ==
         SX_OK);
  EXPECT(sx_binding_run(binding, NULL) == SX_OK);
  EXPECT(sx_binding_output(binding, 0, &tensor) == SX_OK && tensor.data != bound);
  EXPECT(tensor.dims[0] == 1 && tensor.written == 0);
  EXPECT(sx_binding_set_input(binding, 0, SX_DOUBLE, one, 0, input, sizeof(double)) == SX_OK);
  EXPECT(sx_binding_run(binding, NULL) == SX_INVALID_ARGUMENT);
  EXPECT(strstr(sx_last_error(), "double") != NULL);
  EXPECT(sx_binding_set_input(binding, 0, SX_FLOAT, input_dims, 4, input, sizeof input) == SX_OK);
  EXPECT(sx_binding_run(binding, NULL) == SX_OK);
  EXPECT(memcmp(bound, copied, sizeof bound) == 0);
  sx_binding_destroy(binding);

  stats.struct_size = sizeof stats;
  EXPECT(sx_session_stats(session, &stats) == SX_OK && stats.plans >= 2 && stats.memory_peak > 0);
  EXPECT(sx_session_trim(session) == SX_OK);
}

static void test_cancellation(sx_session* session) {
  sx_binding* binding = NULL;
  sx_run_options options;
  EXPECT(sx_binding_create(session, &binding) == SX_OK);
  EXPECT(sx_binding_set_input(binding, 0, SX_FLOAT, input_dims, 4, input, sizeof input) == SX_OK);
  EXPECT(sx_run_options_init(&options, sizeof options) == SX_OK);
  EXPECT(sx_cancellation_create(&options.cancellation) == SX_OK);
  EXPECT(sx_binding_run(binding, &options) == SX_OK);
  sx_cancellation_request(options.cancellation);
  EXPECT(sx_binding_run(binding, &options) == SX_CANCELLED);
  EXPECT(sx_binding_run(binding, NULL) == SX_OK);
  EXPECT(sx_cancellation_reset(options.cancellation) == SX_OK);
  EXPECT(sx_binding_run(binding, &options) == SX_OK);
  sx_cancellation_destroy(options.cancellation);
  sx_binding_destroy(binding);
}

static void count_line(void* user, int32_t level, const char* line) {
  if (level == SX_LOG_INFO && line[0] != '\0') ++*(int*)user;
}

/* As C programs write it: what is not said is zero. */
static void test_zeroed_options(const char* path) {
  sx_session_options options;
  sx_session* session = NULL;
  sx_model_info info;
  sx_error error;
  char message[64];
  const int64_t* dims[1];
  const size_t rank = 4;
  int lines = 0;
  memset(&options, 0, sizeof options);
  memset(&info, 0, sizeof info);
  memset(&error, 0, sizeof error);
  options.struct_size = sizeof options;
  info.struct_size = sizeof info;
  error.struct_size = sizeof error;
  error.message = message;
  error.message_size = sizeof message;
  options.threads = 1;
  options.log = count_line;
  options.log_user = &lines;
  options.log_level = SX_LOG_INFO;
  options.error = &error;
  EXPECT(sx_session_create(path, &options, &session) == SX_OK);
  EXPECT(lines > 0 && error.status == SX_OK && message[0] == '\0');
  EXPECT(sx_session_model_info(session, &info) == SX_OK && info.opset_count > 0);
  dims[0] = input_dims;
  EXPECT(sx_session_prepare(session, dims, &rank, 1, NULL) == SX_OK);
  EXPECT(sx_session_prepare(session, NULL, NULL, 0, NULL) == SX_INVALID_ARGUMENT);
  sx_session_destroy(session);
  options.threads = 1025;
  EXPECT(sx_session_create(path, &options, &session) == SX_INVALID_ARGUMENT);
  EXPECT(error.status == SX_INVALID_ARGUMENT && strstr(message, "1025") != NULL);
}

static void note_status(void* user, const sx_error* error) {
  *(int32_t*)user = error->status;
}

static void test_async(sx_session* session) {
  sx_binding* binding = NULL;
  sx_value* value = NULL;
  sx_tensor tensor;
  int32_t status = -1;
  tensor.struct_size = sizeof tensor;
  EXPECT(sx_binding_create(session, &binding) == SX_OK);
  EXPECT(sx_binding_wait(binding) == SX_OK); /* there is none */
  EXPECT(sx_value_create_tensor(SX_FLOAT, input_dims, 4, input, sizeof input, &value) == SX_OK);
  EXPECT(sx_binding_set_input_value(binding, 0, value) == SX_OK);
  sx_value_destroy(value);
  EXPECT(sx_binding_run_async(binding, NULL, note_status, &status) == SX_OK);
  EXPECT(sx_binding_wait(binding) == SX_OK && status == SX_OK);
  EXPECT(sx_binding_output_value(binding, 0, &value) == SX_OK);
  sx_binding_destroy(binding);
  EXPECT(sx_value_kind(value) == SX_TENSOR && sx_value_count(value) == 3 * kClasses);
  EXPECT(strcmp(sx_value_type(value), "float[3, 10]") == 0);
  EXPECT(sx_value_tensor(value, &tensor) == SX_OK && tensor.dims[1] == kClasses);
  sx_value_destroy(value);
}

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  void* bytes = NULL;
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  bytes = malloc(*size);
  if (bytes && fread(bytes, 1, *size, file) != *size) *size = 0;
  fclose(file);
  return bytes;
}

int main(int count, char** values) {
  sx_session* session = NULL;
  void* bytes = NULL;
  size_t size = 0;
  int i;
  if (count != 2) {
    fprintf(stderr, "usage: c_api_test LENET.onnx\n");
    return 2;
  }
  for (i = 0; i < 3 * kPixels; ++i)
    input[i] = (float)(i % 17) / 8 - 1;
  test_errors(values[1]);
  test_versions(values[1]);
  test_zeroed_options(values[1]);
  EXPECT(sx_session_create(values[1], NULL, &session) == SX_OK);
  if (!session) return 1;
  test_info(session);
  test_runs(session);
  test_cancellation(session);
  test_async(session);
  sx_session_destroy(session);
  bytes = read_file(values[1], &size);
  EXPECT(sx_session_create_from_bytes(bytes, size, NULL, &session) == SX_OK);
  free(bytes);
  test_runs(session);
  sx_session_destroy(session);
  printf("sardonyx %s: %d failures\n", sx_version(), failures);
  return failures ? 1 : 0;
}
