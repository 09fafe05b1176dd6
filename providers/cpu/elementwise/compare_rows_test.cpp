// Comparisons of numbers near the ends of their types, of rows and of one element with a row,
// against the reference.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "ir/reference_evaluator.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

template <typename T>
std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> all{Limits::lowest(), T{-1}, T{0}, T{1}, Limits::max()};
  if constexpr (Limits::has_infinity)
    all.insert(all.end(), {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), T(-0.0)});
  else
    all.insert(all.end(), {Limits::lowest() + 1, Limits::max() - 1, T{1} << (Limits::digits - 1)});
  return all;
}

void check_comparison(const char* name, const Tensor& a, const Tensor& b) {
  const OpDef& op = op_named(name);
  const Tensor wanted = evaluate(op, Attrs(), std::vector<Datum>{a, b}, 1)[0].tensor();
  const KernelTensor in[] = {{a.dtype(), a.shape(), nullptr, nullptr},
                             {b.dtype(), b.shape(), nullptr, nullptr}};
  const KernelTensor out{DType::kBool, wanted.shape(), nullptr, nullptr};
  const Attrs attrs;
  const Prepared prepared = prepare_portable({op, attrs, in, {&out, 1}});
  ASSERT_TRUE(prepared.kernel) << prepared.refusal;
  Tensor got = Tensor::zeros(DType::kBool, wanted.shape());
  const void* const sources[] = {a.raw(), b.raw()};
  void* target = got.raw();
  prepared.kernel->run({sources, &target, nullptr});
  EXPECT_EQ(std::memcmp(got.raw(), wanted.raw(), wanted.bytes()), 0)
      << name << " of " << Datum(a).type() << " and " << Datum(b).type();
}

template <typename T>
void check_all_comparisons() {
  const std::vector<T> all = edges<T>();
  std::vector<T> left, right;  // each with each, in rows longer than vectors
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const T a : all) {
      for (const T b : all)
        left.push_back(a), right.push_back(b);
    }
  }
  const Tensor a = Tensor::vector(left), b = Tensor::vector(right);
  for (const char* name : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    check_comparison(name, a, b);
    for (const T one : all) {
      check_comparison(name, a, Tensor::scalar(one));
      check_comparison(name, Tensor::scalar(one), b);
    }
  }
}

TEST(CompareRows, GiveWhatTheReferenceGives) {
  check_all_comparisons<float>();
  check_all_comparisons<double>();
  check_all_comparisons<int32_t>();
  check_all_comparisons<int64_t>();
}

}  // namespace
}  // namespace sardonyx::cpu
