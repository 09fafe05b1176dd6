// Gemm of doubles and CDist against the reference, with one thread and with several.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/gemm/product_blocks.h"
#include "providers/cpu/provider.h"
#include "tests/support/fenced_buffer.h"

namespace sardonyx::cpu {
namespace {

void check(std::string_view name, const AttrMap& attr_map, const std::vector<Tensor>& inputs,
           double tolerance) {
  const OpDef& op = op_named(name);
  const Attrs attrs = Attrs::parse(*op.attrs, attr_map);
  const std::vector<Datum> data(inputs.begin(), inputs.end());
  const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
  std::vector<KernelTensor> in;
  std::vector<const void*> sources;
  for (const Tensor& input : inputs) {
    in.push_back({input.dtype(), input.shape(), nullptr, nullptr});
    sources.push_back(input.raw());
  }
  const KernelTensor out{expected.dtype(), expected.shape(), nullptr, nullptr};
  for (const int threads : {1, 3}) {
    KernelRequest request{op, attrs, in, {&out, 1}};
    request.threads = threads;
    Prepared prepared;
    for (const KernelEntry& entry : cpu_provider().kernels) {
      if (entry.op == name && (entry.name == "gemm_tiled" || entry.name == "gemm_generic"))
        prepared = entry.prepare(request);
    }
    ASSERT_TRUE(prepared.kernel) << prepared.refusal;
    const Tensor got = Tensor::allocate(expected.dtype(), expected.shape());
    const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
    void* target = const_cast<void*>(got.raw());
    prepared.kernel->run({sources.data(), &target, scratch->data()});
    const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(b[i])) {
        ASSERT_TRUE(std::isnan(a[i])) << "element " << i;
      } else if (a[i] != b[i]) {
        ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::fabs(b[i]))) << "element " << i;
      }
    }
  }
}

Tensor drawn(DType dtype, const Shape& shape, uint64_t seed) {
  return drawn_tensor(dtype, shape, -2, 2, seed);
}

TEST(NumberGemm, doubles_give_what_the_reference_gives) {
  struct Size {
    int64_t m, n, k;
  };
  for (const Size& size : {Size{1, 1, 1}, {5, 37, 19}, {64, 50, 33}, {3, 4, 0}, {0, 4, 3}}) {
    for (const bool a : {false, true}) {
      for (const bool b : {false, true}) {
        const auto x = drawn(DType::kDouble, a ? Shape{size.k, size.m} : Shape{size.m, size.k}, 1);
        const auto y = drawn(DType::kDouble, b ? Shape{size.n, size.k} : Shape{size.k, size.n}, 2);
        AttrMap attrs{{"transA", int64_t{a}}, {"transB", int64_t{b}}};
        check("Gemm", attrs, {x, y}, 1e-12);
        attrs["alpha"] = 0.3f;
        attrs["beta"] = -1.7f;
        for (const Shape& shape :
             {Shape{}, Shape{size.n}, Shape{size.m, 1}, Shape{1, size.n}, Shape{size.m, size.n}})
          check("Gemm", attrs, {x, y, drawn(DType::kDouble, shape, 3)}, 1e-12);
      }
    }
  }
}

// One column is summed up in lanes; a few are less than a vector.
TEST(NumberGemm, products_of_few_columns_are_those_of_the_reference) {
  for (const int64_t n : {1, 2, 3, 4, 7, 9, 12}) {
    for (const int64_t k : {0, 1, 5, 8, 31, 32, 100}) {
      for (const int64_t m : {1, 4, 9}) {
        check("MatMul", {}, {drawn(DType::kDouble, {m, k}, 1), drawn(DType::kDouble, {k, n}, 2)},
              1e-12);
        const auto whole = [](const Shape& shape, uint64_t seed) {
          return drawn_tensor(DType::kInt32, shape, -70000, 70000, seed);
        };
        check("MatMul", {}, {whole({m, k}, 1), whole({k, n}, 2)}, 0);
        check("com.microsoft::CDist", {{"metric", std::string("sqeuclidean")}},
              {drawn(DType::kDouble, {m, k + 1}, 1), drawn(DType::kDouble, {n, k + 1}, 2)}, 1e-12);
      }
    }
  }
}

