// Products of few rows against the reference, and with other numbers of threads.
#include "providers/cpu/gemm/gemv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/provider.h"

namespace sardonyx::cpu {
namespace {

struct Case {
  std::string_view op;
  std::vector<Shape> inputs;  // empty lists of other than the last place: omitted
  AttrMap attrs = {};
};

std::vector<Tensor> drawn_inputs(const std::vector<Shape>& shapes, DType dtype = DType::kFloat) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : shapes)
    inputs.push_back(drawn_tensor(dtype, shape, -2, 2, 7 + inputs.size()));
  return inputs;
}

Tensor expected(const Case& c, const std::vector<Tensor>& inputs) {
  const OpDef& op = op_named(c.op);
  const std::vector<Datum> data(inputs.begin(), inputs.end());
  return evaluate(op, Attrs::parse(*op.attrs, c.attrs), data, 1)[0].tensor();
}

// Undefined where the kernel refuses.
Tensor computed(const Case& c, const std::vector<Tensor>& inputs, const Shape& shape, int threads) {
  const OpDef& op = op_named(c.op);
  const Attrs attrs = Attrs::parse(*op.attrs, c.attrs);
  std::vector<KernelTensor> in;
  std::vector<const void*> sources;
  for (const Tensor& input : inputs) {
    in.push_back({input.dtype(), input.shape(), nullptr, nullptr});
    sources.push_back(input.raw());
  }
  const KernelTensor out{inputs[0].dtype(), shape, nullptr, nullptr};
  KernelRequest request{op, attrs, in, {&out, 1}};
  request.threads = threads;
  for (const KernelEntry& entry : cpu_provider().kernels) {
    if (entry.op != c.op || entry.name != "gemv") continue;
    const Prepared prepared = entry.prepare(request);
    EXPECT_EQ(prepared.kernel != nullptr, is_gemv(request));
    if (!prepared.kernel) return {};
    Tensor made = Tensor::allocate(out.dtype, shape);
    void* target = made.raw();
    const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
    prepared.kernel->run({sources.data(), &target, scratch->data()});
    return made;
  }
  return {};
}

// Sums of up to a few thousand products of numbers up to 2, in another order.
void expect_close(const Tensor& got, const Tensor& wanted, int64_t depth) {
  const auto a = got.values<float>(), b = wanted.values<float>();
  ASSERT_EQ(a.size(), b.size());
  const double bound = 4e-7 * 4 * std::sqrt(static_cast<double>(depth)) + 1e-6;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) {
      EXPECT_TRUE(std::isnan(a[i])) << i;
    } else if (a[i] != b[i]) {
      ASSERT_NEAR(a[i], b[i], bound * 4 + 2e-6 * std::fabs(b[i])) << "element " << i;
    }
  }
}

// Both sides round to bfloat16, the reference perhaps several times.
void expect_close_narrow(const Tensor& got, const Tensor& wanted) {
  const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
  ASSERT_EQ(a.size(), b.size());
  double largest = 0;
  for (const double value : b)
    largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], std::fabs(b[i]) / 64 + largest / 256) << "element " << i;
}

void check(const Case& c) {
  for (const DType dtype : {DType::kFloat, DType::kBFloat16}) {
    SCOPED_TRACE(text(c.op, " ", to_text(c.inputs[0]), " ", to_text(c.inputs[1]), " ", dtype));
    const std::vector<Tensor> inputs = drawn_inputs(c.inputs, dtype);
    const Tensor wanted = expected(c, inputs);
    const Tensor one = computed(c, inputs, wanted.shape(), 1);
    ASSERT_TRUE(one.defined()) << "refused";
    if (dtype == DType::kFloat)
      expect_close(one, wanted, inputs[0].count());
    else
      expect_close_narrow(one, wanted);
    EXPECT_TRUE(computed(c, inputs, wanted.shape(), 2) == one) << "two threads differ";
    EXPECT_TRUE(computed(c, inputs, wanted.shape(), 3) == one) << "three threads differ";
  }
}

const AttrMap kTransposed{{"transB", int64_t{1}}};

TEST(GemvArgs, agrees_with_the_reference_for_all_sizes) {
  for (const int64_t rows : {1, 2, 3, 4, 5, 7, 8}) {
    for (const int64_t depth : {1, 5, 12, 16, 33, 100}) {
      for (const int64_t columns : {1, 2, 3, 4, 7, 16, 17, 31, 32, 50, 69}) {
        check({"MatMul", {{rows, depth}, {depth, columns}}});
        check({"Gemm", {{rows, depth}, {columns, depth}, {columns}}, kTransposed});
      }
    }
  }
}

TEST(GemvArgs, gives_the_same_bits_for_all_numbers_of_threads) {
  check({"MatMul", {{1, 770}, {770, 1031}}});
  check({"MatMul", {{7, 515}, {515, 640}}});
  check({"Gemm", {{3, 770}, {515, 770}, {515}}, kTransposed});
  check({"MatMul", {{1, 3}, {3, 20011}}});  // more columns than stay in a cache together
  check({"MatMul", {{12, 1, 65}, {12, 65, 257}}});
  check({"sardonyx::FusedMatMul", {{12, 1, 65}, {12, 257, 65}}, kTransposed});
}

TEST(GemvArgs, takes_batches_vectors_and_single_columns) {
  check({"MatMul", {{100}, {100, 70}}});
  check({"MatMul", {{100}, {100}}});
  check({"MatMul", {{5, 9, 100}, {100}}});
  check({"MatMul", {{2, 3, 100}, {100, 20}}});      // one matrix of six rows
  check({"MatMul", {{2, 3, 4, 30}, {30, 1}}});      // and of 24 rows and one column
  check({"MatMul", {{2, 1, 4, 30}, {3, 30, 21}}});  // both are repeated
  check({"MatMul", {{3, 30}, {2, 3, 30, 21}}});
  check({"MatMul", {{2, 19, 30}, {2, 30, 1}}});
  check({"Gemm", {{30, 1}, {30, 20}}, {{"transA", int64_t{1}}}});
}

