#include "providers/cpu/elementwise/compare_select_kernel.h"

#include <functional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/elementwise/compare_select_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/elementwise/compare_rows_kernel.h"
#include "providers/cpu/elementwise/elementwise_generic_kernel.h"
#include "providers/cpu/quantization/quantize_linear_kernel.h"

// Loops that the compiler makes vectors of, for each target.
HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {

template <typename T, typename Op>
void pair_row(const void* a_row, bool a_steps, const void* b_row, bool b_steps, bool* out,
              int64_t count) {
  const T* a = static_cast<const T*>(a_row);
  const T* b = static_cast<const T*>(b_row);
  const Op op{};
  if (a_steps && b_steps) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = op(a[i], b[i]);
  } else if (a_steps) {
    const T right = *b;
    for (int64_t i = 0; i < count; ++i)
      out[i] = op(a[i], right);
  } else {
    const T left = *a;
    for (int64_t i = 0; i < count; ++i)
      out[i] = b_steps ? op(left, b[i]) : op(left, *b);
  }
}

// `Op` on bools, of which any byte but 0 is true.
template <template <typename> typename Op>
struct OfBools {
  bool operator()(uint8_t a, uint8_t b) const {
    return Op<uint8_t>()(uint8_t{a != 0}, uint8_t{b != 0});
  }
};

template <template <typename> typename Op>
PairRow row_for(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return pair_row<int8_t, Op<int8_t>>;
    case DType::kUInt8:
      return pair_row<uint8_t, Op<uint8_t>>;
    case DType::kBool:
      return pair_row<uint8_t, OfBools<Op>>;
    default:
      return nullptr;
  }
}

template <CompareOp comparison, typename T>
void vector_row(const void* a, bool a_steps, const void* b, bool b_steps, bool* out,
                int64_t count) {
  compare_row(comparison, static_cast<const T*>(a), a_steps, static_cast<const T*>(b), b_steps, out,
              static_cast<size_t>(count));
}

template <template <typename> typename Op, CompareOp comparison>
PairRow comparison_for(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return vector_row<comparison, float>;
    case DType::kDouble:
      return vector_row<comparison, double>;
    case DType::kInt32:
      return vector_row<comparison, int32_t>;
    case DType::kInt64:
      return vector_row<comparison, int64_t>;
    default:
      return row_for<Op>(dtype);
  }
}
// Logical ops on bytes that are 0 or 1, without branches.
template <typename T>
struct And {
  bool operator()(T a, T b) const { return a & b; }
};
template <typename T>
struct Or {
  bool operator()(T a, T b) const { return a | b; }
};
template <typename T>
struct Xor {
  bool operator()(T a, T b) const { return a != b; }
};

template <typename T, bool condition_steps, bool taken_steps, bool other_steps>
void choose_row(const Choice& row) {
  const T* taken = static_cast<const T*>(row.taken);
  const T* other = static_cast<const T*>(row.other);
  T* out = static_cast<T*>(row.out);
  for (int64_t i = 0; i < row.count; ++i) {
    const T yes = taken[taken_steps ? i : 0], no = other[other_steps ? i : 0];
    // The mask has all bits set or none, so that the selection needs no branch.
    const T mask =
        static_cast<T>(T{0} - static_cast<T>(row.condition[condition_steps ? i : 0] != 0));
    out[i] = static_cast<T>((yes & mask) | (no & static_cast<T>(~mask)));
  }
}

template <bool taken_steps, bool other_steps>
void choose_words_row(const Choice& row) {
  choose_words(row.condition, static_cast<const uint32_t*>(row.taken), taken_steps,
               static_cast<const uint32_t*>(row.other), other_steps,
               static_cast<uint32_t*>(row.out), static_cast<size_t>(row.count));
}

ChooseRow choose_words_row_of(const std::array<bool, 3>& steps) {
  static constexpr ChooseRow kRows[] = {
      choose_words_row<false, false>, choose_words_row<false, true>, choose_words_row<true, false>,
      choose_words_row<true, true>};
  return kRows[2 * steps[1] + steps[2]];
}

template <typename T>
ChooseRow choose_row_of(const std::array<bool, 3>& steps) {
  static constexpr ChooseRow kRows[] = {
      choose_row<T, false, false, false>, choose_row<T, false, false, true>,
      choose_row<T, false, true, false>,  choose_row<T, false, true, true>,
      choose_row<T, true, false, false>,  choose_row<T, true, false, true>,
      choose_row<T, true, true, false>,   choose_row<T, true, true, true>};
  return kRows[4 * steps[0] + 2 * steps[1] + steps[2]];
}

PairRow PairRowFor(std::string_view op, DType dtype) {
  if (op == "Equal") return comparison_for<std::equal_to, CompareOp::kEqual>(dtype);
  if (op == "Greater") return comparison_for<std::greater, CompareOp::kGreater>(dtype);
  if (op == "GreaterOrEqual")
    return comparison_for<std::greater_equal, CompareOp::kGreaterOrEqual>(dtype);
  if (op == "Less") return comparison_for<std::less, CompareOp::kLess>(dtype);
  if (op == "LessOrEqual") return comparison_for<std::less_equal, CompareOp::kLessOrEqual>(dtype);
  if (dtype != DType::kBool) return nullptr;
  if (op == "And") return row_for<And>(dtype);
  if (op == "Or") return row_for<Or>(dtype);
  if (op == "Xor") return row_for<Xor>(dtype);
  return nullptr;
}

void NotRow(const uint8_t* in, bool* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = in[i] == 0;
}

ChooseRow ChooseRowFor(int bits, const std::array<bool, 3>& steps) {
  switch (bits) {
    case 8:
      return choose_row_of<uint8_t>(steps);
    case 16:
      return choose_row_of<uint16_t>(steps);
    case 32:
      return steps[0] ? choose_words_row_of(steps) : choose_row_of<uint32_t>(steps);
    case 64:
      return choose_row_of<uint64_t>(steps);
    default:
      return nullptr;
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {
namespace {

void widen_row(const void* in, void* out, size_t count) {
  half_to_float_row(static_cast<const uint16_t*>(in), static_cast<float*>(out), count);
}

void narrow_row(const void* in, void* out, size_t count) {
  float_to_half_row(static_cast<const float*>(in), static_cast<uint16_t*>(out), count);
}

}  // namespace

HWY_EXPORT(PairRowFor);
HWY_EXPORT(NotRow);
HWY_EXPORT(ChooseRowFor);

PairRow pair_row_for(std::string_view op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(PairRowFor)(op, dtype);
}

void not_row(const uint8_t* in, bool* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(NotRow)(in, out, count);
}

ChooseRow choose_row_for(int bits, const std::array<bool, 3>& steps) {
  return HWY_DYNAMIC_DISPATCH(ChooseRowFor)(bits, steps);
}

CastRow cast_row_for(DType from, DType to) {
  switch (from) {
    case DType::kFloat16:
      return to == DType::kFloat ? widen_row : nullptr;
    case DType::kFloat:
      return to == DType::kFloat16 ? narrow_row : nullptr;
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kInt32:
    case DType::kInt64:
      return number_cast_row_of(from, to);
    default:
      return nullptr;
  }
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
