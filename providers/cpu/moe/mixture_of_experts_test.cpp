// MoE and QMoE against the reference: few and many rows for each expert, weights that are constant
// and such that are not, odd sizes.
#include <gtest/gtest.h>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/provider.h"

namespace sardonyx::cpu {
namespace {

struct MixtureCase {
  std::string_view op;
  AttrMap attrs;
  std::vector<Tensor> inputs;
};

void check_mixture(const MixtureCase& c, bool constant) {
  const OpDef& op = op_named(c.op);
  const Attrs attrs = Attrs::parse(*op.attrs, c.attrs);
  std::vector<Datum> data;
  std::vector<KernelTensor> in;
  std::vector<const void*> sources;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Tensor& x = c.inputs[i];
    const bool is_given = x.dtype() != DType::kUndefined;
    data.push_back(is_given ? Datum(x) : Datum());
    in.push_back(
        is_given ? KernelTensor{x.dtype(), x.shape(), nullptr, constant && i >= 2 ? &x : nullptr}
                 : KernelTensor{});
    sources.push_back(is_given ? x.raw() : nullptr);
  }
  const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
  const KernelTensor out{expected.dtype(), expected.shape(), nullptr, nullptr};
  std::vector<double> before;
  for (const int threads : {1, 3}) {
    KernelRequest request{op, attrs, in, {&out, 1}};
    request.threads = threads;
    Prepared prepared;
    for (const KernelEntry& entry : cpu_provider().kernels) {
      if (entry.op == c.op) prepared = entry.prepare(request);
    }
    ASSERT_TRUE(prepared.kernel) << prepared.refusal;
    const Tensor got = Tensor::allocate(expected.dtype(), expected.shape());
    const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
    void* target = const_cast<void*>(got.raw());
    prepared.kernel->run({sources.data(), &target, scratch->data()});
    const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], 1e-4 * (1 + std::abs(b[i]))) << "element " << i;
    if (threads > 1) {
      EXPECT_EQ(a, before) << "bits depend on the number of threads";
    }
    before = a;
  }
}

Tensor drawn_floats(const Shape& shape, double bound, uint64_t seed) {
  return drawn_tensor(DType::kFloat, shape, -bound, bound, seed);
}

struct MixtureSize {
  int64_t tokens, experts, hidden, inner, k;
};
constexpr MixtureSize kSizes[] = {{1, 8, 96, 160, 2},
                                  {3, 2, 33, 17, 1},
                                  {40, 4, 64, 130, 2},
                                  {7, 5, 40, 8, 5},
                                  {100, 3, 128, 64, 1}};

TEST(MixtureKernel, FloatExpertsOfEverySize) {
  uint64_t seed = 1;
  for (const auto& [tokens, experts, hidden, inner, k] : kSizes) {
    const int64_t t = tokens, e = experts, h = hidden, n = inner;
    for (const int64_t fusion : {-1, 0, 1, 2}) {  // -1: no gate
      const int64_t wide = fusion > 0 ? 2 * n : n;
      MixtureCase c{"com.microsoft::MoE",
                    {{"k", k},
                     {"activation_type", std::string(fusion < 0 ? "gelu" : "swiglu")},
                     {"swiglu_fusion", std::max<int64_t>(fusion, 0)}},
                    {drawn_floats({t, h}, 1, seed++), drawn_floats({t, e}, 4, seed++),
                     drawn_floats({e, wide, h}, 0.3, seed++), drawn_floats({e, wide}, 1, seed++),
                     drawn_floats({e, h, n}, 0.3, seed++), drawn_floats({e, h}, 1, seed++)}};
      if (fusion == 0) {
        c.inputs.push_back(drawn_floats({e, n, h}, 0.3, seed++));
        c.inputs.push_back(drawn_floats({e, n}, 1, seed++));
      }
      check_mixture(c, false);
      check_mixture(c, true);
    }
  }
}

Tensor drawn_bytes(const Shape& shape, uint64_t seed) {
  return drawn_tensor(DType::kUInt8, shape, 0, 255, seed);
}

TEST(MixtureKernel, QuantizedExpertsOfEverySize) {
  uint64_t seed = 100;
  for (const auto& [tokens, experts, hidden, inner, k] : kSizes) {
    for (const int64_t bits : {2, 4, 8}) {
      for (const int64_t block : {0, 32}) {
        const int64_t t = tokens, e = experts, per_byte = 8 / bits;
        const int64_t unit = block > 0 ? block * per_byte : per_byte;
        const int64_t h = (hidden + unit - 1) / unit * unit, n = (inner + unit - 1) / unit * unit;
        const auto per_column = [&](int64_t columns, int64_t inputs, bool packed) {
          const int64_t blocks = block > 0 ? inputs / block : 0;
          if (block > 0) return Shape{e, columns, packed ? blocks / per_byte : blocks};
          return Shape{e, packed ? (columns + per_byte - 1) / per_byte : columns};
        };
        MixtureCase c{
            "com.microsoft::QMoE",
            {{"k", k},
             {"activation_type", std::string("swiglu")},
             {"swiglu_fusion", int64_t{1}},
             {"expert_weight_bits", bits},
             {"block_size", block},
             {"swiglu_limit", 7.0f}},
            {drawn_floats({t, h}, 1, seed++), drawn_floats({t, e}, 4, seed++),
             drawn_bytes({e, 2 * n, h / per_byte}, seed++),
             drawn_floats(per_column(2 * n, h, false), 0.01, seed++),
             drawn_floats({e, 2 * n}, 1, seed++), drawn_bytes({e, h, n / per_byte}, seed++),
             drawn_floats(per_column(h, n, false), 0.01, seed++)}};
        check_mixture(c, true);
        c.inputs.resize(11);
        c.inputs.push_back(drawn_bytes(per_column(2 * n, h, true), seed++));
        c.inputs.push_back(drawn_bytes(per_column(h, n, true), seed++));
        check_mixture(c, false);
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
