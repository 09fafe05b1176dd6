/* Uses the batching interface as a server in C would: batching_api_test LENET.onnx
 *
 * The model has one input float[batch, 1, 28, 28] and one output float[batch, 10]. */
#define _POSIX_C_SOURCE 200809L
#include "sardonyx/batching.h"

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "%s:%d: expected %s (%s)\n", __FILE__, __LINE__, #condition, \
              sx_last_error());                                                    \
      ++failures;                                                                  \
    }                                                                              \
  } while (0)

enum { kPixels = 28 * 28, kClasses = 10, kRequests = 64 };

/* What a callback is told, and that it was. */
typedef struct outcome {
  sem_t told;
  sem_t* holds; /* if set: the callback returns once this is posted */
  int32_t status;
  char message[200];
  sx_value* output;
  int64_t run_ns;
} outcome;

static void begin_outcome(outcome* to, sem_t* holds) {
  memset(to, 0, sizeof *to);
  to->status = -1;
  to->holds = holds;
  sem_init(&to->told, 0, 0);
}

static void end_outcome(outcome* to) {
  sx_value_destroy(to->output);
  sem_destroy(&to->told);
}

static void tell(void* user, const sx_answer* answer) {
  outcome* to = user;
  to->status = answer->error->status;
  snprintf(to->message, sizeof to->message, "%s", answer->error->message);
  if (answer->output_count == 1 && answer->outputs[0])
    EXPECT(sx_value_share(answer->outputs[0], &to->output) == SX_OK);
  to->run_ns = answer->run_ns;
  sem_post(&to->told);
  if (to->holds) sem_wait(to->holds);
}

static int32_t status_of(outcome* from) {
  sem_wait(&from->told);
  return from->status;
}

/* `items` images that differ by `seed`. */
static sx_value* image(int items, int seed) {
  const int64_t dims[4] = {items, 1, 28, 28};
  const size_t count = (size_t)items * kPixels;
  float* pixels = malloc(count * sizeof(float));
  sx_value* value = NULL;
  for (size_t i = 0; i < count; ++i)
    pixels[i] = (float)((i * 7 + (size_t)seed * 131) % 256) / 255;
  EXPECT(sx_value_create_tensor(SX_FLOAT, dims, 4, pixels, count * sizeof(float), &value) == SX_OK);
  free(pixels);
  return value;
}

static sx_status submit(sx_batcher* batcher, const sx_value* input, int64_t timeout_us, outcome* to,
                        sx_request** request) {
  sx_request_options options;
  EXPECT(sx_request_options_init(&options, sizeof options) == SX_OK);
  options.timeout_us = timeout_us;
  return sx_batcher_submit(batcher, &input, 1, &options, tell, to, request);
}

static const float* scores_of(const sx_value* value, int64_t items) {
  sx_tensor tensor;
  tensor.struct_size = sizeof tensor;
  EXPECT(sx_value_tensor(value, &tensor) == SX_OK);
  EXPECT(tensor.rank == 2 && tensor.dims[0] == items && tensor.dims[1] == kClasses);
  return tensor.data;
}

static int are_close(const float* a, const float* b) {
  for (int i = 0; i < kClasses; ++i) {
    if (!(fabsf(a[i] - b[i]) <= 1e-4f * (1 + fabsf(b[i])))) return 0;
  }
  return 1;
}

static sx_batcher* made(sx_session* session, const sx_batcher_options* options) {
  sx_batcher* batcher = NULL;
  EXPECT(sx_batcher_create(session, options, &batcher) == SX_OK);
  return batcher;
}

static sx_batcher_options defaults(void) {
  sx_batcher_options options;
  EXPECT(sx_batcher_options_init(&options, sizeof options) == SX_OK);
  return options;
}

static sx_batcher_stats stats_of(const sx_batcher* batcher) {
  sx_batcher_stats stats;
  stats.struct_size = sizeof stats;
  EXPECT(sx_batcher_get_stats(batcher, &stats) == SX_OK);
  return stats;
}

