/* Runs ONNX models: the C interface of sardonyx, and the only one that the shared library exports.
 * docs/c-api.md has examples; sardonyx.hpp beside this file is the same for C++17.
 *
 * Every function that can fail returns a status; what went wrong is then told by sx_last_error() in
 * the same thread, and in an sx_error of the caller's where options name one. Nothing is thrown and
 * nothing aborts. Structs begin with their size as the caller compiled it, so that fields may be
 * added at their ends; a field that is zero asks for the default. Functions that make something
 * leave NULL in its place where they fail. Sessions, values and cancellations may be used by many
 * threads at once; bindings and profiles by one at a time.
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
  SX_INVALID_ARGUMENT = 1,   /* names, types, shapes, values or options that do not fit */
  SX_INVALID_MODEL = 2,      /* the file breaks the ONNX specification: told when it is loaded */
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

typedef enum sx_kind SX_INT {
  SX_TENSOR = 1,
  SX_SPARSE_TENSOR = 2,
  SX_SEQUENCE = 3,
  SX_OPTIONAL = 4,
  SX_MAP = 5,
  SX_OTHER = 6
} sx_kind;

typedef struct sx_session sx_session;
typedef struct sx_binding sx_binding;
typedef struct sx_value sx_value;
typedef struct sx_cancellation sx_cancellation;
typedef struct sx_profile sx_profile;

/* "0.1.0" */
SX_API const char* sx_version(void);
/* "invalid argument" ...; "unknown status" for other numbers. */
SX_API const char* sx_status_name(sx_status status);
/* What the last call in this thread that failed has to say; "" before the first. Valid until the
 * next failure. Cut off after 4,000 bytes. */
SX_API const char* sx_last_error(void);
/* The name of the node it concerns; "" where there is none. */
SX_API const char* sx_last_error_node(void);

/* What went wrong, in memory of the caller's, for those whose work moves from thread to thread. */
typedef struct sx_error {
  size_t struct_size;
  int32_t status;      /* an sx_status; SX_OK with empty texts where all went well */
  int32_t reserved;    /* 0 */
  char* message;       /* texts are cut off to fit and end with a zero; NULL: not wanted */
  size_t message_size; /* bytes at `message`, the zero included */
  char* node;
  size_t node_size;
} sx_error;

/* Copies what sx_last_error() and sx_last_error_node() say in this thread, with its status.
 * `error->struct_size` and the places for texts must be set. */
SX_API sx_status sx_copy_last_error(sx_error* error);

/* ---- Values
 *
 * A tensor, sequence, map, optional or sparse tensor that belongs to whoever made or got it, until
 * sx_value_destroy. It never changes, may be read by many threads at once, and may outlive sessions
 * and bindings. Whatever holds a value shares it: nothing is copied but where it is said. */

typedef struct sx_tensor {
  size_t struct_size;
  int32_t dtype; /* an sx_dtype */
  int32_t rank;
  const int64_t* dims;
  const void* data; /* NULL for strings: see sx_value_strings, sx_binding_output_strings */
  size_t size;      /* in bytes */
  int32_t written;  /* 1: an output that lies in the memory that was bound for it */
  int32_t reserved; /* 0 */
} sx_tensor;

/* Copies `size` bytes, which must be what the type and dims need. Not for strings. */
SX_API sx_status sx_value_create_tensor(sx_dtype dtype, const int64_t* dims, size_t rank,
                                        const void* data, size_t size, sx_value** value);
/* Refers to memory of the caller's, which must not change. `release(user)` is called once, from any
 * thread, when nobody needs it any more, but not where this fails; NULL: the memory stays as long
 * as the value and whatever it was given to. */
SX_API sx_status sx_value_borrow_tensor(sx_dtype dtype, const int64_t* dims, size_t rank,
                                        const void* data, size_t size, void (*release)(void* user),
                                        void* user, sx_value** value);
/* Copies strings: `strings` has as many elements as the dims say. `lengths` in bytes; NULL: each
 * ends with a zero. */
