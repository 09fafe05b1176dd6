#include <gmock/gmock.h>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

AttrMap blob_of_type(int64_t type) {
  return {{"blk_quant_type", type}};
}

// One block of scale 0.5: byte i holds input i in its low bits and input i + 16 in its high ones.
Datum blob(bool has_zero) {
  std::vector<uint8_t> bytes{0, 0, 0, 0x3f};
  if (has_zero) bytes.push_back(3);
  for (uint8_t i = 0; i < 16; ++i)
    bytes.push_back(static_cast<uint8_t>(i << 4 | (15 - i)));
  return Tensor::vector(bytes);
}

TEST(MatMulFpQ4, ReadsBlocksOfABlob) {
  const auto product = [](size_t input, int64_t type) {
    std::vector<float> one(20, 0);
    one[input] = 1;
    return run_op("com.microsoft::MatMulFpQ4",
                  {floats(one, {1, 20}), blob(type == 1), Tensor::vector<int64_t>({20, 1})},
                  blob_of_type(type))[0];
  };
  expect_near(product(0, 0), {0.5 * (15 - 8)}, 1e-6);
  expect_near(product(3, 0), {0.5 * (12 - 8)}, 1e-6);
  expect_near(product(18, 0), {0.5 * (2 - 8)}, 1e-6);
  expect_near(product(18, 1), {0.5 * (2 - 3)}, 1e-6);
}

TEST(MatMulFpQ4, RefusesOtherBlobs) {
  using ::testing::HasSubstr;
  const auto refusal = [](int64_t columns, int64_t type) {
    return error_of("com.microsoft::MatMulFpQ4",
                    {floats(std::vector<float>(20, 1), {1, 20}), blob(false),
                     Tensor::vector<int64_t>({20, columns})},
                    blob_of_type(type));
  };
  EXPECT_EQ(refusal(1, 0), "");
  EXPECT_THAT(refusal(2, 0), HasSubstr("input B: expected 40 bytes by B_shape"));
  EXPECT_THAT(refusal(1, 1), HasSubstr("input B: expected 21 bytes by B_shape"));
  EXPECT_THAT(refusal(1, 2), HasSubstr("only 0 and 1 (blocks of 32) are supported, got 2"));
  EXPECT_THAT(refusal(-1, 0), HasSubstr("expected two sizes from 1 to 2^31 - 1, got [20, -1]"));
}

}  // namespace
}  // namespace sardonyx