static void test_arguments(sx_session* session) {
  sx_batcher_options options = defaults();
  sx_batcher* batcher = NULL;
  sx_value* output = NULL;
  const int64_t sizes[1] = {9};
  EXPECT(sx_batcher_create(NULL, NULL, &batcher) == SX_INVALID_ARGUMENT);
  EXPECT(sx_batcher_create(session, NULL, NULL) == SX_INVALID_ARGUMENT);
  options.max_batch_size = -1;
  EXPECT(sx_batcher_create(session, &options, &batcher) == SX_INVALID_ARGUMENT);
  EXPECT(strstr(sx_last_error(), "max_batch_size") != NULL);
  options.max_batch_size = 8;
  options.preferred_sizes = sizes;
  options.preferred_count = 1;
  EXPECT(sx_batcher_create(session, &options, &batcher) == SX_INVALID_ARGUMENT);
  options.preferred_count = 0;
  options.padding = "nonsense=0";
  EXPECT(sx_batcher_create(session, &options, &batcher) == SX_INVALID_ARGUMENT);
  EXPECT(strstr(sx_last_error(), "nonsense") != NULL);
  EXPECT(batcher == NULL);
  options.struct_size = 4;
  EXPECT(sx_batcher_create(session, &options, &batcher) == SX_INVALID_ARGUMENT);

  batcher = made(session, NULL);
  sx_value* input = image(1, 0);
  const sx_value* inputs[2] = {input, input};
  const size_t wrong = 7;
  sx_request_options asked;
  EXPECT(sx_batcher_submit(batcher, inputs, 2, NULL, tell, NULL, NULL) == SX_INVALID_ARGUMENT);
  EXPECT(sx_batcher_submit(batcher, inputs, 1, NULL, NULL, NULL, NULL) == SX_INVALID_ARGUMENT);
  EXPECT(sx_batcher_run(batcher, inputs, 1, NULL, &output, 2) == SX_INVALID_ARGUMENT);
  EXPECT(sx_request_options_init(&asked, sizeof asked) == SX_OK);
  asked.outputs = &wrong;
  asked.output_count = 1;
  EXPECT(sx_batcher_run(batcher, inputs, 1, &asked, &output, 1) == SX_INVALID_ARGUMENT);
  inputs[0] = NULL;
  EXPECT(sx_batcher_run(batcher, inputs, 1, NULL, &output, 1) == SX_INVALID_ARGUMENT);
  EXPECT(output == NULL);
  EXPECT(stats_of(batcher).pending == 0);
  sx_value_destroy(input);
  sx_batcher_destroy(batcher);
  sx_batcher_destroy(NULL);
  sx_request_cancel(NULL);
  sx_request_destroy(NULL);
  sx_admission_destroy(NULL);
}

/* What the model refuses, a request is told of, and others are not. */
static void test_wrong_shapes(sx_session* session) {
  char message[200] = "";
  const int64_t dims[2] = {1, 3};
  const float data[3] = {1, 2, 3};
  sx_value *input = NULL, *output = NULL;
  sx_error error;
  sx_request_options options;
  sx_batcher* batcher = made(session, NULL);
  memset(&error, 0, sizeof error);
  error.struct_size = sizeof error;
  error.message = message;
  error.message_size = sizeof message;
  EXPECT(sx_request_options_init(&options, sizeof options) == SX_OK);
  options.error = &error;
  EXPECT(sx_value_create_tensor(SX_FLOAT, dims, 2, data, sizeof data, &input) == SX_OK);
  const sx_value* wrong = input;
  EXPECT(sx_batcher_run(batcher, &wrong, 1, &options, &output, 1) == SX_INVALID_ARGUMENT);
  EXPECT(error.status == SX_INVALID_ARGUMENT && strlen(message) > 10);
  EXPECT(stats_of(batcher).failed == 1);
  sx_value_destroy(input);
  sx_batcher_destroy(batcher);
}

