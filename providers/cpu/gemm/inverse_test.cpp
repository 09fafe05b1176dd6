// Inverses against the reference, of several sizes, on one thread and on several.
#include <gmock/gmock.h>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

using testing::DoubleNear, testing::Pointwise;

Tensor inverse_by_kernel(const Tensor& x, int threads) {
  const OpDef& op = op_named("com.microsoft::Inverse");
  const Attrs attrs;
  const KernelTensor type{x.dtype(), x.shape(), nullptr, nullptr};
  KernelRequest request{op, attrs, {&type, 1}, {&type, 1}};
  request.threads = threads;
  const Prepared prepared = prepare_portable(request);
  Tensor made = Tensor::allocate(x.dtype(), x.shape());
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
      const std::vector<Datum> inputs{x};
      const Tensor wanted =
          evaluate(op_named("com.microsoft::Inverse"), Attrs(), inputs, 1)[0].tensor();
      for (const int threads : {1, 3}) {
        const std::vector<double> got = inverse_by_kernel(x, threads).to_doubles();
        EXPECT_THAT(got, Pointwise(DoubleNear(1e-5), wanted.to_doubles())) << to_text(shape);
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
