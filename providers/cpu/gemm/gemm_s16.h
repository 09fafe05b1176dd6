// GEMM of 8-bit integers, exact on every CPU: bytes are widened to int16, and pairs of products are
// accumulated in int32 (modulo 2^32). The left operand is rows of int16, the right one is packed in
// panels of columns, in which two elements that are neighbours along the depth are adjacent in
// memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

constexpr size_t kPanelColumns = 64;
constexpr size_t kRowsAtOnce = 4;

// out[i] = bytes[i] - zero. The bytes are int8 where `is_signed`, else uint8.
void widen_bytes(const uint8_t* bytes, bool is_signed, int32_t zero, size_t count, int16_t* out);

// One pair of rows of a panel: out[2 i] = first[i] - zeros[i], out[2 i + 1] = second[i] - zeros[i]
// (0 where `second` is null), and 0 from column `count` up to kPanelColumns.
void pack_pair(const uint8_t* first, const uint8_t* second, bool is_signed, const int16_t* zeros,
               size_t count, int16_t* out);

// sums[r][c] over the pairs of left[r] (of 2 * pairs elements, `left_step` apart) and the panel's
// column c; `rows` is at most kRowsAtOnce, sums has kPanelColumns columns.
void multiply_panel(const int16_t* left, size_t left_step, size_t rows, const int16_t* panel,
                    size_t pairs, int32_t* sums);

// The epilogue of a row of int32 sums: out = (sum + bias) [* scale [+ addend]], rounded half to
// even and moved by `zero` for bytes. Pointers with a step of 0 are one value for the row; null
// where there is none.
enum class SumType : uint8_t { kInt32, kFloat, kUInt8, kInt8 };
struct RowFinish {
  SumType type = SumType::kInt32;
  const int32_t* bias = nullptr;
  bool bias_steps = false;
  const float* scale = nullptr;  // not of kInt32
  bool scale_steps = false;
  const float* addend = nullptr;  // of kFloat; has a step
  int32_t zero = 0;
};
void finish_row(const RowFinish& finish, const int32_t* sums, size_t count, void* out);

}  // namespace sardonyx::cpu
