// sx_value, and tensors made of the caller's pointers.
#pragma once

#include <string>

#include "executor/c_api/structs.h"
#include "ir/datum.h"

struct sx_value {
  sardonyx::Datum datum;
  std::string type;

  explicit sx_value(sardonyx::Datum held) : datum(std::move(held)), type(datum.type().text()) {}
};

namespace sardonyx::c_api {

int32_t kind_of(const Type& type);

Shape shape_of(const int64_t* dims, size_t rank);
// A tensor in memory of the caller's, which `keeper` keeps. `size` is checked.
Tensor borrowed(sx_dtype dtype, const int64_t* dims, size_t rank, const void* data, size_t size,
                std::shared_ptr<void> keeper = nullptr);
Tensor copied_strings(const int64_t* dims, size_t rank, const char* const* strings,
                      const size_t* lengths);

// A value that does not depend on the caller's memory: tensors in memory that was borrowed without
// a keeper, such as bound inputs, are copied.
Tensor kept(const Tensor& tensor);
Datum kept(const Datum& datum);

// Throws kUnsupported where `datum`, called `what`, is no tensor.
const Tensor& tensor_in(const Datum& datum, const std::string& what);
sx_tensor described(const Tensor& tensor, bool written);
// Writes the address and the byte length of each of the `count` strings of `tensor`.
void list_strings(const Tensor& tensor, const char** strings, size_t* lengths, size_t count);

}  // namespace sardonyx::c_api
