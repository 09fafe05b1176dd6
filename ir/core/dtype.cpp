#include "ir/core/dtype.h"

#include <array>
#include <ostream>

#include "ir/core/error.h"

namespace sardonyx {
namespace {

struct DTypeInfo {
  std::string_view name;
  int bits;
};

constexpr std::array<DTypeInfo, kDTypeCount> kInfo{{
    {"undefined", 0},      {"float", 32},     {"uint8", 8},
    {"int8", 8},           {"uint16", 16},    {"int16", 16},
    {"int32", 32},         {"int64", 64},     {"string", 8 * static_cast<int>(sizeof(std::string))},
    {"bool", 8},           {"float16", 16},   {"double", 64},
    {"uint32", 32},        {"uint64", 64},    {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16},  {"float8e4m3fn", 8},
    {"float8e4m3fnuz", 8}, {"float8e5m2", 8}, {"float8e5m2fnuz", 8},
    {"uint4", 4},          {"int4", 4},       {"float4e2m1", 4},
    {"float8e8m0", 8},     {"uint2", 2},      {"int2", 2},
}};

}  // namespace

std::string_view name_of(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  return index < kInfo.size() ? kInfo[index].name : "unknown";
}

DType dtype_named(std::string_view name) {
  for (size_t i = 1; i < kInfo.size(); ++i) {
    if (kInfo[i].name == name) return static_cast<DType>(i);
  }
  return DType::kUndefined;
}

std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << name_of(dtype);
}

int bits_of(DType dtype) {
  return kInfo[static_cast<size_t>(dtype)].bits;
}

bool is_floating(DType dtype) {
  constexpr DTypeSet set = kFloats | kFloat8s | DTypeSet{DType::kFloat8E8M0, DType::kFloat4E2M1};
  return set.has(dtype);
}

bool is_integer(DType dtype) {
  constexpr DTypeSet set = kInts | kPackedInts;
  return set.has(dtype);
}

bool is_signed_integer(DType dtype) {
  constexpr DTypeSet set = kSignedInts | DType::kInt4 | DType::kInt2;
  return set.has(dtype);
}

bool is_complex(DType dtype) {
  return kComplexes.has(dtype);
}

size_t bytes_for(DType dtype, int64_t count) {
  SARDONYX_CHECK(count >= 0);
  const auto bits = static_cast<uint64_t>(bits_of(dtype));
  uint64_t total = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(count), bits, &total) ||
      total > (uint64_t{1} << 62)) {
    fail(ErrorCode::kResourceExhausted, "a tensor of ", count, " ", dtype,
         " elements is larger than any memory");
  }
  return (total + 7) / 8;
}

}  // namespace sardonyx