SX_API sx_status sx_value_create_strings(const int64_t* dims, size_t rank,
                                         const char* const* strings, const size_t* lengths,
                                         sx_value** value);
/* Items of one type. `element_type` is written as in sx_value_info, sizes left out or ignored:
 * "float", "seq(int64)", "map(string, float)". NULL: that of the first item, of which there must be
 * one. */
SX_API sx_status sx_value_create_sequence(const sx_value* const* items, size_t count,
                                          const char* element_type, sx_value** value);
/* `content` NULL: empty; then the element type must be given. */
SX_API sx_status sx_value_create_optional(const sx_value* content, const char* element_type,
                                          sx_value** value);
/* Two tensors of one dim and the same length: keys of integers or strings, which differ, and
 * values. */
SX_API sx_status sx_value_create_map(const sx_value* keys, const sx_value* values,
                                     sx_value** value);
/* `values` are those that are stored, `nnz` of them; `indices` int64[nnz], counted in row-major
 * order, or int64[nnz, rank], ascending; the dims are those of the whole. */
SX_API sx_status sx_value_create_sparse(const sx_value* values, const sx_value* indices,
                                        const int64_t* dims, size_t rank, sx_value** value);
/* Another handle to the same value. */
SX_API sx_status sx_value_share(const sx_value* value, sx_value** shared);
/* NULL is allowed. */
SX_API void sx_value_destroy(sx_value* value);

/* An sx_kind; 0 for NULL. */
SX_API int32_t sx_value_kind(const sx_value* value);
/* "float[2, 3]", "seq(map(int64, float))"; "" for NULL. Lives as long as the handle. */
SX_API const char* sx_value_type(const sx_value* value);
/* Elements of a tensor, items of a sequence, entries of a map, stored elements of a sparse tensor;
 * of an optional 1, or 0 where it is empty. 0 for NULL. */
SX_API size_t sx_value_count(const sx_value* value);
/* The elements of a tensor, which live as long as the value. `tensor->struct_size` must be set. */
SX_API sx_status sx_value_tensor(const sx_value* value, sx_tensor* tensor);
/* All strings of a tensor at once, in row-major order: where each begins, and its bytes, of which
 * some may be zeros; a zero follows the last. `strings` and `lengths` have room for `count`, which
 * must be the number of elements; either may be NULL. They live as long as the value. */
SX_API sx_status sx_value_strings(const sx_value* value, const char** strings, size_t* lengths,
                                  size_t count);
/* An item of a sequence, or what an optional holds (index 0): a handle of the caller's. */
SX_API sx_status sx_value_item(const sx_value* value, size_t index, sx_value** item);
/* Keys and values of a map, in the order in which they were put in: handles of the caller's. */
SX_API sx_status sx_value_map(const sx_value* value, sx_value** keys, sx_value** values);
/* The parts of a sparse tensor: handles of the caller's. `dims` live as long as the value. */
SX_API sx_status sx_value_sparse(const sx_value* value, sx_value** values, sx_value** indices,
                                 const int64_t** dims, size_t* rank);

/* ---- Cancellation */

/* Ends the runs and loads that were given it, from any thread, at their next step. It must outlive
 * them. */
SX_API sx_status sx_cancellation_create(sx_cancellation** cancellation);
/* Holds for what is under way, and for all that begins before sx_cancellation_reset. NULL is
 * allowed. */
SX_API void sx_cancellation_request(sx_cancellation* cancellation);
/* What begins from now on is not cancelled; what is under way still is. */
SX_API sx_status sx_cancellation_reset(sx_cancellation* cancellation);
/* NULL is allowed. */
SX_API void sx_cancellation_destroy(sx_cancellation* cancellation);

/* ---- Sessions */

typedef enum sx_optimization SX_INT {
  SX_OPTIMIZATION_NONE = -1, /* no rewriting: each operator by itself */
  SX_OPTIMIZATION_DEFAULT = 0,
  SX_OPTIMIZATION_BASIC = 1, /* clean-ups */
  SX_OPTIMIZATION_FULL = 2   /* and fusions; the default */
} sx_optimization;

