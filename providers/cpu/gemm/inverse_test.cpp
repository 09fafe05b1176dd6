// Inverses and determinants against the reference, of several sizes, on one thread and on several.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

Tensor by_kernel(const char* name, const Tensor& x, const Shape& result, int threads) {
  const OpDef& op = op_named(name);
  const Attrs attrs;
  const KernelTensor type{x.dtype(), x.shape(), nullptr, nullptr};
  const KernelTensor out{x.dtype(), result, nullptr, nullptr};
  KernelRequest request{op, attrs, {&type, 1}, {&out, 1}};
  request.threads = threads;
  const Prepared prepared = prepare_portable(request);
  Tensor made = Tensor::allocate(x.dtype(), result);
  EXPECT_TRUE(prepared.kernel) << prepared.refusal;
  if (!prepared.kernel) return made;
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
  const void* source = x.raw();
  void* target = made.raw();
  prepared.kernel->run({&source, &target, scratch->data()});
  return made;
}

// Pivots are exchanged: the diagonal is nothing special.
TEST(InverseKernel, GivesWhatTheReferenceGives) {
  for (const DType dtype : {DType::kFloat, DType::kDouble}) {
    for (const Shape& shape :
         {Shape{1, 1}, Shape{3, 2, 2}, Shape{7, 7}, Shape{5, 16, 16}, Shape{2, 3, 45, 45}}) {
      const Tensor x = drawn_tensor(dtype, shape, -2, 2, 1);
      for (const char* name : {"com.microsoft::Inverse", "Det"}) {
        const std::vector<Datum> inputs{x};
        const Tensor wanted = evaluate(op_named(name), Attrs(), inputs, 1)[0].tensor();
        for (const int threads : {1, 3}) {
          const Tensor got = by_kernel(name, x, wanted.shape(), threads);
          const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
          for (size_t i = 0; i < a.size(); ++i)
            ASSERT_NEAR(a[i], b[i], 1e-5 * (1 + std::abs(b[i]))) << name << to_text(shape);
        }
      }
    }
  }
}

TEST(DetKernel, OfASingularMatrixIsZero) {
  const Tensor x = Tensor::of<float>({0, 1, 0, 2, 1, 2, 3, 4}, {2, 2, 2});
  EXPECT_EQ(by_kernel("Det", x, {2}, 1).to_doubles(), (std::vector<double>{0, -2}));
}

}  // namespace
}  // namespace sardonyx::cpu
