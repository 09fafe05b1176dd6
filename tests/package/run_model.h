/* Loads lenet.onnx and runs it once, with random-looking pixels. 0 if all went well. */
#ifndef RUN_MODEL_H_
#define RUN_MODEL_H_

#include <sardonyx/sardonyx.h>
#include <stdio.h>

static int run_model(const char* path, const char* providers) {
  static float pixels[28 * 28];
  const int64_t dims[4] = {1, 1, 28, 28};
  sx_session_options options;
  sx_session* session = NULL;
  sx_binding* binding = NULL;
  sx_status status;
  sx_session_options_init(&options, sizeof options);
  options.threads = 2;
  options.providers = providers;
  status = sx_session_create(path, &options, &session);
  if (status == SX_OK) status = sx_binding_create(session, &binding);
  if (status == SX_OK) {
    status = sx_binding_set_input(binding, 0, SX_FLOAT, dims, 4, pixels, sizeof pixels);
  }
  if (status == SX_OK) status = sx_binding_run(binding, NULL);
  if (status != SX_OK) fprintf(stderr, "%s\n", sx_last_error());
  sx_binding_destroy(binding);
  sx_session_destroy(session);
  return status == SX_OK ? 0 : 1;
}

#endif
