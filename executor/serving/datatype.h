// Element types under the names of the Open Inference Protocol, and elements as its binary form
// has them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "ir/core/tensor.h"

namespace sardonyx::serving {

// "FP32", "BYTES" (strings) ...; "" for types that the protocol has no name for.
std::string_view protocol_name(DType dtype);
// kUndefined if there is no such type.
DType dtype_of_protocol_name(std::string_view name);
// Throws ServingError kInvalidArgument, naming `what`, where there is no such type.
DType required_dtype(std::string_view name, std::string_view what);

// A tensor from its binary form: elements in little-endian order without padding; a string is its
// length as uint32 and its bytes. Shares `buffer`, from `offset` on, where the elements are aligned
// there, and copies them else. Bools are made 0 or 1. Throws ServingError kInvalidArgument, naming
// `what`, where `bytes` is not what the type and the shape need.
Tensor tensor_from_binary(DType dtype, Shape shape, const std::shared_ptr<Buffer>& buffer,
                          size_t offset, size_t bytes, std::string_view what);
Tensor tensor_from_binary(DType dtype, Shape shape, std::span<const std::byte> bytes,
                          std::string_view what);

// Bytes that the binary form of a tensor takes.
size_t binary_size(const Tensor& tensor);
// Appends the binary form; of a tensor of strings only, all others are in it already.
void append_binary_strings(const Tensor& tensor, std::string& out);

// Throws ServingError kInvalidArgument, naming `what`, for a negative dim or more elements than can
// be counted.
int64_t checked_count(const Shape& shape, std::string_view what);

}  // namespace sardonyx::serving
