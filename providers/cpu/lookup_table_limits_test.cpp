// Kernels whose tables grow with sizes alone leave sizes that nothing has checked yet to others.
#include "providers/cpu/lookup_table_limits.h"

#include <gtest/gtest.h>

#include "ir/op_def.h"
#include "providers/cpu/provider.h"

namespace sardonyx::cpu {
namespace {

using Ints = std::vector<int64_t>;

struct Call {
  const char* op;
  AttrMap attrs;
  std::vector<KernelTensor> inputs;
  KernelTensor output;
};

std::string answers(const Call& call) {
  const OpDef& op = op_named(call.op);
  const Attrs attrs = Attrs::parse(*op.attrs, call.attrs);
  std::string refusals;
  for (const KernelEntry& entry : cpu_provider().kernels) {
    if (entry.op != call.op) continue;
    const Prepared prepared = entry.prepare({op, attrs, call.inputs, {&call.output, 1}});
    refusals += prepared.kernel ? "accepted; " : prepared.refusal + "; ";
  }
  return refusals;
}

TEST(KernelTables, AreNotMadeForHugeSizes) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  const auto floats = [](const Shape& shape) { return KernelTensor{DType::kFloat, shape}; };
  const auto bytes = [](const Shape& shape) { return KernelTensor{DType::kUInt8, shape}; };
  const auto ints = [](const Shape& shape) { return KernelTensor{DType::kInt32, shape}; };
  const Ints pads{kHuge, 0, kHuge, 0}, window{3, 1};
  const int64_t out = 2 * kHuge - 1;
  const Call calls[] = {
      {"ConvInteger",
       {{"pads", pads}},
       {bytes({1, 1, 1, 1}), bytes({1, 1, 3, 1})},
       ints({1, 1, out, 1})},
      {"ConvInteger",
       {{"pads", Ints{kHuge, kHuge}}},
       {bytes({1, 1, 1}), bytes({1, 1, 3})},
       ints({1, 1, out})},
      {"ConvInteger", {}, {bytes({1, 1, kHuge, 2}), bytes({1, 1, kHuge, 2})}, ints({1, 1, 1, 1})},
      {"MatMulInteger", {}, {bytes({kHuge, 1, 2, 2}), bytes({2, 2, 2})}, ints({kHuge, 2, 2, 2})},
      {"MatMul", {}, {ints({kHuge, 1, 2, 2}), ints({2, 2, 2})}, ints({kHuge, 2, 2, 2})},
      {"MatMul", {}, {floats({kHuge, 1, 1, 2}), floats({2, 2, 2})}, floats({kHuge, 2, 1, 2})},
      {"MaxPool",
       {{"kernel_shape", window}},
       {floats({1, 1, kHuge, 3})},
       floats({1, 1, kHuge - 2, 3})},
      {"AveragePool",
       {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}},
       {floats({1, 1, kHuge})},
       floats({1, 1, kHuge})},
  };
  for (const Call& call : calls)
    EXPECT_NE(answers(call).find(kTablesTooLong), std::string::npos) << call.op << answers(call);
}

}  // namespace
}  // namespace sardonyx::cpu