static void test_joint_runs(sx_session* session) {
  const int64_t sizes[1] = {4};
  sx_batcher_options options = defaults();
  options.max_batch_size = 8;
  options.preferred_sizes = sizes;
  options.preferred_count = 1;
  options.wait_for_delay = 1;
  options.max_delay_us = 60 * 1000000;
  sx_batcher* batcher = made(session, &options);
  sx_batcher* alone = made(session, NULL);
  outcome outcomes[4];
  sx_value* inputs[4];
  for (int i = 0; i < 4; ++i) {
    begin_outcome(&outcomes[i], NULL);
    inputs[i] = image(1, i);
    EXPECT(submit(batcher, inputs[i], 0, &outcomes[i], NULL) == SX_OK);
  }
  for (int i = 0; i < 4; ++i) {
    sx_value* single = NULL;
    const sx_value* input = inputs[i];
    EXPECT(status_of(&outcomes[i]) == SX_OK);
    EXPECT(outcomes[i].run_ns > 0);
    EXPECT(sx_batcher_run(alone, &input, 1, NULL, &single, 1) == SX_OK);
    EXPECT(are_close(scores_of(outcomes[i].output, 1), scores_of(single, 1)));
    sx_value_destroy(single);
    sx_value_destroy(inputs[i]);
    end_outcome(&outcomes[i]);
  }
  EXPECT(stats_of(batcher).runs == 1 && stats_of(batcher).items == 4);
  EXPECT(stats_of(alone).runs == 4 && stats_of(alone).succeeded == 4);
  sx_batcher_destroy(batcher);
  sx_batcher_destroy(alone);
}

/* While the first one's callback holds the only instance, others wait: they are cancelled, come too
 * late, find the queue full, and are refused at the end. */
static void test_queue(sx_session* session) {
  sem_t gate;
  outcome first, second, third, fourth, fifth;
  sx_request *request = NULL, *last = NULL;
  sx_value* input = image(1, 1);
  sx_batcher_options options = defaults();
  options.max_queue_size = 2;
  sx_batcher* batcher = made(session, &options);
  sem_init(&gate, 0, 0);
  begin_outcome(&first, &gate);
  begin_outcome(&second, NULL);
  begin_outcome(&third, NULL);
  begin_outcome(&fourth, NULL);
  begin_outcome(&fifth, NULL);
  EXPECT(submit(batcher, input, 0, &first, NULL) == SX_OK);
  EXPECT(status_of(&first) == SX_OK);
  EXPECT(submit(batcher, input, 0, &second, &request) == SX_OK);
  EXPECT(submit(batcher, input, 300000, &third, NULL) == SX_OK);
  EXPECT(submit(batcher, input, 0, &fourth, NULL) == SX_OK);
  EXPECT(status_of(&fourth) == SX_RESOURCE_EXHAUSTED);
  EXPECT(strstr(fourth.message, "queue") != NULL);
  EXPECT(stats_of(batcher).waiting <= 2);
  EXPECT(status_of(&third) == SX_DEADLINE_EXCEEDED);
  sx_request_cancel(request);
  sx_request_cancel(request);
  EXPECT(status_of(&second) == SX_CANCELLED);
  EXPECT(submit(batcher, input, 0, &fifth, &last) == SX_OK);
  EXPECT(stats_of(batcher).waiting == 1);
  EXPECT(stats_of(batcher).rejected == 2 && stats_of(batcher).cancelled == 1);
  sem_post(&gate);
  EXPECT(status_of(&fifth) == SX_OK);
  sx_batcher_destroy(batcher);
  /* A handle may be there for longer. */
  sx_request_cancel(last);
  sx_request_destroy(last);
  sx_request_destroy(request);
  sx_value_destroy(input);
  end_outcome(&first);
  end_outcome(&second);
  end_outcome(&third);
  end_outcome(&fourth);
  end_outcome(&fifth);
  sem_destroy(&gate);
}

