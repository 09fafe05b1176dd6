// Products of bytes by our own kernel are the reference's, for all shares of rows and columns.
#include "providers/cpu/gemm/qgemm.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ir/reference_evaluator.h"
#include "providers/cpu/conv/igemm_u8s8.h"
#include "tests/support/bytes.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

struct ProductSizes {
  Shape a;
  int64_t columns;
};

const ProductSizes kProductSizes[] = {
    {{4}, 16},          {{1, 64}, 48},     {{1, 8, 20}, 33}, {{13, 100}, 17}, {{15, 768}, 100},
    {{2, 150, 32}, 31}, {{600, 1024}, 40}, {{29, 12}, 2000}, {{1, 1}, 16},    {{3, 30}, 64}};

// Any bytes, or those of the largest sums.
Tensor product_bytes(DType dtype, const Shape& shape, bool extreme, uint32_t seed) {
  Tensor tensor = random_bytes(dtype, shape, seed);
  if (extreme) std::memset(tensor.raw(), dtype == DType::kInt8 ? 0x80 : 0xff, tensor.bytes());
  return tensor;
}

class ByteProducts : public testing::TestWithParam<std::tuple<DType, bool>> {
 protected:
  void SetUp() override {
    if (!cpu::has_igemm_u8s8() || !has_exact_byte_products()) GTEST_SKIP() << "no VNNI";
    if (onednn_uses_amx()) GTEST_SKIP() << "tiles are faster";
  }

  static void expect_same(const char* name, const std::vector<Tensor>& inputs, uint32_t constants,
                          int64_t depth) {
    const OpDef& op = op_named(name);
    const Attrs attrs = Attrs::parse(*op.attrs, {});
    std::vector<Datum> data;
    for (const Tensor& input : inputs)
      data.push_back(input ? Datum(input) : Datum());
    const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
    for (const int threads : {1, 2}) {
      RunOptions options;
      options.threads = threads;
      options.constants = constants;
      PreparedRun run(op, attrs, inputs, {Datum(expected).type()}, options);
      EXPECT_EQ(run.prepared().implementation == "gemm_u8s8", depth % 4 == 0)
          << name << ' ' << depth;
      run.run();
      EXPECT_EQ(run.outputs()[0], expected)
          << name << ' ' << to_text(inputs[0].shape()) << ' ' << threads;
    }
  }
};

TEST_P(ByteProducts, are_the_integers_of_the_reference) {
  const auto [type, extreme] = GetParam();
  for (const auto& [a_shape, columns] : kProductSizes) {
    const Tensor a = product_bytes(type, a_shape, extreme, 1);
    const Tensor b = product_bytes(DType::kInt8, {a_shape.back(), columns}, extreme, 2);
    const Tensor zero = random_bytes(type, {}, 3);
    expect_same("MatMulInteger", {a, b, zero}, 0b10, a_shape.back());
    expect_same("MatMulInteger", {a, b}, 0b10, a_shape.back());
  }
}

TEST_P(ByteProducts, are_the_numbers_of_the_reference) {
  const auto [type, extreme] = GetParam();
  for (const auto& [a_shape, columns] : kProductSizes) {
    if (a_shape.back() % 4 != 0) continue;  // oneDNN rounds in another order
    const Tensor a = product_bytes(type, a_shape, extreme, 4);
    Tensor b = random_bytes(DType::kUInt8, {a_shape.back(), columns}, 5);
    for (int64_t i = 0; i < b.count(); ++i)
      static_cast<uint8_t*>(b.raw())[i] %= 200;
    Tensor b_scales = Tensor::allocate(DType::kFloat, {columns});
    Tensor bias = Tensor::allocate(DType::kFloat, {columns});
    for (int64_t i = 0; i < columns; ++i) {
      b_scales.mutable_values<float>()[static_cast<size_t>(i)] = 0.001f * static_cast<float>(i + 7);
      bias.mutable_values<float>()[static_cast<size_t>(i)] = static_cast<float>(i) - 3.3f;
    }
    const Tensor b_zero = byte_tensor(DType::kUInt8, 90);
    expect_same("com.microsoft::MatMulIntegerToFloat",
                {a, b, Tensor::scalar(0.37f), b_scales, random_bytes(type, {}, 7), b_zero, bias},
                0b101010, a_shape.back());
    expect_same("com.microsoft::MatMulIntegerToFloat",
                {a, b, Tensor::scalar(0.37f), Tensor::scalar(0.02f), Tensor(), b_zero}, 0b101010,
                a_shape.back());
  }
}

// Without their zero point these weights do not fit into int8.
TEST_P(ByteProducts, with_any_zero_point_of_the_weights_are_those_of_the_reference) {
  const auto [type, extreme] = GetParam();
  const Tensor zeros[] = {byte_tensor(DType::kUInt8, 0),   byte_tensor(DType::kUInt8, 119),
                          byte_tensor(DType::kUInt8, 255), byte_tensor(DType::kInt8, -128),
                          byte_tensor(DType::kInt8, 5),    byte_tensor(DType::kInt8, 127)};
  for (const auto& [a_shape, columns] : kProductSizes) {
    if (a_shape.back() % 4 != 0) continue;
    const Tensor a = product_bytes(type, a_shape, extreme, 1), a_zero = random_bytes(type, {}, 3);
    for (const Tensor& zero : zeros) {
      const Tensor b =
          product_bytes(zero.dtype(), {a_shape.back(), columns}, extreme && columns > 1000, 2);
      expect_same("MatMulInteger", {a, b, a_zero, zero}, 0b1010, a_shape.back());
      expect_same("com.microsoft::MatMulIntegerToFloat",
                  {a, b, Tensor::scalar(0.37f), Tensor::scalar(0.02f), a_zero, zero}, 0b101010,
                  a_shape.back());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ByteProducts,
                         testing::Combine(testing::Values(DType::kUInt8, DType::kInt8),
                                          testing::Bool()));

}  // namespace
}  // namespace sardonyx::onednn
