#include <gtest/gtest.h>

#include "ir/kernel.h"
#include "providers/providers.h"

namespace sardonyx {
namespace {

// What is added to a product of one column may be a scalar, which has no last dim to look at.
TEST(ProductKernels, take_a_scalar_for_no_row) {
  const KernelTensor a{DType::kUInt8, {2, 3}}, b{DType::kUInt8, {3, 1}}, zero{DType::kUInt8, {}};
  const KernelTensor real{DType::kFloat, {}}, integer{DType::kInt32, {}};
  const KernelTensor x{DType::kFloat, {40, 3}}, w{DType::kFloat, {3, 1}};
  const std::pair<const char*, std::vector<KernelTensor>> calls[] = {
      {"com.microsoft::MatMulIntegerToFloat", {a, b, real, real, zero, zero, real}},
      {"com.microsoft::QGemm", {a, real, zero, b, real, zero, integer, real, zero}},
      {"sardonyx::FusedMatMul", {x, w, real}},
  };
  for (const auto& [name, inputs] : calls) {
    const OpDef& op = op_named(name);
    const Attrs attrs = Attrs::parse(*op.attrs, {});
    const bool is_quantized = op.name == "QGemm";
    const KernelTensor out[] = {
        {is_quantized ? DType::kUInt8 : DType::kFloat, {inputs[0].shape[0], 1}}};
    const auto providers = providers_named({"onednn", "cpu"});
    for (const Provider* provider : providers) {
      for (const KernelEntry& entry : provider->kernels) {
        if (entry.op != name) continue;
        EXPECT_NO_THROW(entry.prepare({op, attrs, inputs, out})) << name << ' ' << entry.name;
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx
