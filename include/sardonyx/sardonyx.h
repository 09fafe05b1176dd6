/* Runs ONNX models: the C interface of sardonyx, and the only one that the shared library exports.
 *
 * Every function that can fail returns a status; what went wrong is then told by sx_last_error() in
 * the same thread. Nothing is thrown and nothing aborts. Structs begin with their size as the
 * caller compiled it, so that fields may be added at their ends. A session may be used by many
 * threads at once; a binding by one at a time.
 */
#ifndef SARDONYX_SARDONYX_H_
#define SARDONYX_SARDONYX_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SX_API __attribute__((visibility("default")))
#else
#define SX_API
#endif

/* Any int is a value of an enumeration in C; C++ has to be told. */
#ifdef __cplusplus
#define SX_INT : int
extern "C" {
#else
#define SX_INT
#endif

typedef enum sx_status SX_INT {
  SX_OK = 0,
  SX_INVALID_ARGUMENT = 1,   /* names, types, shapes or options that do not fit */
  SX_INVALID_MODEL = 2,      /* the file breaks the ONNX specification */
  SX_UNSUPPORTED = 3,        /* valid, but this build cannot do it */
  SX_RESOURCE_EXHAUSTED = 4, /* a limit on memory, size or depth was reached */
  SX_CANCELLED = 5,
  SX_DEADLINE_EXCEEDED = 6,
  SX_INTERNAL = 7 /* a defect of sardonyx */
} sx_status;

/* Types of elements, with the numbers of ONNX's TensorProto.DataType. Those of less than a byte are
 * packed, the first element in the lowest bits. */
typedef enum sx_dtype SX_INT {
  SX_UNDEFINED = 0,
  SX_FLOAT = 1,
  SX_UINT8 = 2,
  SX_INT8 = 3,
  SX_UINT16 = 4,
  SX_INT16 = 5,
  SX_INT32 = 6,
  SX_INT64 = 7,
  SX_STRING = 8,
  SX_BOOL = 9,
  SX_FLOAT16 = 10,
  SX_DOUBLE = 11,
  SX_UINT32 = 12,
  SX_UINT64 = 13,
  SX_COMPLEX64 = 14,
  SX_COMPLEX128 = 15,
  SX_BFLOAT16 = 16,
  SX_FLOAT8E4M3FN = 17,
  SX_FLOAT8E4M3FNUZ = 18,
  SX_FLOAT8E5M2 = 19,
  SX_FLOAT8E5M2FNUZ = 20,
  SX_UINT4 = 21,
  SX_INT4 = 22,
  SX_FLOAT4E2M1 = 23,
  SX_FLOAT8E8M0 = 24,
  SX_UINT2 = 25,
  SX_INT2 = 26
} sx_dtype;

typedef struct sx_session sx_session;
typedef struct sx_binding sx_binding;
typedef struct sx_cancellation sx_cancellation;

/* "0.1.0" */
SX_API const char* sx_version(void);
/* "invalid argument" ...; "unknown status" for other numbers. */
SX_API const char* sx_status_name(sx_status status);
/* What the last call in this thread that failed has to say; "" before the first. Valid until the
 * next failure. Cut off after 4,000 bytes. */
SX_API const char* sx_last_error(void);
/* The name of the node it concerns; "" where there is none. */
SX_API const char* sx_last_error_node(void);

/* ---- Sessions */

typedef struct sx_session_options {
  size_t struct_size;
  int32_t threads;            /* of one run; 0: SARDONYX_NUM_THREADS, OMP_NUM_THREADS, all CPUs */
  int32_t optimization_level; /* 0: no rewriting; 1: clean-ups; 2: and fusions (default) */
  uint64_t memory_limit;      /* bytes that weights and runs may take together */
  uint64_t max_plans;         /* plans kept, one for each set of input shapes */
  int64_t load_deadline_ms;   /* 0: none */
  const char* providers;      /* "onednn,cpu": kernels are asked for in this order; NULL: that */
  const char* allowed_root;   /* folder beneath which external data may lie; NULL: the model's */
  int32_t bfloat16;           /* 1: heavy operators may compute in bfloat16 */
  const char* plan_cache;     /* file that keeps packed weights for the next session; NULL: none */
} sx_session_options;

/* Fills in the defaults. `struct_size` is sizeof(sx_session_options). */
SX_API sx_status sx_session_options_init(sx_session_options* options, size_t struct_size);

/* `options` may be NULL. On failure *session is NULL. */
SX_API sx_status sx_session_create(const char* path, const sx_session_options* options,
                                   sx_session** session);
/* From the bytes of a file, which are not needed afterwards. */
SX_API sx_status sx_session_create_from_bytes(const void* bytes, size_t size,
                                              const sx_session_options* options,
                                              sx_session** session);
/* NULL is allowed. Its bindings must be destroyed before. */
SX_API void sx_session_destroy(sx_session* session);

typedef enum sx_kind SX_INT {
  SX_TENSOR = 1,
  SX_SPARSE_TENSOR = 2,
  SX_SEQUENCE = 3,
  SX_OPTIONAL = 4,
  SX_MAP = 5,
  SX_OTHER = 6
} sx_kind;

/* What the pointers point at lives as long as the session. */
typedef struct sx_value_info {
  size_t struct_size;
  const char* name;
  const char* type;             /* "float[batch, 3, 224, 224]" */
  int32_t kind;                 /* an sx_kind */
  int32_t dtype;                /* of a tensor's elements: an sx_dtype */
  int32_t rank;                 /* of a tensor; -1: not known */
  int32_t is_optional;          /* of an input: the model has a default for it */
  const int64_t* dims;          /* `rank` of them; -1: decided by each run */
  const char* const* dim_names; /* `rank` of them: "batch", "2*n"; NULL for known dims */
} sx_value_info;

/* Inputs that a run must be given come first, then those that have a default. */
SX_API size_t sx_session_input_count(const sx_session* session);
SX_API size_t sx_session_output_count(const sx_session* session);
/* `info->struct_size` must be set. */
SX_API sx_status sx_session_input(const sx_session* session, size_t index, sx_value_info* info);
SX_API sx_status sx_session_output(const sx_session* session, size_t index, sx_value_info* info);
SX_API sx_status sx_session_find_input(const sx_session* session, const char* name, size_t* index);
SX_API sx_status sx_session_find_output(const sx_session* session, const char* name, size_t* index);

typedef struct sx_stats {
  size_t struct_size;
  uint64_t plans;
  uint64_t memory_used, memory_peak; /* bytes of weights and buffers */
  uint64_t packed_weight_bytes;
} sx_stats;
SX_API sx_status sx_session_stats(const sx_session* session, sx_stats* stats);
/* Gives back memory that idle runs have left behind. */
SX_API sx_status sx_session_trim(sx_session* session);

/* ---- Runs */

/* The inputs and outputs of runs: set once, used any number of times. */
SX_API sx_status sx_binding_create(sx_session* session, sx_binding** binding);
SX_API void sx_binding_destroy(sx_binding* binding);

/* Binds memory of the caller's, which is read by each run and must stay until another is bound or
 * the binding is destroyed. `size` is in bytes and must be what the type and dims need. Types and
 * shapes are compared with the model's when it runs. Not for strings. */
SX_API sx_status sx_binding_set_input(sx_binding* binding, size_t index, sx_dtype dtype,
                                      const int64_t* dims, size_t rank, const void* data,
                                      size_t size);
/* Copies strings: `strings` has as many elements as the dims say. `lengths` in bytes; NULL: each
 * ends with a zero. */
SX_API sx_status sx_binding_set_string_input(sx_binding* binding, size_t index, const int64_t* dims,
                                             size_t rank, const char* const* strings,
                                             const size_t* lengths);
/* Makes an optional input take its default again. */
SX_API sx_status sx_binding_clear_input(sx_binding* binding, size_t index);
/* Binds memory that runs write the output into if it comes with this type and these dims; where it
 * does not, it is put into memory of the library's. With all outputs bound and the shapes as the
 * run before, a run allocates nothing. It may be the memory of an input, which is then overwritten:
 * a cache that TensorScatter writes to, or that Concat appends to, stays where it is and is not
 * copied if both begin at one place. */
SX_API sx_status sx_binding_set_output(sx_binding* binding, size_t index, sx_dtype dtype,
                                       const int64_t* dims, size_t rank, void* data, size_t size);
/* Leaves the output to the library again. */
SX_API sx_status sx_binding_clear_output(sx_binding* binding, size_t index);

typedef struct sx_run_options {
  size_t struct_size;
  int64_t deadline_ms;           /* from the start of the run; 0: none */
  sx_cancellation* cancellation; /* may be NULL */
} sx_run_options;
SX_API sx_status sx_run_options_init(sx_run_options* options, size_t struct_size);

/* Runs with what is bound. After a failure the session and the binding are as usable as before.
 * `options` may be NULL. */
SX_API sx_status sx_binding_run(sx_binding* binding, const sx_run_options* options);

typedef struct sx_tensor {
  size_t struct_size;
  int32_t dtype; /* an sx_dtype */
  int32_t rank;
  const int64_t* dims;
  const void* data; /* NULL for strings: see sx_binding_output_string */
  size_t size;      /* in bytes */
} sx_tensor;

/* An output of the last run; valid until the next run or change of the binding. SX_UNSUPPORTED for
 * outputs that are no tensors. */
SX_API sx_status sx_binding_output(const sx_binding* binding, size_t index, sx_tensor* tensor);
/* Element `element` of an output of strings, which may contain zeros. */
SX_API sx_status sx_binding_output_string(const sx_binding* binding, size_t index, size_t element,
                                          const char** string, size_t* length);

/* Stops the runs that were given it, from any thread, at their next step; for good. */
SX_API sx_status sx_cancellation_create(sx_cancellation** cancellation);
SX_API void sx_cancellation_request(sx_cancellation* cancellation);
SX_API void sx_cancellation_destroy(sx_cancellation* cancellation);

#ifdef __cplusplus
}
#endif

#endif /* SARDONYX_SARDONYX_H_ */
