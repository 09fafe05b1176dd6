// Matrix products against the reference: those with panels of constant weights, and long ones in
// blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/core/run_control.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/onednn/matmul_row_blocks.h"
#include "tests/support/close.h"
#include "tests/support/expect_error.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

struct RowBlockCase {
  const OpDef& op;
  Attrs attrs;
  std::vector<Tensor> inputs;
  Tensor expected;
};

RowBlockCase case_of(const char* name, const AttrMap& attrs, const std::vector<Shape>& shapes) {
  const OpDef& op = op_named(name);
  RowBlockCase made{op, Attrs::parse(*op.attrs, attrs), {}, {}};
  std::vector<Datum> data;
  for (const Shape& shape : shapes) {
    const bool is_given = !shape.empty();
    made.inputs.push_back(
        is_given ? drawn_tensor(DType::kFloat, shape, -1, 1, made.inputs.size() + 1) : Tensor());
    data.push_back(is_given ? Datum(made.inputs.back()) : Datum());
  }
  made.expected = evaluate(op, made.attrs, data, 1)[0].tensor();
  return made;
}

PreparedRun run_of(const RowBlockCase& c, int threads,
                   std::optional<size_t> overwrite = std::nullopt) {
  RunOptions options;
  options.threads = threads;
  options.constants = 0b110;
  options.overwrite = overwrite;
  const Type type = Type::tensor(DType::kFloat, to_dims(c.expected.shape()));
  PreparedRun run(c.op, c.attrs, c.inputs, {type}, options);
  run.run();
  return run;
}

void check_panels(const RowBlockCase& c, std::optional<size_t> residual = std::nullopt) {
  PreparedRun one = run_of(c, 1);
  EXPECT_EQ(one.prepared().implementation, "fully_connected");
  EXPECT_NE(one.prepared().unread_inputs & 0b10u, 0u);
  expect_within(one.outputs()[0], c.expected, 2e-5f, 5e-5f);
  const PreparedRun two = run_of(c, 2, residual);
  EXPECT_EQ(two.aliased(), residual.has_value());
  EXPECT_EQ(std::memcmp(two.outputs()[0].raw(), one.outputs()[0].raw(), c.expected.bytes()), 0);
}

TEST(PanelProduct, OfAllWidthsAndRows) {
  for (const int64_t columns : {2, 3, 16, 30, 33, 200}) {
    for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 25, 700}) {
      SCOPED_TRACE(text(rows, " x ", columns));
      check_panels(case_of("MatMul", {}, {{rows, 40}, {40, columns}}));
    }
  }
}

// Sums of few rows take four, two or one of the inputs at a time.
TEST(PanelProduct, OfFewRowsAndAnyDepth) {
  for (const int64_t depth : {1, 2, 3, 5, 18, 900}) {
    for (const int64_t rows : {1, 2, 3}) {
      SCOPED_TRACE(text(rows, " x ", depth));
      check_panels(case_of("Gemm", {{"transB", int64_t{1}}}, {{rows, depth}, {70, depth}, {70}}));
    }
  }
}

TEST(PanelProduct, OfManyMatricesWithOne) {
  check_panels(case_of("MatMul", {}, {{3, 5, 9, 20}, {20, 48}}));
  check_panels(case_of("MatMul", {}, {{5, 9, 20}, {1, 20, 48}}));
}

TEST(PanelProduct, OfGemm) {
  check_panels(case_of("Gemm", {}, {{33, 20}, {20, 70}, {70}}));
  check_panels(case_of("Gemm", {{"transB", int64_t{1}}}, {{33, 20}, {70, 20}, {1, 70}}));
  check_panels(case_of("Gemm", {{"transB", int64_t{1}}}, {{33, 20}, {70, 20}}));
}

TEST(PanelProduct, AddsAndApplies) {
  for (const char* activation : {"", "Relu", "Tanh", "Gelu"}) {
    SCOPED_TRACE(activation);
    const AttrMap attrs = {{"activation", std::string(activation)}};
    check_panels(
        case_of("sardonyx::FusedMatMul", attrs, {{2, 40, 64}, {64, 300}, {300}, {2, 40, 300}}), 3);
    check_panels(case_of("sardonyx::FusedMatMul", attrs, {{2, 300, 500}, {500, 30}, {30}}));
    check_panels(case_of("sardonyx::FusedMatMul", attrs, {{40, 64}, {64, 20}, {}, {40, 20}}), 3);
    check_panels(case_of("sardonyx::FusedMatMul", attrs, {{7, 64}, {64, 80}, {80}, {7, 80}}), 3);
  }
}

// A row of the result does not depend on how many there are.
TEST(PanelProduct, GivesTheSameRowsForAnyNumberOfThem) {
  const RowBlockCase all = case_of("MatMul", {}, {{100, 300}, {300, 90}});
  const Tensor whole = run_of(all, 1).outputs()[0];
  for (const int64_t rows : {9, 23, 64}) {
    RowBlockCase some = all;
    some.inputs[0] = Tensor(DType::kFloat, {rows, 300}, all.inputs[0].buffer(), 0);
    some.expected = Tensor(DType::kFloat, {rows, 90}, all.expected.buffer(), 0);
    const Tensor got = run_of(some, 2).outputs()[0];
    EXPECT_EQ(std::memcmp(got.raw(), whole.raw(), got.bytes()), 0) << rows;
  }
}