TEST(GemvArgs, adds_scales_and_activates) {
  const AttrMap scaled{{"alpha", 0.5f}, {"beta", -2.f}};
  for (const Shape& addend :
       {Shape{}, Shape{1}, Shape{37}, Shape{1, 37}, Shape{6, 1}, Shape{6, 37}})
    check({"Gemm", {{6, 20}, {20, 37}, addend}, scaled});
  for (const Shape& addend : {Shape{}, Shape{1, 1}, Shape{19, 1}})
    check({"Gemm", {{19, 20}, {20, 1}, addend}, scaled});
  check({"Gemm", {{6, 20}, {20, 37}, {37}}, {{"beta", 0.f}}});
  const Shape a{2, 3, 40}, b{40, 35}, row{35}, whole{2, 3, 35};
  for (const char* activation : {"Relu", "Sigmoid", "Tanh", "HardSwish", "Gelu", "GeluTanh"})
    check({"sardonyx::FusedMatMul", {a, b, row}, {{"activation", std::string(activation)}}});
  for (const char* activation : {"LeakyRelu", "Elu", "Swish"}) {
    check({"sardonyx::FusedMatMul",
           {a, b, row, whole},
           {{"alpha", 0.1f},
            {"activation", std::string(activation)},
            {"activation_params", std::vector{0.3f}}}});
  }
  for (const char* activation : {"Clip", "HardSigmoid"}) {
    check({"sardonyx::FusedMatMul",
           {a, b, row, whole},
           {{"activation", std::string(activation)},
            {"activation_params", std::vector{0.2f, 0.5f}}}});
  }
  check({"sardonyx::FusedMatMul", {{2, 1, 40}, {2, 40, 35}, {2, 1, 35}}, {{"alpha", 3.f}}});
  check({"sardonyx::FusedMatMul", {{2, 19, 40}, {2, 40, 1}, {2, 19, 1}}, {{"alpha", 3.f}}});
}

// A NaN, an infinity or a zero of either sign stays in its own row and column.
TEST(GemvArgs, passes_values_that_are_no_usual_numbers) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int64_t columns : {5, 33, 64}) {
    for (const bool transposed : {false, true}) {
      const Case c{"Gemm",
                   {{3, 19}, transposed ? Shape{columns, 19} : Shape{19, columns}},
                   {{"transB", int64_t{transposed}}}};
      std::vector<Tensor> inputs = drawn_inputs(c.inputs);
      const auto a = inputs[0].mutable_values<float>(), b = inputs[1].mutable_values<float>();
      a[18] = kNan;
      a[19 + 17] = kInfinity;
      std::fill_n(a.begin() + 2 * 19, 19, -0.0f);
      b[1] = -kInfinity;
      b[b.size() - 1] = kNan;
      const Tensor wanted = expected(c, inputs);
      const Tensor got = computed(c, inputs, wanted.shape(), 1);
      ASSERT_TRUE(got.defined());
      expect_close(got, wanted, 19);
    }
  }
}

TEST(GemvArgs, leaves_small_constant_weights_to_kernels_that_pack_them) {
  const OpDef& op = op_named("MatMul");
  const Attrs attrs = Attrs::parse(*op.attrs, {});
  const Tensor small = Tensor::zeros(DType::kFloat, {64, 64});
  const Tensor large = Tensor::zeros(DType::kFloat, {512, 512});
  const auto is_taken = [&](int64_t rows, const Tensor& b, bool constant) {
    const KernelTensor in[] = {{DType::kFloat, {rows, b.shape()[0]}},
                               {DType::kFloat, b.shape(), nullptr, constant ? &b : nullptr}};
    const KernelTensor out{DType::kFloat, {rows, b.shape()[1]}};
    return is_gemv({op, attrs, in, {&out, 1}});
  };
  EXPECT_TRUE(is_taken(kFewRows, small, true));
  EXPECT_FALSE(is_taken(kFewRows + 1, small, true));
  EXPECT_TRUE(is_taken(kFewRows + 1, small, false));
  EXPECT_TRUE(is_taken(kFewRows + 1, large, true));
}

TEST(GemvArgs, refuses_what_it_does_not_compute) {
  const auto refused = [](const Case& c) {
    const std::vector<Tensor> inputs = drawn_inputs(c.inputs);
    return !computed(c, inputs, expected(c, inputs).shape(), 1).defined();
  };
  EXPECT_TRUE(refused({"MatMul", {{kMaxGemvRows + 1, 4}, {4, 5}}}));
  EXPECT_TRUE(refused({"MatMul", {{3, 3, 4}, {4, 5}}}));
  EXPECT_TRUE(refused({"MatMul", {{0, 4}, {4, 5}}}));
  EXPECT_TRUE(refused({"MatMul", {{2, 0}, {0, 5}}}));
  EXPECT_TRUE(refused({"MatMul", {{2, 4}, {4, 0}}}));
  EXPECT_TRUE(refused({"Gemm", {{4, 3}, {4, 5}}, {{"transA", int64_t{1}}}}));
  EXPECT_TRUE(refused({"sardonyx::FusedMatMul", {{1, 4}, {4, 5}, {3, 5}}}));
  EXPECT_TRUE(refused({"sardonyx::FusedMatMul", {{2, 2, 4}, {2, 4, 5}, {2, 1, 5}}}));
}

}  // namespace
}  // namespace sardonyx::cpu
