// DuckDB's C extension interface, version 1.2.0: a table of functions whose places are fixed for
// good. Only those that are called here are named; api_test holds the places against the library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::duckdb {

// Handles, each its own type in C.
using Handle = void*;

struct DuckString {
  uint32_t length;
  char inlined_or_prefix[4];
  const char* pointer;
};
struct ListEntry {
  uint64_t offset, length;
};
struct HugeInt {
  uint64_t lower;
  int64_t upper;
};

// duckdb_type.
enum class TypeId : int {
  kInvalid = 0,
  kBoolean = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kUInt8 = 6,
  kUInt16 = 7,
  kUInt32 = 8,
  kUInt64 = 9,
  kFloat = 10,
  kDouble = 11,
  kHugeInt = 16,
  kVarchar = 17,
  kDecimal = 19,
  kEnum = 23,
  kList = 24,
  kArray = 33,
  kAny = 34,
};

// Places in the table, and what stands there. X(place, result, name, arguments)
#define SARDONYX_DUCKDB_FUNCTIONS(X)                                                       \
  X(3, int, connect, (Handle database, Handle * connection))                               \
  X(6, void, disconnect, (Handle * connection))                                            \
  X(25, void, free, (void* memory))                                                        \
  X(92, void, destroy_value, (Handle * value))                                             \
  X(142, char*, get_varchar, (Handle value))                                               \
  X(156, Handle, create_logical_type, (int type))                                          \
  X(159, Handle, create_list_type, (Handle element))                                       \
  X(163, Handle, create_struct_type, (Handle * types, const char** names, uint64_t count)) \
  X(166, int, get_type_id, (Handle type))                                                  \
  X(168, uint8_t, decimal_scale, (Handle type))                                            \
  X(169, int, decimal_internal_type, (Handle type))                                        \
  X(170, int, enum_internal_type, (Handle type))                                           \
  X(172, char*, enum_dictionary_value, (Handle type, uint64_t index))                      \
  X(173, Handle, list_type_child_type, (Handle type))                                      \
  X(174, Handle, array_type_child_type, (Handle type))                                     \
  X(175, uint64_t, array_type_array_size, (Handle type))                                   \
  X(184, void, destroy_logical_type, (Handle * type))                                      \
  X(189, uint64_t, data_chunk_get_column_count, (Handle chunk))                            \
  X(190, Handle, data_chunk_get_vector, (Handle chunk, uint64_t column))                   \
  X(191, uint64_t, data_chunk_get_size, (Handle chunk))                                    \
  X(192, void, data_chunk_set_size, (Handle chunk, uint64_t size))                         \
  X(193, Handle, vector_get_column_type, (Handle vector))                                  \
  X(194, void*, vector_get_data, (Handle vector))                                          \
  X(195, uint64_t*, vector_get_validity, (Handle vector))                                  \
  X(196, void, vector_ensure_validity_writable, (Handle vector))                           \
  X(198, void, vector_assign_string_element_len,                                           \
    (Handle vector, uint64_t index, const char* text, uint64_t length))                    \
  X(199, Handle, list_vector_get_child, (Handle vector))                                   \
  X(200, uint64_t, list_vector_get_size, (Handle vector))                                  \
  X(201, int, list_vector_set_size, (Handle vector, uint64_t size))                        \
  X(202, int, list_vector_reserve, (Handle vector, uint64_t capacity))                     \
  X(203, Handle, struct_vector_get_child, (Handle vector, uint64_t index))                 \
  X(204, Handle, array_vector_get_child, (Handle vector))                                  \
  X(209, Handle, create_scalar_function, ())                                               \
  X(210, void, destroy_scalar_function, (Handle * function))                               \
  X(211, void, scalar_function_set_name, (Handle function, const char* name))              \
  X(212, void, scalar_function_set_varargs, (Handle function, Handle type))                \
  X(213, void, scalar_function_set_special_handling, (Handle function))                    \
  X(215, void, scalar_function_add_parameter, (Handle function, Handle type))              \
  X(216, void, scalar_function_set_return_type, (Handle function, Handle type))            \
  X(217, void, scalar_function_set_extra_info,                                             \
    (Handle function, void* info, void (*destroy)(void*)))                                 \
  X(218, void, scalar_function_set_function,                                               \
    (Handle function, void (*run)(Handle info, Handle input, Handle output)))              \
  X(219, int, register_scalar_function, (Handle connection, Handle function))              \
  X(220, void*, scalar_function_get_extra_info, (Handle info))                             \
  X(221, void, scalar_function_set_error, (Handle info, const char* message))              \
  X(242, Handle, create_table_function, ())                                                \
  X(243, void, destroy_table_function, (Handle * function))                                \
  X(244, void, table_function_set_name, (Handle function, const char* name))               \
  X(245, void, table_function_add_parameter, (Handle function, Handle type))               \
  X(246, void, table_function_add_named_parameter,                                         \
    (Handle function, const char* name, Handle type))                                      \
  X(247, void, table_function_set_extra_info,                                              \
    (Handle function, void* info, void (*destroy)(void*)))                                 \
  X(248, void, table_function_set_bind, (Handle function, void (*bind)(Handle info)))      \
  X(249, void, table_function_set_init, (Handle function, void (*init)(Handle info)))      \
  X(251, void, table_function_set_function,                                                \
    (Handle function, void (*run)(Handle info, Handle output)))                            \
  X(253, int, register_table_function, (Handle connection, Handle function))               \
  X(254, void*, bind_get_extra_info, (Handle info))                                        \
  X(255, void, bind_add_result_column, (Handle info, const char* name, Handle type))       \
  X(257, Handle, bind_get_parameter, (Handle info, uint64_t index))                        \
  X(258, Handle, bind_get_named_parameter, (Handle info, const char* name))                \
  X(259, void, bind_set_bind_data, (Handle info, void* data, void (*destroy)(void*)))      \
  X(261, void, bind_set_error, (Handle info, const char* message))                         \
  X(264, void, init_set_init_data, (Handle info, void* data, void (*destroy)(void*)))      \
  X(270, void*, function_get_bind_data, (Handle info))                                     \
  X(271, void*, function_get_init_data, (Handle info))

