// What stands at the head of an array in numpy's file format (numpy's NEP 1).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "ir/core/tensor.h"

namespace sardonyx {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyHeader {
  char byte_order = '<';
  char kind = 0;     // of numpy's dtype: b i u f c U S
  size_t width = 0;  // bytes of an element; of 'U' characters of four bytes
  bool fortran_order = false;
  Shape shape;
  size_t data_begin = 0;  // where the elements begin, in bytes from the magic on

  size_t element_bytes() const { return kind == 'U' ? width * 4 : width; }
  size_t data_bytes() const { return static_cast<size_t>(element_count(shape)) * element_bytes(); }
};

// kUndefined for elements that no tensor can have.
DType dtype_of(const NpyHeader& header);

// No header that is read here is longer.
constexpr size_t kLongestNpyHeader = size_t{1} << 20;

// `bytes` are the first ones of the array, at least kLongestNpyHeader or all of them; it has
// `total` bytes. Throws kInvalidArgument naming `where` where this is no array that can be read,
// or the elements would be more than what follows.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, size_t total,
                           const std::string& where);

// The elements from the bytes that `header` says.
Tensor npy_elements(const NpyHeader& header, std::span<const std::byte> data);

}  // namespace sardonyx