struct Long {
  Shape a, b;  // as the operands are
  bool transA = false, transB = false;
  Shape bias;
  bool has_residual = false;
  bool is_constant = false;
};

void check_blocks(const Long& l, int64_t products_per_block) {
  SCOPED_TRACE(text(to_text(l.a), " x ", to_text(l.b), " by ", products_per_block));
  AttrMap attrs = {{"transA", int64_t{l.transA}}, {"transB", int64_t{l.transB}}};
  std::vector<Shape> shapes{l.a, l.b, l.bias};
  const RowBlockCase plain = case_of("sardonyx::FusedMatMul", attrs, shapes);
  if (l.has_residual) shapes.push_back(plain.expected.shape());
  const RowBlockCase c = case_of("sardonyx::FusedMatMul", attrs, shapes);

  const MatMulDims dims = matmul_dims(l.a, l.b, l.transA, l.transB);
  const auto desc = [](Extents stored, bool transposed) {
    if (!transposed) return plain_desc(memory::data_type::f32, stored);
    std::swap(stored[stored.size() - 1], stored[stored.size() - 2]);
    return transposed_desc(memory::data_type::f32, stored);
  };
  MatMulSpec product;
  product.a = desc(dims.a, l.transA);
  product.b = desc(dims.b, l.transB);
  product.dst = desc(dims.dst, false);
  if (!l.bias.empty()) {
    Extents bias(dims.dst.size(), 1);
    std::ranges::copy(l.bias, bias.end() - static_cast<int64_t>(l.bias.size()));
    product.bias = {2, desc(bias, false)};
  }
  if (l.has_residual) product.residual = 3;

  std::vector<KernelTensor> inputs;
  std::vector<const void*> in;
  for (const Tensor& input : c.inputs) {
    inputs.push_back(input ? KernelTensor{DType::kFloat, input.shape()} : KernelTensor{});
    in.push_back(input ? input.raw() : nullptr);
  }
  if (l.is_constant) inputs[1].constant = &c.inputs[1];
  const KernelTensor output{DType::kFloat, c.expected.shape()};
  const KernelRequest request{c.op, c.attrs, inputs, {&output, 1}};
  const Prepared prepared =
      prepare_in_blocks(request, product, prepare_product, products_per_block);
  ASSERT_TRUE(prepared.kernel) << prepared.refusal;
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
  const Tensor got = Tensor::allocate(DType::kFloat, c.expected.shape());
  void* out[] = {got.raw()};
  prepared.kernel->run({in.data(), out, scratch->data()});
  expect_within(got, c.expected, 2e-5f, 5e-5f);

  const RunControl control{nullptr, std::chrono::steady_clock::now(), {}};
  const ControlScope scope(control);
  EXPECT_THROW(prepared.kernel->run({in.data(), out, scratch->data()}), Error);
}

TEST(ProductBlocks, CutRowsAndBatches) {
  for (const int64_t per_block : {1, 2000, 4000, 9000}) {
    check_blocks({.a = {50, 20}, .b = {20, 30}}, per_block);
    check_blocks({.a = {50, 20}, .b = {20, 30}, .is_constant = true}, per_block);
    check_blocks({.a = {50, 20}, .b = {30, 20}, .transB = true, .bias = {30}}, per_block);
    check_blocks({.a = {50, 20}, .b = {20, 30}, .bias = {50, 30}, .has_residual = true}, per_block);
    check_blocks({.a = {20, 50}, .b = {20, 30}, .transA = true, .bias = {30}}, per_block);
    check_blocks({.a = {6, 10, 20}, .b = {6, 20, 30}, .has_residual = true}, per_block);
    check_blocks({.a = {6, 10, 20}, .b = {6, 20, 30}, .is_constant = true}, per_block);
    check_blocks({.a = {3, 1, 10, 20}, .b = {1, 2, 20, 30}}, per_block);
    check_blocks({.a = {3, 20, 10}, .b = {3, 30, 20}, .transA = true, .transB = true}, per_block);
  }
}

// A product that takes many seconds as a whole.
TEST(ProductBlocks, EndAtTheDeadline) {
  const Tensor a = Tensor::zeros(DType::kFloat, {6000, 6000}), b = a;
  const Type type = Type::tensor(DType::kFloat, to_dims(a.shape()));
  PreparedRun run(op_named("MatMul"), Attrs(), {a, b}, {type}, {});
  EXPECT_NE(run.prepared().implementation, "reference");
  const RunControl control{
      nullptr, std::chrono::steady_clock::now() + std::chrono::milliseconds(100), {}};
  const ControlScope scope(control);
  expect_refusal(ErrorCode::kDeadlineExceeded, "deadline", [&] { run.run(); });
}

}  // namespace
}  // namespace sardonyx::onednn