typedef enum sx_log_level SX_INT {
  SX_LOG_OFF = -1,
  SX_LOG_DEFAULT = 0, /* what the environment variable SARDONYX_LOG says, else warnings */
  SX_LOG_ERROR = 1,
  SX_LOG_WARNING = 2,
  SX_LOG_INFO = 3, /* a line for each model that is loaded and each plan that is made */
  SX_LOG_DEBUG = 4 /* also what every pass changed and the kernel of every step */
} sx_log_level;

/* Called from any thread, by several at once, with one line without its end; must not come back
 * into the session. */
typedef void (*sx_log_function)(void* user, int32_t level, const char* line);

/* Threads of the program's, in place of the library's. Both functions are called from any thread,
 * and must be there as long as the session and its bindings. */
typedef struct sx_threads {
  size_t struct_size;
  void* user;
  /* Arranges for work(argument) to be called once, on any thread, at any time; may call it at
   * once. Where it comes late, or the caller has done all by then, a run has lost nothing but
   * speed. */
  void (*submit)(void* user, void (*work)(void* argument), void* argument);
  /* How many threads, the one that runs included, a run should share its work out to. */
  int (*concurrency)(void* user);
} sx_threads;

/* A value under a name: an initializer of the model, or a file by the name that the model gives. */
typedef struct sx_named_value {
  const char* name;
  const sx_value* value;
} sx_named_value;

typedef struct sx_session_options {
  size_t struct_size;
  int32_t threads;            /* of one run, at most 1,024; 0: SARDONYX_NUM_THREADS, else
                                 OMP_NUM_THREADS, else what affinity, quota and limits leave */
  int32_t optimization_level; /* an sx_optimization */
  uint64_t memory_limit;      /* bytes that weights and runs may take together; 0: 64 GiB */
  uint64_t max_plans;         /* plans kept, one for each set of input shapes; 0: 32 */
  int64_t load_deadline_ms;   /* 0: none */
  const char* providers;      /* "onednn,cpu": kernels are asked for in this order; NULL: that */
  const char* allowed_root;   /* folder beneath which external data may lie; NULL: the model's */
  int32_t bfloat16;           /* 1: heavy operators may compute in bfloat16 */
  const char* plan_cache;     /* file that keeps packed weights for the next session; NULL: none */
  sx_error* error;            /* told of the load's outcome; NULL: nobody */
  sx_cancellation* cancellation; /* of the load; NULL: none */
  sx_log_function log;           /* NULL: lines go to stderr */
  void* log_user;                /* what `log` is called with; both as long as the session */
  const char* disabled_passes;   /* "fuse-conv-bias,fuse-gelu": by name; NULL: none */
  /* What a file may ask for. 0: 2 GiB; 100; 1,000,000; 64; 64 GiB; 1 TiB; 256 MiB */
  uint64_t max_file_bytes;     /* of one protobuf file */
  uint64_t max_nesting;        /* of messages in messages; a subgraph takes three */
  uint64_t max_nodes;          /* with functions expanded */
  uint64_t max_rank;           /* of tensors */
  uint64_t max_tensor_bytes;   /* of one tensor */
  uint64_t max_total_bytes;    /* of all tensors of a file */
  uint64_t max_expanded_bytes; /* of a sparse tensor made dense */
  /* In place of files of external data, by the location that the model names: bytes as tensors
   * uint8[size]. A model that comes as bytes needs no folder then. */
  const sx_named_value* external_files;
  size_t external_file_count;
  /* In place of the model's initializers of these names, which are not read: tensors of their types
   * and dims. */
  const sx_named_value* initializers;
  size_t initializer_count;
  int32_t read_external_data; /* 1: read it; 0: map the files, which must not be changed then */
  int32_t log_level;          /* an sx_log_level */
  const sx_threads* thread_source; /* NULL: threads of the library's */
  int32_t own_threads;             /* 1: of this session alone; 0: those that sessions share */
  int32_t strict; /* 1: what deviates from ONNX, in the file or in a run's inputs, is an error; 0:
                     it is taken as it is meant, with a warning (docs/leniency.md) */
} sx_session_options;

