/* Columns of Apache Arrow as values, inputs and outputs of the C interface, by the C data interface
 * of its specification: two structs, and no library. docs/c-api.md has an example.
 */
#ifndef SARDONYX_ARROW_H_
#define SARDONYX_ARROW_H_

#include "sardonyx/sardonyx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As every program has them that speaks the C data interface. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

/* What becomes of a null. */
typedef enum sx_arrow_nulls SX_INT {
  SX_ARROW_NULLS_REFUSED = 0, /* SX_INVALID_ARGUMENT with the column and the row */
  SX_ARROW_NULLS_ZERO = 1,    /* 0, false, "" */
  SX_ARROW_NULLS_NAN = 2      /* NaN in columns of floating types; refused in others */
} sx_arrow_nulls;

typedef struct sx_arrow_options {
  size_t struct_size;
  int32_t nulls;    /* an sx_arrow_nulls */
  int32_t reserved; /* 0 */
} sx_arrow_options;

/* A column as a tensor: numbers, bool and strings as [n], a list of as many elements in each row as
 * [n, k], lists in lists with a dim more. Dictionaries are looked up. Where it succeeds `array` is
 * taken over (its release becomes NULL) and lives as long as something refers to it: numbers
 * without nulls are not copied. Where it fails it stays the caller's, as `schema` always does.
 * `options` may be NULL. */
SX_API sx_status sx_value_import_arrow(struct ArrowArray* array, const struct ArrowSchema* schema,
                                       const sx_arrow_options* options, sx_value** value);
/* Fills in `array` and `schema` (where not NULL) for a tensor: [n] as a column, [n, k] as one of
 * fixed-size lists, one number as a column of length 1. `name` may be NULL. Both belong to the
 * caller, who calls their release. Numbers are not copied: the value is shared. */
SX_API sx_status sx_value_export_arrow(const sx_value* value, const char* name,
                                       struct ArrowArray* array, struct ArrowSchema* schema);

/* Binds the columns of a struct array (a record batch) as the inputs of their names, as
 * sx_value_import_arrow makes them. Where the model wants other dims behind the first for the same
 * elements, they take these: a column of numbers becomes [n, 1], rows of 784 become
 * [n, 1, 28, 28]. Every column must be an input; inputs without a column stay as they are bound. */
SX_API sx_status sx_binding_set_inputs_arrow(sx_binding* binding, struct ArrowArray* array,
                                             const struct ArrowSchema* schema,
                                             const sx_arrow_options* options);
/* The outputs of the last run as a struct array with a column of each one's name. All must be
 * tensors with one first dim. What lies in memory that was bound for it is copied. */
SX_API sx_status sx_binding_outputs_arrow(const sx_binding* binding, struct ArrowArray* array,
                                          struct ArrowSchema* schema);

#ifdef __cplusplus
}
#endif

#endif /* SARDONYX_ARROW_H_ */
