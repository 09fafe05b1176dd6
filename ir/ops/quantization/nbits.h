// Attributes and inputs of com.microsoft's MatMulNBits, of weights [N, K] in 2, 4 or 8 bits, in
// blocks along K, and of GatherBlockQuantized.
#pragma once

#include <cstdint>
#include <tuple>

#include "ir/attributes.h"
#include "ir/core/dtype.h"

namespace sardonyx::ops {

struct NBitsAttrs {
  int64_t K = 0, N = 0, accuracy_level = 0, bits = 4, block_size = 0, weight_prepacked = 0;
  static auto fields() {
    using A = NBitsAttrs;
    return std::tuple{required("K", &A::K),
                      required("N", &A::N),
                      field("accuracy_level", &A::accuracy_level),
                      field("bits", &A::bits),
                      required("block_size", &A::block_size),
                      field("weight_prepacked", &A::weight_prepacked)};
  }
  int64_t blocks() const { return (K + block_size - 1) / block_size; }
  int64_t block_bytes() const { return block_size * bits / 8; }
  // The size of a row of packed zero points.
  int64_t zero_point_bytes() const { return (blocks() * bits + 7) / 8; }
};

struct GatherBlockAttrs {
  int64_t bits = 4, block_size = 128, gather_axis = 0, quantize_axis = 1;
  static auto fields() {
    using A = GatherBlockAttrs;
    return std::tuple{field("bits", &A::bits), field("block_size", &A::block_size),
                      field("gather_axis", &A::gather_axis),
                      field("quantize_axis", &A::quantize_axis)};
  }
};

// Value `index` of `bits` bits each, the first in the lowest bits of the first byte.
inline int unpack_bits(const uint8_t* data, int64_t index, int bits) {
  const int per_byte = 8 / bits;
  return data[index / per_byte] >> (index % per_byte * bits) & ((1 << bits) - 1);
}

// Values in one element of a stored tensor: several only where uint8 holds fewer bits.
inline int64_t values_per_element(DType dtype, const GatherBlockAttrs& attrs) {
  return dtype == DType::kUInt8 ? 8 / attrs.bits : 1;
}

enum GatherInput { kData, kIndices, kGatherScales, kGatherZeroPoints };
enum NBitsInput { kA, kB, kScales, kZeroPoints, kGroups, kBias };

}  // namespace sardonyx::ops