/* Fills in the defaults. `struct_size` is sizeof(sx_session_options). A struct that is zero but for
 * its struct_size asks for the same. Whatever options point at is needed during the call alone,
 * where nothing else is said. */
SX_API sx_status sx_session_options_init(sx_session_options* options, size_t struct_size);

/* `options` may be NULL. */
SX_API sx_status sx_session_create(const char* path, const sx_session_options* options,
                                   sx_session** session);
/* From the bytes of a file, which are not needed afterwards. */
SX_API sx_status sx_session_create_from_bytes(const void* bytes, size_t size,
                                              const sx_session_options* options,
                                              sx_session** session);
/* NULL is allowed. Bindings that are left keep what they need of it until they are destroyed; its
 * other functions are not to be called any more. */
SX_API void sx_session_destroy(sx_session* session);

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

/* What the file says about the model. Texts are "" where it says nothing; they live as long as the
 * session. */
typedef struct sx_model_info {
  size_t struct_size;
  const char* producer_name;
  const char* producer_version;
  const char* domain;
  const char* description;
  const char* graph_name;
  const char* graph_description;
  int64_t model_version;
  int64_t ir_version;
  size_t opset_count;    /* see sx_session_opset */
  size_t metadata_count; /* see sx_session_metadata */
} sx_model_info;

/* Reads no weights. `info->struct_size` must be set. */
SX_API sx_status sx_session_model_info(const sx_session* session, sx_model_info* info);
/* The version of an operator set that the file imports; `domain` is "" for ai.onnx. */
SX_API sx_status sx_session_opset(const sx_session* session, size_t index, const char** domain,
                                  int64_t* version);
/* An entry of the file's custom metadata, by key in ascending order. */
SX_API sx_status sx_session_metadata(const sx_session* session, size_t index, const char** key,
                                     const char** value);
/* SX_INVALID_ARGUMENT where there is no such key. */
SX_API sx_status sx_session_find_metadata(const sx_session* session, const char* key,
                                          const char** value);

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

/* Waits for an asynchronous run. NULL is allowed. */
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
/* Binds a value of any kind, which is shared. */
SX_API sx_status sx_binding_set_input_value(sx_binding* binding, size_t index,
                                            const sx_value* value);
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
/* Later runs compute these outputs alone, and leave out whatever they do not need; the others are
 * not there then. `count` 0: all again. */
SX_API sx_status sx_binding_choose_outputs(sx_binding* binding, const size_t* indices,
                                           size_t count);

typedef struct sx_run_options {
  size_t struct_size;
  int64_t deadline_ms;           /* from the start of the run; 0: none */
  sx_cancellation* cancellation; /* may be NULL */
  sx_error* error;               /* told of the run's outcome; NULL: nobody */
  sx_profile* profile;           /* each step that ran is added to it; NULL: none */
  int32_t strict_outputs;        /* 1: an output that does not fit the memory that is bound for it
                                    is SX_INVALID_ARGUMENT, and that memory is not written */
  int32_t reserved;              /* 0 */
} sx_run_options;
/* Fills in the defaults, which are zeros. */
SX_API sx_status sx_run_options_init(sx_run_options* options, size_t struct_size);

/* Runs with what is bound. After a failure the session and the binding are as usable as before.
 * `options` may be NULL. */
SX_API sx_status sx_binding_run(sx_binding* binding, const sx_run_options* options);

/* Called once, from another thread, when an asynchronous run has ended; `error` is there during the
 * call. The binding may be used for anything in it: changed, run anew, destroyed. */
typedef void (*sx_run_callback)(void* user, const sx_error* error);

