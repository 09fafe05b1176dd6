/* Queues, dynamic batching and admission for programs that serve models: requests of many clients
 * are run on a session, several at once where the model has a batch dim. A part of the C interface,
 * in the same library; what sardonyx.h says of statuses, structs and values holds here.
 * docs/c-api.md has an example. Batchers and admissions may be used by many threads at once. */
#ifndef SARDONYX_BATCHING_H_
#define SARDONYX_BATCHING_H_

#include "sardonyx/sardonyx.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sx_admission sx_admission;
typedef struct sx_batcher sx_batcher;
typedef struct sx_request sx_request;

/* ---- Admission */

/* What the sessions of some batchers and their runs may take in all, in bytes; 0: nine tenths of
 * what the container or the machine has. A run whose plan asks for more than is left is refused
 * with SX_RESOURCE_EXHAUSTED instead of begun. */
SX_API sx_status sx_admission_create(uint64_t memory_limit, sx_admission** admission);
/* Batchers that were given it keep what they need. NULL is allowed. */
SX_API void sx_admission_destroy(sx_admission* admission);

/* ---- Batchers */

typedef struct sx_batcher_options {
  size_t struct_size;
  /* Items that a dynamic batch has at most, counted by the first dim, which all inputs and outputs
   * of the model must leave open; a larger request runs alone. 0: no dynamic batching. */
  int64_t max_batch_size;
  const int64_t* preferred_sizes; /* a run takes the largest of these that requests add up to */
  size_t preferred_count;
  int64_t max_delay_us;   /* with wait_for_delay: how long a request waits for others to join it */
  int32_t wait_for_delay; /* 0: nothing waits while an instance is idle */
  int32_t preserve_order; /* 1: answers come in the order of requests */
  int32_t deterministic;  /* 1: an answer does not depend on its neighbours, to the last bit: the
                             requests of a batch are run one by one */
  int32_t instances;      /* runs at the same time; 0: 1 */
  /* "ids=0, mask=0": requests whose lengths, the open dims of these inputs, are less than twice
   * each other run as one batch, shorter ones padded with the number. The model must ignore what is
   * padded. NULL: requests that run as one batch are of one shape. */
  const char* padding;
  uint64_t max_queue_size;    /* of a priority; what comes to a full one is refused; 0: no limit */
  int64_t default_timeout_us; /* ends the wait, and no run; 0: none */
  int32_t allow_timeout_override; /* 1: a request's own timeout counts where it is shorter */
  int32_t delay_after_timeout;    /* 1: what is late is served last instead of refused */
  uint32_t priority_levels;       /* 0: all requests are alike */
  uint32_t default_priority;      /* of requests without one: 1 is the first; 0: the last */
  int64_t inline_below_us; /* a run that takes less may be made by the thread that submits it, where
                              the request allows that; 0: 200; -1: none */
  sx_admission* admission; /* NULL: runs are not refused for the memory that they need */
} sx_batcher_options;
/* Fills in the defaults, which are zeros. */
SX_API sx_status sx_batcher_options_init(sx_batcher_options* options, size_t struct_size);

/* Keeps what it needs of the session. `options` may be NULL. */
SX_API sx_status sx_batcher_create(sx_session* session, const sx_batcher_options* options,
                                   sx_batcher** batcher);
/* Refuses what waits with SX_CANCELLED and waits for what runs. Where a callback calls it, of this
 * batcher or of another one, a thread of its own waits. NULL is allowed. */
SX_API void sx_batcher_destroy(sx_batcher* batcher);

/* ---- Requests */

typedef struct sx_request_options {
  size_t struct_size;
  int64_t timeout_us;    /* ends the wait and the run, as far as the batcher allows one; 0: none */
  uint32_t priority;     /* 1 is the first to be served; 0: the batcher's default */
  int32_t may_run_here;  /* 1: a quick model may be run by the thread that submits */
  const size_t* outputs; /* indices of those that are wanted; NULL: all */
  size_t output_count;
  sx_error* error; /* of sx_batcher_run and of refusals by sx_batcher_submit; NULL: nobody */
} sx_request_options;
SX_API sx_status sx_request_options_init(sx_request_options* options, size_t struct_size);

typedef struct sx_answer {
  size_t struct_size;
  const sx_error* error;          /* its status is SX_OK where all went well */
  const sx_value* const* outputs; /* in the model's order; NULL: was not asked for, or has failed */
  size_t output_count;
  int64_t queue_ns; /* how long it waited */
  int64_t run_ns;   /* how long the run took that it had part in */
} sx_answer;

/* Called once for each request that was taken, in any thread, perhaps before sx_batcher_submit
 * returns; should be short, for it holds up the next run. The answer is there during the call;
 * sx_value_share keeps an output. */
typedef void (*sx_answer_callback)(void* user, const sx_answer* answer);

/* Inputs in the order of the session's, all of them tensors, which are shared; those that have a
 * default may all be left out, or NULL. `count` is the number of required inputs, or of all. Where
 * this fails nothing was begun, and the callback is not called; a full queue, a batch that does not
 * fit and whatever the run has to say are told to the callback. `request` may be NULL. */
SX_API sx_status sx_batcher_submit(sx_batcher* batcher, const sx_value* const* inputs, size_t count,
                                   const sx_request_options* options, sx_answer_callback callback,
                                   void* user, sx_request** request);
/* Ends a request with SX_CANCELLED unless it is done; its run is stopped where no other request has
 * part in it. NULL is allowed. */
SX_API void sx_request_cancel(sx_request* request);
/* The request itself goes on. NULL is allowed. */
SX_API void sx_request_destroy(sx_request* request);

/* Waits for the answer; refused in a callback of the same batcher, for which the next run waits.
 * `outputs` has a place for each output of
 * the model: handles of the caller's, NULL for those that were not asked for, and for all where it
 * fails. */
SX_API sx_status sx_batcher_run(sx_batcher* batcher, const sx_value* const* inputs, size_t count,
                                const sx_request_options* options, sx_value** outputs,
                                size_t output_count);

typedef struct sx_batcher_stats {
  size_t struct_size;
  uint64_t succeeded, rejected, cancelled, failed; /* requests that are done */
  uint64_t pending;                                /* requests that wait or run */
  uint64_t waiting;                                /* of these */
  uint64_t items;                                  /* of batches that were computed */
  uint64_t runs;                                   /* joint ones counted once */
  uint64_t request_ns, queue_ns, run_ns;           /* sums over requests that succeeded */
} sx_batcher_stats;
/* Counted from the batcher's beginning on. `stats->struct_size` must be set. */
SX_API sx_status sx_batcher_get_stats(const sx_batcher* batcher, sx_batcher_stats* stats);

#ifdef __cplusplus
}
#endif

#endif /* SARDONYX_BATCHING_H_ */
