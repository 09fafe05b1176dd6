// Comparisons of rows and the choice among elements of 32 bits, vectorised for the CPU that runs
// them.
#include "providers/cpu/elementwise/compare_rows_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/elementwise/compare_rows_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using Bytes = hn::Rebind<uint8_t, Floats>;

template <typename T, typename Test>
HWY_INLINE void compare_row(const T* a, bool a_steps, const T* b, bool b_steps, bool* out,
                            size_t count, const Test& test) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<uint8_t, decltype(d)> narrow;
  const hn::RebindToUnsigned<decltype(d)> wide;
  const size_t lanes = hn::Lanes(d);
  const auto first = hn::Set(d, *a), second = hn::Set(d, *b);
  const auto one = hn::Set(wide, 1);
  auto* bytes = reinterpret_cast<uint8_t*>(out);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto mask =
        test(a_steps ? hn::LoadU(d, a + i) : first, b_steps ? hn::LoadU(d, b + i) : second);
    const auto truth = hn::IfThenElseZero(hn::RebindMask(wide, mask), one);
    hn::StoreU(hn::TruncateTo(narrow, truth), narrow, bytes + i);
  }
  const hn::CappedTag<T, 1> single;
  for (; i < count; ++i) {
    const auto mask =
        test(hn::Set(single, a[a_steps ? i : 0]), hn::Set(single, b[b_steps ? i : 0]));
    out[i] = hn::AllTrue(single, mask);
  }
}

// Integers have no such comparison; floats are not all ordered.
template <class V>
HWY_INLINE auto at_least(V x, V y) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>())
    return hn::Ge(x, y);
  else
    return hn::Not(hn::Lt(x, y));
}

template <typename T>
void compare_row_by(CompareOp op, const T* a, bool a_steps, const T* b, bool b_steps, bool* out,
                    size_t count) {
  if (count == 0) return;
  const auto run = [&](const auto& test)
                       HWY_ATTR { compare_row(a, a_steps, b, b_steps, out, count, test); };
  switch (op) {
    case CompareOp::kEqual:
      return run([](auto x, auto y) HWY_ATTR { return hn::Eq(x, y); });
    case CompareOp::kGreater:
      return run([](auto x, auto y) HWY_ATTR { return hn::Gt(x, y); });
    case CompareOp::kGreaterOrEqual:
      return run([](auto x, auto y) HWY_ATTR { return at_least(x, y); });
    case CompareOp::kLess:
      return run([](auto x, auto y) HWY_ATTR { return hn::Lt(x, y); });
    case CompareOp::kLessOrEqual:
      return run([](auto x, auto y) HWY_ATTR { return at_least(y, x); });
  }
}

void CompareFloats(CompareOp op, const float* a, bool a_steps, const float* b, bool b_steps,
                   bool* out, size_t count) {
  compare_row_by(op, a, a_steps, b, b_steps, out, count);
}
void CompareDoubles(CompareOp op, const double* a, bool a_steps, const double* b, bool b_steps,
                    bool* out, size_t count) {
  compare_row_by(op, a, a_steps, b, b_steps, out, count);
}
void CompareInt32s(CompareOp op, const int32_t* a, bool a_steps, const int32_t* b, bool b_steps,
                   bool* out, size_t count) {
  compare_row_by(op, a, a_steps, b, b_steps, out, count);
}
void CompareInt64s(CompareOp op, const int64_t* a, bool a_steps, const int64_t* b, bool b_steps,
                   bool* out, size_t count) {
  compare_row_by(op, a, a_steps, b, b_steps, out, count);
}

void ChooseWords(const uint8_t* condition, const uint32_t* taken, bool taken_steps,
                 const uint32_t* other, bool other_steps, uint32_t* out, size_t count) {
  if (count == 0) return;
  const Words d;
  const size_t lanes = hn::Lanes(d);
  const auto yes = hn::Set(d, *taken), no = hn::Set(d, *other);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto truth = hn::PromoteTo(d, hn::LoadU(Bytes(), condition + i));
    const auto mask = hn::Ne(truth, hn::Zero(d));
    hn::StoreU(hn::IfThenElse(mask, taken_steps ? hn::LoadU(d, taken + i) : yes,
                              other_steps ? hn::LoadU(d, other + i) : no),
               d, out + i);
  }
  for (; i < count; ++i)
    out[i] = condition[i] != 0 ? taken[taken_steps ? i : 0] : other[other_steps ? i : 0];
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(CompareFloats);
HWY_EXPORT(CompareDoubles);
HWY_EXPORT(CompareInt32s);
HWY_EXPORT(CompareInt64s);
HWY_EXPORT(ChooseWords);

template <>
void compare_row(CompareOp op, const float* a, bool a_steps, const float* b, bool b_steps,
                 bool* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(CompareFloats)(op, a, a_steps, b, b_steps, out, count);
}
template <>
void compare_row(CompareOp op, const double* a, bool a_steps, const double* b, bool b_steps,
                 bool* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(CompareDoubles)(op, a, a_steps, b, b_steps, out, count);
}
template <>
void compare_row(CompareOp op, const int32_t* a, bool a_steps, const int32_t* b, bool b_steps,
                 bool* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(CompareInt32s)(op, a, a_steps, b, b_steps, out, count);
}
template <>
void compare_row(CompareOp op, const int64_t* a, bool a_steps, const int64_t* b, bool b_steps,
                 bool* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(CompareInt64s)(op, a, a_steps, b, b_steps, out, count);
}

void choose_words(const uint8_t* condition, const uint32_t* taken, bool taken_steps,
                  const uint32_t* other, bool other_steps, uint32_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(ChooseWords)
  (condition, taken, taken_steps, other, other_steps, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