// Rows, columns and depths around those of a block, for each number of rows that is left over.
TEST(NumberGemm, products_in_blocks_are_those_of_the_reference) {
  struct Size {
    int64_t m, n, k;
  };
  for (const Size& size : {Size{33, 8, 1},
                           {33, 17, 127},
                           {34, 25, 128},
                           {35, 24, 129},
                           {36, 49, 9},
                           {37, 23, 300},
                           {38, 72, 257},
                           {39, 193, 130},
                           {200, 13, 140},
                           {385, 400, 31}}) {
    SCOPED_TRACE(testing::Message() << size.m << " x " << size.n << " x " << size.k);
    const Shape left{size.m, size.k}, right{size.k, size.n};
    check("MatMul", {}, {drawn(DType::kDouble, left, 1), drawn(DType::kDouble, right, 2)}, 1e-12);
    for (const bool transposed : {false, true}) {
      const Tensor b = drawn(DType::kDouble, transposed ? Shape{size.n, size.k} : right, 2);
      check("Gemm", {{"transB", int64_t{transposed}}, {"alpha", 0.5f}, {"beta", -1.5f}},
            {drawn(DType::kDouble, left, 1), b, drawn(DType::kDouble, {size.m, size.n}, 3)}, 1e-12);
    }
    const Tensor a = drawn_tensor(DType::kInt32, left, -70000, 70000, 1);
    check("MatMul", {}, {a, drawn_tensor(DType::kInt32, right, -70000, 70000, 2)}, 0);
    check("com.microsoft::CDist", {{"metric", std::string("euclidean")}},
          {drawn(DType::kDouble, left, 1), drawn(DType::kDouble, {size.n, size.k}, 2)}, 1e-12);
  }
  check("MatMul", {},
        {drawn(DType::kDouble, {3, 2, 40, 30}, 1), drawn(DType::kDouble, {2, 30, 50}, 2)}, 1e-12);
}

// However a product is cut, each sum has the bits that it has row by row.
TEST(NumberGemm, blocks_give_the_bits_of_rows_and_touch_nothing_else) {
  const int64_t m = 205, n = 211, k = 263;
  const ProductFunctions functions = products_of(DType::kDouble);
  const auto fenced = [](int64_t count, uint64_t seed) {
    auto buffer = fenced_buffer(static_cast<size_t>(count) * sizeof(double));
    if (seed)
      std::memcpy(buffer->data(), drawn(DType::kDouble, {count}, seed).raw(), buffer->size());
    return buffer;
  };
  const auto a = fenced(m * k, 1), b = fenced(k * n, 2), rows = fenced(m * n, 0);
  const auto at = [](const auto& buffer, int64_t i) {
    return buffer->data() + static_cast<size_t>(i) * sizeof(double);
  };
  for (int64_t row = 0; row < m; row += kProductRows)
    functions.rows(at(a, row * k), b->data(), at(rows, row * n), std::min(kProductRows, m - row), n,
                   k);
  for (const int threads : {1, 2, 7}) {
    const auto out = fenced(m * n, 0);
    const ProductBlocks blocks(functions, sizeof(double), m, n, k, false, 1, threads);
    const auto scratch = Buffer::allocate(blocks.scratch_bytes());
    const ProductBlock product{.a = a->data(), .b = b->data(), .out = out->data()};
    int64_t finished = 0;
    std::mutex mutex;
    blocks.run(
        scratch->data(), [&](int64_t) { return product; },
        [&](void*, int64_t, int64_t, int64_t height, int64_t width) {
          const std::lock_guard lock(mutex);
          finished += height * width;
        });
    EXPECT_EQ(finished, m * n);
    EXPECT_EQ(std::memcmp(out->data(), rows->data(), out->size()), 0) << threads << " threads";
  }
}

TEST(NumberGemm, an_addend_scaled_by_zero_has_no_part_in_the_result) {
  const Tensor nan = Tensor::scalar<double>(std::numeric_limits<double>::quiet_NaN());
  const Tensor x = drawn(DType::kDouble, {5, 6}, 1), y = drawn(DType::kDouble, {6, 9}, 2);
  check("Gemm", {{"beta", 0.f}}, {x, y, nan}, 1e-12);
  check("Gemm", {}, {x, y, nan}, 1e-12);
}

TEST(NumberGemm, distances_are_those_of_the_reference) {
  for (const char* metric : {"euclidean", "sqeuclidean"}) {
    for (const DType dtype : {DType::kFloat, DType::kDouble}) {
      const double tolerance = dtype == DType::kFloat ? 3e-6 : 1e-12;
      const AttrMap attrs{{"metric", std::string(metric)}};
      for (const Shape& rows : {Shape{1, 1}, {7, 50}, {66, 131}, {0, 3}, {3, 0}}) {
        for (const int64_t depth : {0, 1, 19, 200})
          check("com.microsoft::CDist", attrs,
                {drawn(dtype, {rows[0], depth}, 1), drawn(dtype, {rows[1], depth}, 2)}, tolerance);
      }
      const Tensor same = drawn(dtype, {9, 30}, 4);
      check("com.microsoft::CDist", attrs, {same, same}, tolerance);  // zeros, exactly
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
