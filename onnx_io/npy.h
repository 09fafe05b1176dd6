// Arrays in numpy's file format (numpy's NEP 1, versions 1.0 to 3.0).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "ir/core/tensor.h"

namespace sardonyx {

// Element types: bool, integers, float16/32/64, complex64/128, and strings ('U' and 'S'); either
// byte order, C or Fortran order. `where` names the array in messages.
// Throws kInvalidArgument where the bytes are no such array. Sizes are compared with the bytes
// that are there before anything is allocated.
Tensor parse_npy(std::span<const std::byte> bytes, const std::string& where);
Tensor read_npy(const std::filesystem::path& path);

// The bytes of an .npy file; equal tensors give equal bytes. Types that numpy lacks are widened
// without loss: bfloat16 and the 8- and 4-bit floats to float32, the 2- and 4-bit integers to 8
// bits. Throws kInvalidArgument for strings that are not UTF-8 (or end in NUL, which numpy would
// drop).
std::string npy_bytes(const Tensor& tensor);
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace sardonyx
