// Comparisons of rows and the choice among elements of 32 bits, vectorised for the CPU that runs
// them. An operand without steps is one element for the whole row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

enum class CompareOp : uint8_t { kEqual, kGreater, kGreaterOrEqual, kLess, kLessOrEqual };

// out[i] = a[i] op b[i] of elements of T: float, double, int32_t or int64_t.
template <typename T>
void compare_row(CompareOp op, const T* a, bool a_steps, const T* b, bool b_steps, bool* out,
                 size_t count);
// out[i] = condition[i] ? taken[i] : other[i]; `out` may be an operand that steps.
void choose_words(const uint8_t* condition, const uint32_t* taken, bool taken_steps,
                  const uint32_t* other, bool other_steps, uint32_t* out, size_t count);

}  // namespace sardonyx::cpu
