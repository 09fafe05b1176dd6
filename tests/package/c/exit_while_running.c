/* exit_while_running MODEL MICROSECONDS: two threads load, two load and run, over and over; after
 * so long the program returns from main. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "run_model.h"

static const char* model;

static void* load(void* unused) {
  for (;;) {
    sx_session* session = NULL;
    sx_session_create(model, NULL, &session);
    sx_session_destroy(session);
  }
  return unused;
}

static void* run(void* unused) {
  for (;;)
    run_model(model, NULL);
  return unused;
}

int main(int argc, char** argv) {
  int i;
  if (argc < 3) return 2;
  model = argv[1];
  for (i = 0; i < 4; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, i % 2 ? run : load, NULL) != 0) return 3;
  }
  usleep((useconds_t)atoi(argv[2]));
  return 0;
}