/* Runs in a thread of the binding's and returns at once; `callback` may be NULL. Whatever is bound
 * or named in `options` must stay until the run has ended, and until then other functions of the
 * binding but sx_binding_wait and sx_binding_destroy give SX_INVALID_ARGUMENT. Where this fails
 * nothing was begun, and the callback is not called. */
SX_API sx_status sx_binding_run_async(sx_binding* binding, const sx_run_options* options,
                                      sx_run_callback callback, void* user);
/* Waits until the asynchronous run has ended and its callback has returned, and gives the status of
 * the run; SX_OK where there was none. In the callback it does not wait. */
SX_API sx_status sx_binding_wait(sx_binding* binding);

/* Makes ready what a run with what is bound needs, so that it need not: plans and packed weights.
 * Inputs are not read, but for those whose values decide shapes; where shapes depend on what is
 * computed, it is ready as far as they do not. Of `options` the profile and strict_outputs mean
 * nothing. */
SX_API sx_status sx_binding_prepare(sx_binding* binding, const sx_run_options* options);
/* The same for inputs of these dims, without any data: `dims[i]` are `ranks[i]` sizes of input i,
 * for the first `count` inputs. NULL, and inputs that are left out: the dims of the model, which
 * must all be known; an input that has a default takes it. SX_INVALID_ARGUMENT where an input's
 * value decides shapes, or it is no tensor: bind it, and use sx_binding_prepare. */
SX_API sx_status sx_session_prepare(sx_session* session, const int64_t* const* dims,
                                    const size_t* ranks, size_t count,
                                    const sx_run_options* options);

/* An output of the last run that is a tensor; valid until the next run or change of the binding.
 * SX_UNSUPPORTED for other kinds: see sx_binding_output_value. */
SX_API sx_status sx_binding_output(const sx_binding* binding, size_t index, sx_tensor* tensor);
/* Element `element` of an output of strings, which may contain zeros. */
SX_API sx_status sx_binding_output_string(const sx_binding* binding, size_t index, size_t element,
                                          const char** string, size_t* length);
/* All strings of an output, as sx_value_strings gives them. */
SX_API sx_status sx_binding_output_strings(const sx_binding* binding, size_t index,
                                           const char** strings, size_t* lengths, size_t count);
/* An output of the last run, of any kind: a handle of the caller's that later runs do not change.
 * Memory of the caller's is copied: what is bound for an output, or for an input that the model
 * passes through. */
SX_API sx_status sx_binding_output_value(const sx_binding* binding, size_t index, sx_value** value);
/* Runs with the inputs that are bound and gives any `count` values of the model by name: outputs,
 * what lies between, initializers. Handles of the caller's, none where it fails. Values that are
 * no outputs are computed without fusion. Outputs and their memory stay as they are. */
SX_API sx_status sx_binding_fetch(sx_binding* binding, const char* const* names, size_t count,
                                  const sx_run_options* options, sx_value** values);

/* ---- Profiles */

/* A step of a run. Texts live until the profile is cleared, added to or destroyed. */
typedef struct sx_step {
  size_t struct_size;
  const char* node;
  const char* op;             /* "Conv", "com.microsoft.FastGelu", "reorder" */
  const char* implementation; /* the kernel */
  const char* scope;          /* "encoder.layer3", where the file has it */
  const char* source;         /* "model.cpp:12", where the file has it */
  const char* types;          /* "float[1, 64, 56, 56] -> float[1, 64, 56, 56]" */
  double seconds;
  uint64_t bytes; /* read and written */
} sx_step;

/* What the steps of runs took. */
SX_API sx_status sx_profile_create(sx_profile** profile);
SX_API void sx_profile_clear(sx_profile* profile);
SX_API size_t sx_profile_step_count(const sx_profile* profile);
/* `step->struct_size` must be set. */
SX_API sx_status sx_profile_step(const sx_profile* profile, size_t index, sx_step* step);
/* NULL is allowed. */
SX_API void sx_profile_destroy(sx_profile* profile);

