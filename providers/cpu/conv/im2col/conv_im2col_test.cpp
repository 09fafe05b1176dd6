// Float convolution between row-major tensors, and float products, against the reference where
// no other provider is: any rank, groups, windows, weights that come with the run.
#include <gtest/gtest.h>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/kernel_list.h"
#include "tests/support/close.h"

namespace sardonyx::cpu {
namespace {

using Ints = std::vector<int64_t>;

// The kernel's result, on one thread and on three, is that of the reference; both have one's bits.
void check(const char* name, const AttrMap& given, const std::vector<Tensor>& inputs) {
  const OpDef& op = op_named(name);
  const Attrs attrs = Attrs::parse(*op.attrs, given);
  std::vector<Datum> data;
  std::vector<KernelTensor> in;
  std::vector<const void*> sources;
  for (const Tensor& input : inputs) {
    data.push_back(input ? Datum(input) : Datum());
    in.push_back(input ? KernelTensor{input.dtype(), input.shape(), nullptr, nullptr}
                       : KernelTensor());
    sources.push_back(input ? input.raw() : nullptr);
  }
  const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
  const KernelTensor out{expected.dtype(), expected.shape(), nullptr, nullptr};
  SCOPED_TRACE(std::string(name) + " of " + to_text(inputs[0].shape()) + " by " +
               to_text(inputs[1].shape()));
  Tensor one;
  for (const int threads : {1, 3}) {
    KernelRequest request{op, attrs, in, {&out, 1}};
    request.threads = threads;
    const Prepared prepared = prepare_portable(request);
    ASSERT_TRUE(prepared.kernel) << prepared.refusal;
    Tensor made = Tensor::allocate(expected.dtype(), expected.shape());
    const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
    void* target = made.raw();
    prepared.kernel->run({sources.data(), &target, scratch->data()});
    onednn::expect_within(made, expected, 2e-5f, 2e-5f);
    EXPECT_TRUE(!one || made == one);
    one = made;
  }
}

Tensor drawn(const Shape& shape, uint64_t seed) {
  return drawn_tensor(DType::kFloat, shape, -1, 1, seed);
}

void check_conv(const Shape& x, const Shape& w, const AttrMap& attrs) {
  check("Conv", attrs, {drawn(x, 1), drawn(w, 2)});
  check("Conv", attrs, {drawn(x, 1), drawn(w, 2), drawn({w[0]}, 3)});
}

TEST(Im2ColConvolution, TakesWindowsOfAnyRank) {
  check_conv({2, 3, 50}, {5, 3, 4}, {{"pads", Ints{2, 1}}, {"strides", Ints{3}}});
  check_conv({1, 17, 61, 63}, {20, 17, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}});
  check_conv({2, 4, 9, 11}, {6, 4, 3, 2}, {{"strides", Ints{2, 3}}, {"pads", Ints{0, 1, 2, 0}}});
  check_conv({1, 4, 30, 31}, {6, 4, 3, 3}, {{"dilations", Ints{4, 3}}});
  check_conv({2, 3, 5, 6, 7}, {4, 3, 2, 3, 3}, {{"pads", Ints{1, 1, 1, 0, 1, 2}}});
  check_conv({1, 2, 3, 3}, {3, 2, 3, 3}, {{"pads", Ints{3, 3, 3, 3}}});
  check_conv({1, 300, 4, 5}, {7, 300, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}});
}

TEST(Im2ColConvolution, TakesGroupsAndSingleElements) {
  check_conv({2, 8, 13, 9}, {8, 1, 3, 3}, {{"group", int64_t{8}}, {"pads", Ints{1, 1, 1, 1}}});
  check_conv({2, 6, 13, 9}, {12, 2, 3, 3}, {{"group", int64_t{3}}});
  check_conv({2, 33, 70, 67}, {29, 33, 1, 1}, {});
  check_conv({1, 6, 7, 7}, {4, 3, 1, 1}, {{"group", int64_t{2}}});
  check_conv({1, 6, 7, 7}, {4, 6, 1, 1}, {{"strides", Ints{2, 2}}});
  check_conv({1, 6, 7, 7}, {4, 6, 1, 1}, {{"pads", Ints{1, 0, 0, 1}}});
}

TEST(Im2ColConvolution, AddsResidualsAndActivates) {
  for (const char* activation : {"", "Relu", "HardSwish"}) {
    for (const Tensor& bias : {Tensor(), drawn({5}, 3)}) {
      check("sardonyx::FusedConv",
            {{"activation", std::string(activation)}, {"pads", Ints{1, 1, 1, 1}}},
            {drawn({2, 4, 40, 41}, 1), drawn({5, 4, 3, 3}, 2), bias, drawn({2, 5, 40, 41}, 4)});
    }
  }
}

TEST(FloatProducts, TakeMatricesThatComeWithTheRun) {
  for (const int64_t rows : {1, 4, 7, 8, 21}) {
    for (const int64_t columns : {1, 3, 15, 16, 70}) {
      check("MatMul", {}, {drawn({2, rows, 33}, 1), drawn({33, columns}, 2)});
      for (const int64_t transposed : {0, 1}) {
        check("Gemm", {{"transB", transposed}, {"alpha", 0.5f}, {"beta", 2.0f}},
              {drawn({rows, 33}, 1), drawn(transposed ? Shape{columns, 33} : Shape{33, columns}, 2),
               drawn({columns}, 3)});
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
