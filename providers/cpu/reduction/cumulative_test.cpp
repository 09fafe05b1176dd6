// CumSum and CumProd down columns, and Hardmax along rows, against the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

// By the first kernel that takes the call; input 1 is known ahead. The output may be input 0.
void check_bits(const char* name, const AttrMap& attr_map, const std::vector<Tensor>& inputs) {
  const OpDef& op = op_named(name);
  const Attrs attrs = Attrs::parse(*op.attrs, attr_map);
  const Tensor wanted =
      evaluate(op, attrs, std::vector<Datum>(inputs.begin(), inputs.end()), 1)[0].tensor();
  std::vector<KernelTensor> in;
  for (const Tensor& input : inputs)
    in.push_back({input.dtype(), input.shape(), nullptr, in.empty() ? nullptr : &input});
  const KernelTensor out{wanted.dtype(), wanted.shape(), nullptr, nullptr};
  for (const int threads : {1, 3}) {
    KernelRequest request{op, attrs, in, {&out, 1}};
    request.threads = threads;
    const Prepared prepared = prepare_portable(request);
    ASSERT_TRUE(prepared.kernel) << prepared.refusal;
    EXPECT_TRUE(prepared.kernel->may_alias(0, 0));
    const Tensor got = Tensor::allocate(wanted.dtype(), wanted.shape());
    std::memcpy(const_cast<void*>(got.raw()), inputs[0].raw(), wanted.bytes());
    const void* const sources[] = {got.raw(), nullptr};
    void* target = const_cast<void*>(got.raw());
    prepared.kernel->run({sources, &target, nullptr});
    EXPECT_EQ(std::memcmp(got.raw(), wanted.raw(), wanted.bytes()), 0)
        << name << " of " << Datum(inputs[0]).type() << " on " << threads << " threads";
  }
}

TEST(Cumulative, ColumnsAreThoseOfTheReference) {
  for (const Shape& shape :
       {Shape{3, 2}, Shape{2, 5, 7}, Shape{4, 67}, Shape{2, 3, 130}, Shape{9, 2100}}) {
    const Tensor axis = Tensor::scalar<int64_t>(-2);
    for (const int64_t flags : {0, 1, 2, 3}) {
      const AttrMap attrs{{"exclusive", flags % 2}, {"reverse", flags / 2}};
      for (const DType dtype : {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64})
        check_bits("CumSum", attrs, {drawn_tensor(dtype, shape, -2e9, 2e9, 1), axis});
      for (const DType dtype : {DType::kFloat, DType::kDouble})
        check_bits("CumProd", attrs, {drawn_tensor(dtype, shape, -2, 2, 1), axis});
    }
  }
}

// Of several that are greatest the first; a NaN is greater than all else.
TEST(Hardmax, RowsAreThoseOfTheReference) {
  for (const int64_t size : {1, 5, 16, 33, 1000}) {
    const Tensor x = drawn_tensor(DType::kFloat, {40, size}, -2, 2, 1);
    auto* const elements = static_cast<float*>(x.raw());
    for (int64_t i = 0; i < x.count(); ++i)
      elements[i] = std::round(elements[i]);
    elements[size + size / 2] = std::numeric_limits<float>::quiet_NaN();
    for (int64_t i = 0; i < size; ++i)
      elements[2 * size + i] = -std::numeric_limits<float>::infinity();
    check_bits("Hardmax", {}, {x});
  }
}

}  // namespace
}  // namespace sardonyx::cpu