static void* destroy(void* batcher) {
  sx_batcher_destroy(batcher);
  return NULL;
}

static void test_end(sx_session* session) {
  sem_t gate;
  outcome first, second;
  pthread_t thread;
  sx_value* input = image(1, 1);
  sx_batcher* batcher = made(session, NULL);
  sem_init(&gate, 0, 0);
  begin_outcome(&first, &gate);
  begin_outcome(&second, NULL);
  EXPECT(submit(batcher, input, 0, &first, NULL) == SX_OK);
  EXPECT(status_of(&first) == SX_OK);
  EXPECT(submit(batcher, input, 0, &second, NULL) == SX_OK);
  EXPECT(pthread_create(&thread, NULL, destroy, batcher) == 0);
  EXPECT(status_of(&second) == SX_CANCELLED);
  sem_post(&gate);
  pthread_join(thread, NULL);
  sx_value_destroy(input);
  end_outcome(&first);
  end_outcome(&second);
  sem_destroy(&gate);
}

/* A callback that has its batcher destroyed, once `gate` is posted. */
typedef struct ending {
  sx_batcher* batcher;
  const sx_value* input;
  sem_t gate;
  sem_t told;
  sx_status run;
} ending;

static void end_batcher(void* user, const sx_answer* answer) {
  ending* self = user;
  sx_value* output = NULL;
  (void)answer;
  sem_wait(&self->gate);
  self->run = sx_batcher_run(self->batcher, &self->input, 1, NULL, &output, 1);
  sx_batcher_destroy(self->batcher);
  sem_post(&self->told);
}

/* By the thread that ran the model; by one that submits or cancels; what waits is refused. */
static void test_end_by_callback(sx_session* session) {
  enum { kRun, kRunHere, kCancel, kWays };
  /* The callback that is held returns when nobody knows. */
  static outcome all_held[kWays];
  static sem_t gates[kWays];
  sx_value* input = image(1, 1);
  for (int way = kRun; way < kWays; ++way) {
    outcome waits;
    outcome* const held = &all_held[way];
    sem_t* const gate = &gates[way];
    sx_value* output = NULL;
    sx_request* request = NULL;
    sx_request_options options;
    sx_batcher_options how = defaults();
    ending end;
    how.inline_below_us = 1000000;
    end.batcher = made(session, &how);
    end.input = input;
    end.run = SX_OK;
    sem_init(&end.gate, 0, way == kRun ? 0 : 1);
    sem_init(&end.told, 0, 0);
    sem_init(gate, 0, 0);
    begin_outcome(held, gate);
    begin_outcome(&waits, NULL);
    EXPECT(sx_request_options_init(&options, sizeof options) == SX_OK);
    options.may_run_here = way == kRunHere;
    EXPECT(sx_batcher_run(end.batcher, &end.input, 1, NULL, &output, 1) == SX_OK);
    if (way == kCancel) {
      EXPECT(submit(end.batcher, input, 0, held, NULL) == SX_OK);
      EXPECT(status_of(held) == SX_OK);
    }
    EXPECT(sx_batcher_submit(end.batcher, &end.input, 1, &options, end_batcher, &end, &request) ==
           SX_OK);
    if (way != kRunHere) EXPECT(submit(end.batcher, input, 0, &waits, NULL) == SX_OK);
    if (way == kRun) sem_post(&end.gate);
    if (way == kCancel) sx_request_cancel(request);
    sem_wait(&end.told);
    EXPECT(end.run == SX_INVALID_ARGUMENT);
    if (way != kRunHere) EXPECT(status_of(&waits) == SX_CANCELLED);
    sem_post(gate);
    sx_request_destroy(request);
    sx_value_destroy(output);
    sx_value_destroy(held->output);
    end_outcome(&waits);
    sem_destroy(&end.gate);
    sem_destroy(&end.told);
  }
  sx_value_destroy(input);
}

