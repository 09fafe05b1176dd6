/* processes MODEL TIMES: what servers do with processes and threads, each so many times, with a
 * model of an input [1, 1, 28, 28]. Forked children run a session of their parent's, and one of
 * their own; a process ends while its threads load and run; many threads run at once where the
 * system may give no further ones. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sardonyx/sardonyx.h"

enum { kThreads = 16, kClasses = 10 };

static const char* model;
static sx_session* shared;
static float expected[kClasses];

static sx_session* opened(void) {
  sx_session_options options;
  sx_session* session = NULL;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.threads = 2;
  return sx_session_create(model, &options, &session) == SX_OK ? session : NULL;
}

/* Runs once; returns 0 where the first outputs are the parent's, bit by bit. `keep` is where they
 * go instead if it is not NULL. */
static int run(sx_session* session, float* keep) {
  static const int64_t dims[4] = {1, 1, 28, 28};
  float pixels[28 * 28];
  sx_binding* binding = NULL;
  sx_tensor output;
  int i, failed = 1;
  for (i = 0; i < 28 * 28; ++i)
    pixels[i] = (float)(i % 17) / 16.0f;
  memset(&output, 0, sizeof output);
  output.struct_size = sizeof output;
  if (sx_binding_create(session, &binding) == SX_OK &&
      sx_binding_set_input(binding, 0, SX_FLOAT, dims, 4, pixels, sizeof pixels) == SX_OK &&
      sx_binding_run(binding, NULL) == SX_OK && sx_binding_output(binding, 0, &output) == SX_OK &&
      output.size >= sizeof expected) {
    if (keep) memcpy(keep, output.data, sizeof expected);
    failed = !keep && memcmp(output.data, expected, sizeof expected) != 0;
  } else {
    fprintf(stderr, "%s\n", sx_last_error());
  }
  sx_binding_destroy(binding);
  return failed;
}

/* How a child ends that does `work`: 0 where it returns 0 within a minute. */
static int child(int (*work)(void)) {
  int status = -1;
  pid_t id;
  fflush(NULL); /* or the child says it once more */
  id = fork();
  if (id == 0) {
    alarm(60);
    exit(work());
  }
  return id < 0 || waitpid(id, &status, 0) != id || status != 0;
}

static int run_in_child(void) {
  sx_session* own = opened();
  const int failed = run(shared, NULL) || !own || run(own, NULL);
  sx_session_destroy(own);
  return failed;
}

static void* load_and_run(void* unused) {
  for (;;) {
    sx_session* own = opened();
    run(shared, NULL);
    sx_session_destroy(own);
  }
  return unused;
}

static int end_amid_work(void) {
  pthread_t threads[4];
  int i;
  for (i = 0; i < 4; ++i) {
    if (pthread_create(&threads[i], NULL, load_and_run, NULL) != 0) return 1;
  }
  usleep((useconds_t)(getpid() % 20) * 1000);
  return 0; /* exit(), with all of them at it */
}

static void* request(void* failures) {
  int i;
  for (i = 0; i < 20; ++i)
    *(int*)failures += run(shared, NULL);
  return NULL;
}

static int requests(void) {
  pthread_t threads[kThreads];
  int failures[kThreads] = {0}, i, started, failed = 0;
  for (started = 0; started < kThreads; ++started) {
    if (pthread_create(&threads[started], NULL, request, &failures[started]) != 0) break;
  }
  if (started < kThreads) request(&failures[started]); /* no further thread to be had */
  for (i = 0; i < started; ++i)
    pthread_join(threads[i], NULL);
  for (i = 0; i < kThreads; ++i)
    failed += failures[i];
  return failed != 0;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int (*work)(void);
  } kinds[] = {{"runs in forked children", run_in_child},
               {"exits amid loads and runs", end_amid_work},
               {"16 threads at once", requests}};
  size_t kind;
  int failed = 0;
  if (argc < 3) return fprintf(stderr, "usage: processes MODEL TIMES\n"), 2;
  model = argv[1];
  shared = opened();
  if (!shared || run(shared, expected)) return fprintf(stderr, "%s\n", sx_last_error()), 1;
  for (kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
    int i, bad = 0;
    for (i = 0; i < atoi(argv[2]); ++i)
      bad += child(kinds[kind].work);
    printf("%s: %d of %s\n", kinds[kind].name, atoi(argv[2]) - bad, argv[2]);
    failed += bad;
  }
  sx_session_destroy(shared);
  return failed != 0;
}
