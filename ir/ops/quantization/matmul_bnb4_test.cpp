#include <gmock/gmock.h>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

AttrMap attrs_of(int64_t k, int64_t n, int64_t type) {
  return {{"K", k}, {"N", n}, {"block_size", int64_t{16}}, {"quant_type", type}};
}

// Two rows of weights, [2, 8] in one block: codes 0 to 15, the first of a byte in its high bits.
TEST(MatMulBnb4, TakesWeightsFromATable) {
  const Datum codes = Tensor::vector<uint8_t>({0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef});
  const auto product = [&](int place, int64_t type) {
    std::vector<float> one(8, 0);
    one[static_cast<size_t>(place)] = 1;
    return run_op("com.microsoft::MatMulBnb4", {floats(one, {1, 8}), codes, floats({3}, {1})},
                  attrs_of(8, 2, type))[0];
  };
  expect_near(product(0, 1), {-3, 3 * 0.0795802996}, 1e-6);
  expect_near(product(7, 1), {0, 3}, 1e-6);
  expect_near(product(3, 0), {3, -3}, 1e-6);
  expect_near(product(2, 0), {2, -2}, 1e-5);
}

// 20 elements in blocks of 16: the second is short.
TEST(MatMulBnb4, BlocksGoOnFromRowToRow) {
  const Datum codes = Tensor::vector(std::vector<uint8_t>(10, 0xff));
  const auto y = run_op("com.microsoft::MatMulBnb4",
                        {floats({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {10}), codes, floats({1, 10}, {2})},
                        attrs_of(10, 2, 1));
  expect_near(y[0], {10, 6 + 40}, 1e-5);
}

TEST(MatMulBnb4, RefusesOtherSizes) {
  const auto refusal = [](int64_t k, int64_t bytes, int64_t scales, int64_t type) {
    return error_of("com.microsoft::MatMulBnb4",
                    {floats(std::vector<float>(16, 1), {1, 16}),
                     Tensor::zeros(DType::kUInt8, {bytes}), Tensor::zeros(DType::kFloat, {scales})},
                    attrs_of(k, 2, type));
  };
  using ::testing::HasSubstr;
  EXPECT_EQ(refusal(16, 16, 2, 0), "");
  EXPECT_THAT(refusal(16, 15, 2, 0), HasSubstr("expected 16 elements by the attributes K, N"));
  EXPECT_THAT(refusal(16, 16, 1, 0), HasSubstr("expected 2 elements by the attributes K, N"));
  EXPECT_THAT(refusal(12, 12, 2, 0), HasSubstr("the last dim of A and the weights"));
  EXPECT_THAT(refusal(16, 16, 2, 2),
              HasSubstr("attribute quant_type: expected 0 (FP4) or 1 (NF4)"));
}

}  // namespace
}  // namespace sardonyx
