// Softmax and LogSoftmax of float64 against the reference, along any axis, in place, with one
// thread and with several.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

void check_softmax_f64(const Tensor& x, int64_t axis) {
  for (const char* name : {"Softmax", "LogSoftmax"}) {
    // Of sums that are near 1, and one element after the other in the reference.
    const double least = op_named(name).name == "LogSoftmax" ? 1e-14 : 1e-300;
    SCOPED_TRACE(text(name, " of ", to_text(x.shape()), " along axis ", axis));
    const OpDef& op = op_named(name);
    const Attrs attrs = Attrs::parse(*op.attrs, {{"axis", axis}});
    const Tensor wanted = evaluate(op, attrs, std::vector<Datum>{x}, 1)[0].tensor();
    const KernelTensor tensor{DType::kDouble, x.shape(), nullptr, nullptr};
    for (const int threads : {1, 3}) {
      KernelRequest request{op, attrs, {&tensor, 1}, {&tensor, 1}};
      request.threads = threads;
      const Prepared prepared = prepare_portable(request);
      ASSERT_TRUE(prepared.kernel) << prepared.refusal;
      EXPECT_TRUE(prepared.kernel->may_alias(0, 0));
      const Tensor got = Tensor::allocate(DType::kDouble, x.shape());
      std::memcpy(const_cast<void*>(got.raw()), x.raw(), x.bytes());
      const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
      const void* const source = got.raw();
      void* target = const_cast<void*>(got.raw());
      prepared.kernel->run({&source, &target, scratch->data()});
      const auto a = got.values<double>(), b = wanted.values<double>();
      for (size_t i = 0; i < a.size(); ++i) {
        if (std::isnan(b[i])) {
          ASSERT_TRUE(std::isnan(a[i])) << "element " << i;
        } else if (a[i] != b[i]) {
          ASSERT_NEAR(a[i], b[i], 1e-13 * std::fabs(b[i]) + least) << "element " << i;
        }
      }
    }
  }
}

TEST(SoftmaxF64, LinesAreThoseOfTheReference) {
  for (const int64_t length : {1, 2, 7, 8, 9, 16, 33, 1000, 70001}) {
    check_softmax_f64(drawn_tensor(DType::kDouble, {3, length}, -30, 30, 1), 1);
    check_softmax_f64(drawn_tensor(DType::kDouble, {length}, -1000, 1000, 2), 0);
  }
  check_softmax_f64(drawn_tensor(DType::kDouble, {2000, 10}, -3, 3, 3), -1);
}

TEST(SoftmaxF64, ColumnsAreThoseOfTheReference) {
  for (const int64_t columns : {2, 3, 8, 13, 255, 256, 257, 600}) {
    check_softmax_f64(drawn_tensor(DType::kDouble, {5, columns}, -30, 30, 1), 0);
    check_softmax_f64(drawn_tensor(DType::kDouble, {3, 40, columns}, -30, 30, 2), 1);
  }
  check_softmax_f64(drawn_tensor(DType::kDouble, {70001, 2}, -30, 30, 3), 0);
}

TEST(SoftmaxF64, NansAndInfinitiesAreThoseOfTheReference) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double special : {std::nan(""), kInfinity, -kInfinity}) {
    for (const int64_t axis : {0, 1}) {
      for (const size_t at : {0, 11, 18, 36}) {
        Tensor x = drawn_tensor(DType::kDouble, {19, 19}, -2, 2, 1);
        x.mutable_values<double>()[at] = special;
        check_softmax_f64(x, axis);
      }
      Tensor x = Tensor::allocate(DType::kDouble, {19, 19});
      std::ranges::fill(x.mutable_values<double>(), special);
      check_softmax_f64(x, axis);
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
