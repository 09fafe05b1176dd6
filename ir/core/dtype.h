// Element types of ONNX and sets of them.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>

#include "ir/core/small_float.h"

namespace sardonyx {

// Numbers are those of TensorProto.DataType.
enum class DType : uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
};
constexpr int kDTypeCount = 27;

// ONNX's lower-case name: "float", "int64", "float8e4m3fn" ...
std::string_view name_of(DType dtype);
// The dtype of an ONNX name; kUndefined if there is none.
DType dtype_named(std::string_view name);
std::ostream& operator<<(std::ostream& out, DType dtype);

// Bits that one element takes in a tensor's buffer: 2 and 4 for the packed types. A string element
// is a std::string.
int bits_of(DType dtype);
// 8-bit integers, with or without sign; not bool.
inline bool is_byte(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kInt8;
}
// Several elements share a byte: 4-bit and 2-bit types.
inline bool is_packed(DType dtype) {
  return dtype != DType::kUndefined && bits_of(dtype) < 8;
}
bool is_floating(DType dtype);  // every real floating type, the small ones included
bool is_integer(DType dtype);   // signed and unsigned, the packed ones included; not bool
// Two's complement, the packed ones included.
bool is_signed_integer(DType dtype);
// Complex64 and complex128.
bool is_complex(DType dtype);

// Bytes that `count` elements take; throws kResourceExhausted if that overflows.
size_t bytes_for(DType dtype, int64_t count);

// A set of element types, for type constraints.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(DType dtype) : bits_(1u << static_cast<int>(dtype)) {}
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes)
      bits_ |= 1u << static_cast<int>(dtype);
  }
  // Whether the type is in the set; false for kUndefined unless it was put in.
  constexpr bool has(DType dtype) const { return bits_ >> static_cast<int>(dtype) & 1u; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DTypeSet operator|(DTypeSet other) const { return from_bits(bits_ | other.bits_); }
  // The types of this set that are not in `other`.
  constexpr DTypeSet without(DTypeSet other) const { return from_bits(bits_ & ~other.bits_); }
  // Bit k stands for the DType of number k.
  constexpr uint32_t bits() const { return bits_; }
  constexpr bool operator==(const DTypeSet&) const = default;
  static constexpr DTypeSet from_bits(uint32_t bits) {
    DTypeSet set;
    set.bits_ = bits;
    return set;
  }

 private:
  uint32_t bits_ = 0;
};

// The union, so that `DType::kFloat | DType::kDouble` is a set.
constexpr DTypeSet operator|(DType a, DType b) {
  return DTypeSet(a) | DTypeSet(b);
}

// Groups that signatures of ops use. Integers are those of 8 to 64 bits.
inline constexpr DTypeSet kUnsignedInts{DType::kUInt8, DType::kUInt16, DType::kUInt32,
                                        DType::kUInt64};
inline constexpr DTypeSet kSignedInts{DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64};
inline constexpr DTypeSet kByteInts{DType::kUInt8, DType::kInt8};
inline constexpr DTypeSet kInts = kUnsignedInts | kSignedInts;
inline constexpr DTypeSet kFloats{DType::kFloat16, DType::kBFloat16, DType::kFloat, DType::kDouble};
inline constexpr DTypeSet kNumbers = kInts | kFloats;
inline constexpr DTypeSet kComplexes{DType::kComplex64, DType::kComplex128};
// The four float8 types of opset 19, without the exponent-only E8M0.
inline constexpr DTypeSet kFloat8s{DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2,
                                   DType::kFloat8E5M2FNUZ};
inline constexpr DTypeSet kPackedInts{DType::kUInt4, DType::kInt4, DType::kUInt2, DType::kInt2};
// "All tensor types" of opset 13 (IR version 4), without bfloat16; later lists add to it.
inline constexpr DTypeSet kClassicTypes =
    kInts | kComplexes |
    DTypeSet{DType::kFloat16, DType::kFloat, DType::kDouble, DType::kString, DType::kBool};
inline constexpr DTypeSet kAnyDType = kClassicTypes | DType::kBFloat16 | kFloat8s | kPackedInts |
                                      DTypeSet{DType::kFloat4E2M1, DType::kFloat8E8M0};

namespace detail {
// std::complex<Part>, told by its members: <complex> would cost every file of ours its compilation.
template <typename T, typename Part>
concept ComplexOf = sizeof(T) == 2 * sizeof(Part) && requires(const T& x) {
  { x.real() } -> std::same_as<Part>;
  { x.imag() } -> std::same_as<Part>;
};
}  // namespace detail

// The C++ type of an element in memory and back. Packed types have no C++ type of their own:
// reference kernels see them unpacked, one byte each (see ir/reference_evaluator.h).
template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::kFloat;
  else if constexpr (std::is_same_v<T, double>)
    return DType::kDouble;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::kUInt8;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::kInt8;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return DType::kUInt16;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DType::kInt16;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DType::kUInt32;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::kInt32;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::kUInt64;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::kInt64;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::kBool;
  else if constexpr (std::is_same_v<T, std::string>)
    return DType::kString;
  else if constexpr (std::is_same_v<T, Float16>)
    return DType::kFloat16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::kBFloat16;
  else if constexpr (std::is_same_v<T, Float8E4M3FN>)
    return DType::kFloat8E4M3FN;
  else if constexpr (std::is_same_v<T, Float8E4M3FNUZ>)
    return DType::kFloat8E4M3FNUZ;
  else if constexpr (std::is_same_v<T, Float8E5M2>)
    return DType::kFloat8E5M2;
  else if constexpr (std::is_same_v<T, Float8E5M2FNUZ>)
    return DType::kFloat8E5M2FNUZ;
  else if constexpr (std::is_same_v<T, Float8E8M0>)
    return DType::kFloat8E8M0;
  else if constexpr (detail::ComplexOf<T, float>)
    return DType::kComplex64;
  else if constexpr (detail::ComplexOf<T, double>)
    return DType::kComplex128;
  else
    static_assert(sizeof(T) == 0, "no ONNX element type");
}

}  // namespace sardonyx