constexpr const char* kApiVersion = "v1.2.0";

struct DuckDbApi {
#define SARDONYX_DUCKDB_MEMBER(place, result, name, arguments) result(*name) arguments = nullptr;
  SARDONYX_DUCKDB_FUNCTIONS(SARDONYX_DUCKDB_MEMBER)
#undef SARDONYX_DUCKDB_MEMBER

  // From the table that DuckDB gives.
  void read(const void* table) {
    const auto* places = static_cast<void* const*>(table);
#define SARDONYX_DUCKDB_READ(place, result, name, arguments) \
  name = reinterpret_cast<decltype(name)>(places[place]);
    SARDONYX_DUCKDB_FUNCTIONS(SARDONYX_DUCKDB_READ)
#undef SARDONYX_DUCKDB_READ
  }
};

// What the extension's entry is given.
struct ExtensionAccess {
  void (*set_error)(Handle info, const char* message);
  Handle* (*get_database)(Handle info);
  const void* (*get_api)(Handle info, const char* version);
};

// Of this process; filled in when the extension is loaded.
extern DuckDbApi api;

// A type that is destroyed at the end of the scope.
class LogicalType {
 public:
  explicit LogicalType(TypeId id) : LogicalType(api.create_logical_type(static_cast<int>(id))) {}
  explicit LogicalType(Handle type) : type_(type) {}
  ~LogicalType() {
    if (type_) api.destroy_logical_type(&type_);
  }
  LogicalType(LogicalType&& other) noexcept : type_(other.type_) { other.type_ = nullptr; }
  LogicalType& operator=(LogicalType&&) = delete;
  Handle get() const { return type_; }
  TypeId id() const { return static_cast<TypeId>(api.get_type_id(type_)); }

 private:
  Handle type_;
};

}  // namespace sardonyx::duckdb