/* ---- Operators of the program's
 *
 * An operator is registered once for the process: models that are loaded from then on, by anybody,
 * may use it. Its functions are called by any thread, and by several at once, and must not throw.
 * docs/custom-operators.md has an example. */

typedef struct sx_op_call sx_op_call;             /* a call, as long as it lasts; of one thread */
typedef struct sx_op_inference sx_op_inference;   /* the same for types and shapes */
typedef struct sx_op_attributes sx_op_attributes; /* of a call or an inference */

typedef enum sx_attribute_kind SX_INT {
  SX_ATTRIBUTE_INT = 1,
  SX_ATTRIBUTE_FLOAT = 2,
  SX_ATTRIBUTE_STRING = 3,
  SX_ATTRIBUTE_TENSOR = 4,
  SX_ATTRIBUTE_INTS = 5,
  SX_ATTRIBUTE_FLOATS = 6,
  SX_ATTRIBUTE_STRINGS = 7
} sx_attribute_kind;

/* An attribute that an operator takes. Lists are empty where they are not given, and tensors are
 * not there. */
typedef struct sx_attribute {
  const char* name;
  int32_t kind;               /* an sx_attribute_kind */
  int32_t is_required;        /* 1: each node must give it; 0: there is a default */
  int64_t default_int;        /* the default of an SX_ATTRIBUTE_INT */
  double default_float;       /* of an SX_ATTRIBUTE_FLOAT */
  const char* default_string; /* of an SX_ATTRIBUTE_STRING; NULL: "" */
} sx_attribute;

/* What a name in a signature stands for. */
typedef struct sx_type_constraint {
  const char* name;
  const int32_t* dtypes; /* sx_dtypes, one or more */
  size_t dtype_count;
} sx_type_constraint;

typedef struct sx_custom_op {
  size_t struct_size;
  const char* domain; /* neither ONNX's own ("", "ai.onnx") nor "sardonyx" */
  const char* name;
  int32_t since_version; /* the first version of the domain that has it; 0: 1 */
  uint32_t shape_inputs; /* bit k: `infer` needs the value of input k to know shapes */
  /* "(X: T, bias?: float, more...0: T) -> (Y: T)": inputs and outputs by name, with their element
   * types or names of `types`. `?`: optional. `...`: as many as are given, at least one; `...0`: at
   * least none. Inputs of one name's type have one type; `T*` lets each have its own. */
  const char* signature;
  const sx_type_constraint* types;
  size_t type_count;
  const sx_attribute* attributes;
  size_t attribute_count;
  /* Makes the outputs. Anything but SX_OK ends the run with that status; its message is that of the
   * function of this interface that failed last in it, or of sx_set_last_error. */
  sx_status (*compute)(void* user, sx_op_call* call);
  /* Tells types and shapes of the outputs, which must come true; as compute, it may fail. NULL: an
   * output has the type that the signature gives it, and its shape is known when it was computed.
   */
  sx_status (*infer)(void* user, sx_op_inference* inference);
  void* user;        /* what both are called with; must stay for as long as the process lives */
  int32_t is_impure; /* 1: equal inputs may give other outputs, or something else comes of a call:
                        it is made at each run and for each node */
  int32_t reserved;  /* 0 */
} sx_custom_op;

/* Texts and lists are copied. SX_INVALID_ARGUMENT where there is an operator of this name. */
SX_API sx_status sx_custom_op_register(const sx_custom_op* op);
/* From now on it is not found any more; what was loaded goes on with it. SX_INVALID_ARGUMENT where
 * there is none. */
SX_API sx_status sx_custom_op_unregister(const char* domain, const char* name);
/* What sx_last_error() says in this thread from now on; gives `status` back: `return
 * sx_set_last_error(SX_INVALID_ARGUMENT, "...")`. */
SX_API sx_status sx_set_last_error(sx_status status, const char* message);

/* 0 for NULL. Inputs that the node omits count where it gives one after them; those after the last
 * may be asked for as well, as far as the signature names them. */
