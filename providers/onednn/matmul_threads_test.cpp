// Matrix products of drawn shapes, types and transposes: the bits do not depend on the number of
// threads. SARDONYX_MATMUL_DRAWS=N draws N of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>

#include "ir/op_samples.h"
#include "providers/cpu/provider.h"
#include "providers/onednn/primitive/api.h"
#include "providers/onednn/provider.h"
#include "tests/support/small_partitions.h"

namespace sardonyx::onednn {
namespace {

struct DrawnProduct {
  const OpDef* op = nullptr;
  AttrMap attrs;
  std::vector<Tensor> inputs;
  Shape result;
  Precision precision = Precision::kFloat32;
  bool is_b_constant = false;
  std::string label;
};

class ProductDraw {
 public:
  ProductDraw(uint64_t seed, double largest) : random_(seed), largest_(largest) {}

  DrawnProduct next() {
    DrawnProduct drawn;
    const char* const ops[] = {"Gemm", "MatMul", "sardonyx::FusedMatMul"};
    const char* const name = ops[below(3)];
    const DType types[] = {DType::kFloat, DType::kFloat, DType::kDouble, DType::kBFloat16};
    DType dtype = types[below(4)];
    const bool is_gemm = name == ops[0], may_transpose = name != ops[1];
    if (name == ops[2] && dtype == DType::kDouble) dtype = DType::kFloat;
    drawn.op = &op_named(name);
    const bool transA = may_transpose && below(2), transB = may_transpose && below(2);
    const int64_t rows = size(), depth = size(), columns = size();
    const int64_t batch = is_gemm || below(2) ? 0 : 1 + static_cast<int64_t>(below(5));
    const auto operand = [&](int64_t first, int64_t second, bool swapped, bool batched) {
      Shape shape{swapped ? second : first, swapped ? first : second};
      if (batched) shape.insert(shape.begin(), batch);
      drawn.inputs.push_back(drawn_tensor(dtype, shape, -1, 1, random_()));
    };
    operand(rows, depth, transA, batch > 0);
    operand(depth, columns, transB, batch > 0 && below(2));
    drawn.result = {rows, columns};
    if (batch > 0) drawn.result.insert(drawn.result.begin(), batch);
    if (may_transpose) {
      drawn.attrs = {{"transA", int64_t{transA}}, {"transB", int64_t{transB}}};
      if (below(4) == 0) drawn.attrs["alpha"] = 0.75f;
      if (below(2)) drawn.inputs.push_back(drawn_tensor(dtype, {columns}, -1, 1, random_()));
    }
    if (dtype == DType::kFloat && below(4) == 0) drawn.precision = Precision::kBFloat16;
    drawn.is_b_constant = below(2);
    drawn.label = text(name, " ", dtype, " ", to_text(drawn.inputs[0].shape()), transA ? "^T" : "",
                       " x ", to_text(drawn.inputs[1].shape()), transB ? "^T" : "",
                       drawn.inputs.size() > 2 ? " + bias" : "",
                       drawn.precision == Precision::kBFloat16 ? ", precision bf16" : "",
                       drawn.is_b_constant ? ", constant B" : "");
    return drawn;
  }

 private:
  uint64_t below(uint64_t end) { return random_() % end; }
  // From 1 on, as many small ones as large ones; now and then a whole number of vectors.
  int64_t size() {
    const double drawn = std::exp2(largest_ * static_cast<double>(below(1 << 20)) / (1 << 20));
    const auto rounded = static_cast<int64_t>(drawn);
    return below(4) == 0 ? (rounded + 15) / 16 * 16 : rounded;
  }

  std::mt19937_64 random_;
  double largest_;
};

struct MadeProduct {
  std::string implementation;
  Tensor result;
};

std::optional<MadeProduct> product_of(const DrawnProduct& drawn, int threads) {
  std::vector<KernelTensor> inputs;
  for (size_t i = 0; i < drawn.inputs.size(); ++i) {
    inputs.push_back({drawn.inputs[i].dtype(), drawn.inputs[i].shape(), nullptr,
                      i == 1 && drawn.is_b_constant ? &drawn.inputs[i] : nullptr});
  }
  MadeProduct made{"", Tensor::allocate(drawn.inputs[0].dtype(), drawn.result)};
  const std::vector<KernelTensor> outputs{{made.result.dtype(), made.result.shape()}};
  const Attrs attrs = Attrs::parse(*drawn.op->attrs, drawn.attrs);
  const Provider* const providers[] = {&onednn_provider(), &cpu_provider()};
  const Prepared prepared = prepare_kernel(providers, {.op = *drawn.op,
                                                       .raw_attrs = attrs,
                                                       .inputs = inputs,
                                                       .outputs = outputs,
                                                       .threads = threads,
                                                       .precision = drawn.precision});
  if (!prepared.kernel) return std::nullopt;  // a type that the row has a body for
  made.implementation = prepared.implementation;
  std::vector<const void*> in;
  for (size_t i = 0; i < drawn.inputs.size(); ++i)
    in.push_back(prepared.unread_inputs >> i & 1u ? nullptr : drawn.inputs[i].raw());
  void* const out[] = {made.result.raw()};
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
  prepared.kernel->run({in.data(), out, scratch->data()});
  return made;
}

// `largest`: the power of two that sizes are drawn up to.
void check_draws(uint64_t seed, double largest) {
  const char* const wanted = std::getenv("SARDONYX_MATMUL_DRAWS");
  const int draws = wanted ? std::atoi(wanted) : 400;
  ProductDraw draw(seed, largest);
  int compared = 0;
  for (int i = 0; i < draws; ++i) {
    const DrawnProduct drawn = draw.next();
    SCOPED_TRACE(drawn.label);
    const auto one = product_of(drawn, 1);
    if (!one) continue;
    ++compared;
    for (const int threads : {2, 3, 8}) {
      const auto more = product_of(drawn, threads);
      ASSERT_TRUE(more);
      EXPECT_EQ(std::memcmp(one->result.raw(), more->result.raw(), one->result.bytes()), 0)
          << threads << " threads: " << more->implementation << ", one: " << one->implementation;
    }
  }
  EXPECT_GT(compared, draws / 4);
}

TEST(MatmulThreads, GiveTheSameBits) {
  check_draws(1, 9.45);
}

TEST(MatmulThreads, GiveTheSameBitsInSmallParts) {
  const SmallParts small;
  check_draws(2, 7.3);
}

}  // namespace
}  // namespace sardonyx::onednn
