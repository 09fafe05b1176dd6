// Integer products are the same integers as the reference's, in every combination of signs and zero
// points.
#include <gtest/gtest.h>

#include "ir/reference_evaluator.h"
#include "tests/support/bytes.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

Tensor byte_vector(DType dtype, const std::vector<int>& values, const Shape& shape) {
  Tensor tensor = Tensor::allocate(dtype, shape);
  auto* bytes = static_cast<uint8_t*>(tensor.raw());
  for (size_t i = 0; i < values.size(); ++i)
    bytes[i] = static_cast<uint8_t>(values[i]);
  return tensor;
}

void check(const char* op_name, const AttrMap& attributes, const std::vector<Tensor>& inputs) {
  const OpDef& op = op_named(op_name);
  const Attrs attrs = Attrs::parse(*op.attrs, attributes);
  std::vector<Datum> data;
  for (const Tensor& input : inputs) {
    data.emplace_back();
    if (input) data.back() = Datum(input);
  }
  const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
  for (const bool layouts : {false, true}) {
    for (const int threads : {1, 2}) {
      RunOptions options;
      options.layouts = layouts;
      options.threads = threads;
      options.constants = 0b1010;  // the weights and their zero point
      PreparedRun run(op, attrs, inputs, {Datum(expected).type()}, options);
      run.run();
      EXPECT_EQ(run.outputs()[0], expected)
          << op_name << " " << inputs[0].dtype() << " " << inputs[1].dtype() << " by "
          << run.prepared().implementation << ", layouts " << layouts << ", threads " << threads;
    }
  }
}

class IntegerProducts : public testing::TestWithParam<std::pair<DType, DType>> {
 protected:
  void SetUp() override {
    if (!has_exact_byte_products()) GTEST_SKIP() << "no VNNI";
  }
  Tensor weights(const Shape& shape) const { return random_bytes(GetParam().second, shape, 2); }
  Tensor zero_point() const {
    const bool is_signed = GetParam().second == DType::kInt8;
    return byte_vector(GetParam().second, {is_signed ? 0 : 128}, {});
  }
};

TEST_P(IntegerProducts, MatMul) {
  const DType a = GetParam().first;
  const Tensor zero = byte_vector(a, {101}, {});
  check("MatMulInteger", {}, {random_bytes(a, {33, 70}, 1), weights({70, 45}), zero, zero_point()});
  check("MatMulInteger", {}, {random_bytes(a, {2, 3, 9}, 1), weights({9, 5}), {}, zero_point()});
  check("MatMulInteger", {},
        {random_bytes(a, {1, 300}, 1), weights({300, 64}), zero, zero_point()});
}

TEST_P(IntegerProducts, Conv) {
  const DType x = GetParam().first;
  const Tensor zero = byte_vector(x, {77}, {});
  const AttrMap padded{{"pads", std::vector<int64_t>{1, 1, 1, 1}}};
  check("ConvInteger", padded,
        {random_bytes(x, {1, 20, 9, 9}, 1), weights({17, 20, 3, 3}), zero, zero_point()});
  check("ConvInteger", {},
        {random_bytes(x, {2, 32, 9}, 1), weights({16, 32, 3}), {}, zero_point()});
  check("ConvInteger", {{"strides", std::vector<int64_t>{2, 2}}},
        {random_bytes(x, {1, 3, 9, 9}, 1), weights({5, 3, 1, 1}), zero, zero_point()});
}

INSTANTIATE_TEST_SUITE_P(Signs, IntegerProducts,
                         testing::Values(std::pair(DType::kUInt8, DType::kInt8),
                                         std::pair(DType::kUInt8, DType::kUInt8),
                                         std::pair(DType::kInt8, DType::kInt8),
                                         std::pair(DType::kInt8, DType::kUInt8)));

TEST(IntegerZeroPoints, DifferByColumn) {
  if (!has_exact_byte_products()) GTEST_SKIP() << "no VNNI";
  const Tensor zeros = byte_vector(DType::kInt8, {-3, 0, 2}, {3});
  const Tensor weights = byte_vector(DType::kInt8, {1, -50, 100, 7, 8, 9}, {2, 3});
  check("MatMulInteger", {}, {random_bytes(DType::kUInt8, {4, 2}, 1), weights, {}, zeros});
}

TEST(IntegerZeroPoints, RefusedWhereWeightsDoNotFit) {
  const Tensor weights = byte_vector(DType::kUInt8, {0, 255}, {2, 1});
  const Tensor zero = byte_vector(DType::kUInt8, {0}, {});
  const std::vector<Tensor> inputs{random_bytes(DType::kUInt8, {4, 2}, 1), weights, {}, zero};
  RunOptions options;
  options.constants = 0b1010;
  const Attrs attrs;
  const std::vector<Type> outputs{Type::tensor(DType::kInt32, Dims{4, 1})};
  EXPECT_THROW(PreparedRun(op_named("MatMulInteger"), attrs, inputs, outputs, options), Error);
}

}  // namespace
}  // namespace sardonyx::onednn