SX_API size_t sx_op_call_input_count(const sx_op_call* call);
SX_API size_t sx_op_call_output_count(const sx_op_call* call);
/* A tensor; of one that is omitted the dtype is SX_UNDEFINED. `tensor->struct_size` must be set. */
SX_API sx_status sx_op_call_input(const sx_op_call* call, size_t index, sx_tensor* tensor);
/* An input of any kind, such as strings: a handle of the caller's to a copy; NULL where it is
 * omitted. */
SX_API sx_status sx_op_call_input_value(const sx_op_call* call, size_t index, sx_value** value);
/* Makes an output of this type and these dims, to be written at `data` before the call ends. Not
 * for strings. */
SX_API sx_status sx_op_call_make_output(sx_op_call* call, size_t index, sx_dtype dtype,
                                        const int64_t* dims, size_t rank, void** data);
/* Makes a value the output, of any kind; nothing is copied. */
SX_API sx_status sx_op_call_set_output(sx_op_call* call, size_t index, const sx_value* value);
/* Calls work(argument, begin, end) for parts of [0, count) that together are the whole, on the
 * threads of the run, as many as get `least` or more each. Returns when all are done. */
SX_API sx_status sx_op_call_parallel_for(sx_op_call* call, int64_t count, int64_t least,
                                         void (*work)(void* argument, int64_t begin, int64_t end),
                                         void* argument);
/* NULL for NULL. */
SX_API sx_op_attributes* sx_op_call_attributes(sx_op_call* call);

/* An attribute: what the node gives, else the default. Must be of that kind. What pointers point at
 * lives as long as the call or inference. */
SX_API sx_status sx_op_attribute_int(sx_op_attributes* attributes, const char* name,
                                     int64_t* value);
SX_API sx_status sx_op_attribute_float(sx_op_attributes* attributes, const char* name,
                                       double* value);
SX_API sx_status sx_op_attribute_string(sx_op_attributes* attributes, const char* name,
                                        const char** value, size_t* length);
SX_API sx_status sx_op_attribute_ints(sx_op_attributes* attributes, const char* name,
                                      const int64_t** values, size_t* count);
SX_API sx_status sx_op_attribute_floats(sx_op_attributes* attributes, const char* name,
                                        const float** values, size_t* count);
SX_API sx_status sx_op_attribute_strings(sx_op_attributes* attributes, const char* name,
                                         const char* const** values, size_t* count);
/* A handle of the caller's; NULL where it was not given. */
SX_API sx_status sx_op_attribute_tensor(sx_op_attributes* attributes, const char* name,
                                        sx_value** value);

/* 0 for NULL. */
SX_API size_t sx_op_inference_input_count(const sx_op_inference* inference);
SX_API size_t sx_op_inference_output_count(const sx_op_inference* inference);
/* What is known of an input before it has been computed: of its element type SX_UNDEFINED where it
 * is omitted or no tensor, `rank` -1 and dims -1 where they are not known. They live as long as the
 * inference. Any place may be NULL. */
SX_API sx_status sx_op_inference_input(sx_op_inference* inference, size_t index, int32_t* dtype,
                                       int32_t* rank, const int64_t** dims);
/* The elements of an integer input of rank 0 or 1 where all are known; NULL and 0 elsewhere. */
SX_API sx_status sx_op_inference_elements(sx_op_inference* inference, size_t index,
                                          const int64_t** elements, size_t* count);
/* `rank` -1: not known; a dim of -1: not known. */
SX_API sx_status sx_op_inference_set_output(sx_op_inference* inference, size_t index,
                                            sx_dtype dtype, const int64_t* dims, int32_t rank);
/* The output has the type and the shape of an input, also where these are not known yet. */
SX_API sx_status sx_op_inference_copy(sx_op_inference* inference, size_t output, size_t input);
/* NULL for NULL. */
SX_API sx_op_attributes* sx_op_inference_attributes(sx_op_inference* inference);

#ifdef __cplusplus
}
#endif

#endif /* SARDONYX_SARDONYX_H_ */