static void test_admission(sx_session* session) {
  sx_admission* admission = NULL;
  sx_value* output = NULL;
  sx_batcher_options options = defaults();
  EXPECT(sx_admission_create(1, &admission) == SX_OK);
  options.admission = admission;
  sx_batcher* batcher = made(session, &options);
  sx_admission_destroy(admission);
  sx_value* input = image(512, 1);
  const sx_value* given = input;
  EXPECT(sx_batcher_run(batcher, &given, 1, NULL, &output, 1) == SX_RESOURCE_EXHAUSTED);
  EXPECT(strstr(sx_last_error(), "MiB") != NULL);
  EXPECT(output == NULL);
  sx_batcher_destroy(batcher);
  EXPECT(sx_admission_create(0, &admission) == SX_OK);
  options.admission = admission;
  batcher = made(session, &options);
  EXPECT(sx_batcher_run(batcher, &given, 1, NULL, &output, 1) == SX_OK);
  scores_of(output, 512);
  sx_value_destroy(output);
  sx_value_destroy(input);
  sx_batcher_destroy(batcher);
  sx_admission_destroy(admission);
}

typedef struct client {
  sx_batcher* batcher;
  sx_batcher* alone;
  int seed;
  int wrong;
} client;

static void* ask_often(void* argument) {
  client* self = argument;
  for (int i = 0; i < kRequests; ++i) {
    sx_value *output = NULL, *single = NULL;
    sx_value* input = image(1 + i % 3, self->seed + i);
    const sx_value* given = input;
    if (sx_batcher_run(self->batcher, &given, 1, NULL, &output, 1) != SX_OK ||
        sx_batcher_run(self->alone, &given, 1, NULL, &single, 1) != SX_OK ||
        !are_close(scores_of(output, 1 + i % 3), scores_of(single, 1 + i % 3)))
      ++self->wrong;
    sx_value_destroy(output);
    sx_value_destroy(single);
    sx_value_destroy(input);
  }
  return NULL;
}

static void test_many_threads(sx_session* session) {
  enum { kThreads = 4 };
  pthread_t threads[kThreads];
  client clients[kThreads];
  sx_batcher_options options = defaults();
  options.max_batch_size = 16;
  options.inline_below_us = -1;
  sx_batcher* batcher = made(session, &options);
  sx_batcher* alone = made(session, NULL);
  for (int i = 0; i < kThreads; ++i) {
    const client one = {batcher, alone, 1000 * i, 0};
    clients[i] = one;
    EXPECT(pthread_create(&threads[i], NULL, ask_often, &clients[i]) == 0);
  }
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    EXPECT(clients[i].wrong == 0);
  }
  EXPECT(stats_of(batcher).succeeded == kThreads * kRequests);
  EXPECT(stats_of(batcher).pending == 0);
  sx_batcher_destroy(batcher);
  sx_batcher_destroy(alone);
}

int main(int argc, char** argv) {
  sx_session* session = NULL;
  if (argc != 2) return 2;
  if (sx_session_create(argv[1], NULL, &session) != SX_OK) {
    fprintf(stderr, "%s\n", sx_last_error());
    return 1;
  }
  test_arguments(session);
  test_wrong_shapes(session);
  test_joint_runs(session);
  test_queue(session);
  test_end(session);
  test_end_by_callback(session);
  test_admission(session);
  /* A batcher outlives the session's handle. */
  sx_batcher* batcher = made(session, NULL);
  test_many_threads(session);
  sx_session_destroy(session);
  sx_value *input = image(1, 5), *output = NULL;
  const sx_value* given = input;
  EXPECT(sx_batcher_run(batcher, &given, 1, NULL, &output, 1) == SX_OK);
  sx_value_destroy(output);
  sx_value_destroy(input);
  sx_batcher_destroy(batcher);
  if (failures == 0) printf("ok\n");
  return failures == 0 ? 0 : 1;
}
