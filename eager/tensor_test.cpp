#include "eager/tensor.h"

#include <gtest/gtest.h>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/engine.h"
#include "eager/functional/functional.h"
#include "eager/trace/compile.h"

namespace sardonyx::eager {
namespace {

TEST(EagerTensor, OperatorsBroadcastAndPromote) {
  const Tensor a = tensor({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_EQ((a + tensor({10.f, 20.f})).to_vector<float>(), (std::vector<float>{11, 22, 13, 24}));
  EXPECT_EQ((2 * a - 1).to_vector<float>(), (std::vector<float>{1, 3, 5, 7}));
  const Tensor integers = tensor<int64_t>({1, 2});
  EXPECT_EQ((integers + 0.5).to_vector<float>(), (std::vector<float>{1.5f, 2.5f}));
  EXPECT_EQ((integers / 2).to_vector<float>(), (std::vector<float>{0.5f, 1.f}));
  EXPECT_EQ((integers * 3).to_vector<int64_t>(), (std::vector<int64_t>{3, 6}));
  EXPECT_EQ((integers + a).dtype(), DType::kFloat);
  EXPECT_EQ((a > 2).dtype(), DType::kBool);
  EXPECT_FLOAT_EQ(a.sum().item<float>(), 10);
  EXPECT_FLOAT_EQ(a.mean({0})[1].item<float>(), 3);
}

// A double has 53 bits of a number.
TEST(EagerTensor, IntegersOf64BitsAreExact) {
  constexpr int64_t kOdd = (int64_t{1} << 53) + 1, kMost = std::numeric_limits<int64_t>::max();
  const Tensor ones = Tensor::of<int64_t>({1, -1}, {2});
  EXPECT_EQ((ones * kOdd).to_vector<int64_t>(), (std::vector<int64_t>{kOdd, -kOdd}));
  EXPECT_EQ((kMost - ones).to_vector<int64_t>()[0], kMost - 1);
  EXPECT_EQ((ones * kOdd == kOdd).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(where(ones > 0, kOdd, kMost).to_vector<int64_t>(), (std::vector<int64_t>{kOdd, kMost}));
  EXPECT_EQ(masked_fill(ones, ones < 0, kMost).to_vector<int64_t>()[1], kMost);
  EXPECT_EQ(Tensor::scalar(kOdd).item<int64_t>(), kOdd);
  EXPECT_EQ(Tensor::scalar(std::numeric_limits<uint64_t>::max()).item<uint64_t>(),
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ((kOdd + ones).to_vector<int64_t>(), (std::vector<int64_t>{kOdd + 1, kOdd - 1}));
  EXPECT_EQ((ones * kOdd == kOdd - 1).sum().item<int64_t>(), 0);
  EXPECT_EQ((Tensor::of<int64_t>({-1, 1}, {2}) & kOdd).to_vector<int64_t>(),
            (std::vector<int64_t>{kOdd, 1}));
  EXPECT_EQ(randint(kOdd, kOdd + 1, {2}).to_vector<int64_t>(), (std::vector<int64_t>{kOdd, kOdd}));
  const Tensor any = randint(std::numeric_limits<int64_t>::min(), kMost, {1000});
  EXPECT_NEAR((any < 0).sum().item<double>(), 500, 100);
  EXPECT_EQ(Tensor::scalar(kOdd, DType::kFloat).item<float>(), static_cast<float>(kOdd));
}

TEST(EagerTensor, OperandsOfEveryNumberType) {
  const Tensor x = tensor({2.f, 4.f}), counts = Tensor::of<int32_t>({6, 9}, {2});
  const std::vector<float> doubled{4, 8};
  EXPECT_EQ((x * size_t{2}).to_vector<float>(), doubled);
  EXPECT_EQ((2U * x).to_vector<float>(), doubled);
  EXPECT_EQ((x * 2LL).to_vector<float>(), doubled);
  EXPECT_EQ((x * 2ULL).to_vector<float>(), doubled);
  EXPECT_EQ((x * int16_t{2}).to_vector<float>(), doubled);
  EXPECT_EQ((x * 2.0L).to_vector<float>(), doubled);
  EXPECT_EQ((counts + size_t{1}).dtype(), DType::kInt32);
  EXPECT_EQ((counts * 0.5L).dtype(), DType::kFloat);
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_TRUE((Tensor::scalar(kMost) == kMost).item<bool>());
  EXPECT_EQ((x * kMost)[0].item<float>(), 2 * static_cast<float>(kMost));
}

// Known or computed in a graph, a size takes on the other side's type.
TEST(EagerTensor, SizesAsOperands) {
  const Tensor x = tensor({2.f, 4.f});
  EXPECT_EQ((x / x.size(0)).to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ((x.size(0) - x).to_vector<float>(), (std::vector<float>{0, -2}));
  EXPECT_EQ(x.size(0) * 3, 6);
  const auto mean = compile([](const Tensor& at) -> Tensor { return at.sum() / at.size(0); });
  const auto more = compile([](const Tensor& at) -> Tensor { return at + at.size(0); });
  for (const int64_t count : {2, 3, 5}) {
    EXPECT_EQ(mean(ones(count) * 4).item<float>(), 4);
    const Tensor found =
        more(Tensor::of(std::vector<int32_t>(static_cast<size_t>(count)), {count}));
    EXPECT_EQ(found.dtype(), DType::kInt32);
    EXPECT_EQ(found.to_vector<int32_t>()[1], count);
  }
}

// An argument's size is open in a trace: that it is the state's is a condition of the compiled
// graph.
TEST(EagerTensor, StatesTakeArgumentsOfOpenSizes) {
  const Tensor state = ones({2});
  const auto keep = compile([&](const Tensor& x) -> Tensor {
    state.assign(x);
    return state * 2;
  });
  for (const float value : {3.f, 4.f}) {
    EXPECT_EQ(keep(ones({2}) * value).to_vector<float>(), (std::vector<float>(2, 2 * value)));
    EXPECT_EQ(state.to_vector<float>(), (std::vector<float>(2, value)));
  }
  EXPECT_THROW(keep(ones({3})), Error);
  EXPECT_EQ(state.shape(), (Dims{2}));
}

TEST(EagerTensor, ShapesOfIntegersAndSingleNumbers) {
  const std::vector<int64_t> shape{2, 3};
  EXPECT_EQ(zeros(shape).shape(), (Dims{2, 3}));
  EXPECT_EQ(full(shape, 2)[1][2].item<float>(), 2);
  for (const DType dtype : {DType::kFloat, DType::kDouble, DType::kFloat16, DType::kBFloat16}) {
    EXPECT_TRUE(signbit(full(shape, -0.0, {.dtype = dtype})).all().item<bool>()) << text(dtype);
    EXPECT_FALSE(signbit(full(shape, 0.0, {.dtype = dtype})).any().item<bool>()) << text(dtype);
  }
  EXPECT_EQ(full({300}, -0.0, {.dtype = DType::kInt32}).sum().item<int32_t>(), 0);
  EXPECT_EQ(randn(shape, {.dtype = DType::kDouble}).dtype(), DType::kDouble);
  EXPECT_EQ(ones(6).reshape(shape).shape(), rand(shape).shape());
  EXPECT_EQ(ones(3).expand(shape).view(std::vector<int64_t>{-1}).shape(), (Dims{6}));
  EXPECT_EQ(tensor(3.0).rank(), 0U);
  EXPECT_EQ(tensor(3.0).item<double>(), 3);
  EXPECT_EQ(tensor(true).dtype(), DType::kBool);
  EXPECT_EQ(tensor(int64_t{7}).item<int64_t>(), 7);
}

TEST(EagerTensor, ReshapeIndexAndSlice) {
  const Tensor x = arange(24).reshape({2, 3, 4});
  EXPECT_EQ(x.reshape({-1, 12}).shape(), (Dims{2, 12}));
  EXPECT_EQ(x.flatten(1).shape(), (Dims{2, 12}));
  EXPECT_EQ(x.index({1, Ellipsis{}, 0}).to_vector<int64_t>(), (std::vector<int64_t>{12, 16, 20}));
  EXPECT_EQ(x.index({Slice{}, Slice{{}, {}, -1}, 3}).to_vector<int64_t>(),
            (std::vector<int64_t>{11, 7, 3, 23, 19, 15}));
  const Tensor rows = tensor<int64_t>({0, 2}), columns = tensor<int64_t>({3, 1});
  EXPECT_EQ(x.index({1, rows, columns}).to_vector<int64_t>(), (std::vector<int64_t>{15, 21}));
  EXPECT_EQ(x.index({Slice{}, rows, columns}).to_vector<int64_t>(),
            (std::vector<int64_t>{3, 9, 15, 21}));
  EXPECT_EQ(x.index({x > 21}).to_vector<int64_t>(), (std::vector<int64_t>{22, 23}));
  EXPECT_EQ(x.index({NewAxis{}, 0}).shape(), (Dims{1, 3, 4}));
}

// Axes of index tensors that do not stand side by side come first, as in torch; an integer between
// them is no axis.
TEST(EagerTensor, IndexTensorsApart) {
  Tensor x = arange(48, {.dtype = DType::kFloat}).reshape({2, 3, 2, 4}).set_requires_grad();
  const Tensor ones_and_twos = tensor<int64_t>({1, 2}), rows = tensor<int64_t>({0, 1});
  const Tensor apart = x.index({rows, Slice{}, rows, ones_and_twos});
  EXPECT_EQ(apart.shape(), (Dims{2, 3}));
  EXPECT_EQ(apart.to_vector<float>(), (std::vector<float>{1, 9, 17, 30, 38, 46}));
  apart.sum().backward();
  EXPECT_EQ(x.grad().sum().item<float>(), 6);
  EXPECT_EQ(x.grad().index({1, 2, 1, 2}).item<float>(), 1);
  const Tensor last =
      x.detach().index({Slice{}, ones_and_twos, Slice{}, ones_and_twos.unsqueeze(1)});
  EXPECT_EQ(last.shape(), (Dims{2, 2, 2, 2}));
  EXPECT_EQ(last.index({1, 0, 1}).to_vector<float>(), (std::vector<float>{34, 38}));
  EXPECT_EQ(x.index({rows, 0, NewAxis{}, rows}).shape(), (Dims{2, 1, 4}));
  EXPECT_EQ(x.index({rows, 0, rows}).to_vector<float>(),
            (std::vector<float>{0, 1, 2, 3, 28, 29, 30, 31}));
  const Tensor put = x.detach().index_put({rows, Slice{}, rows}, zeros({2, 3, 4}));
  EXPECT_EQ((put == 0).sum().item<int64_t>(), 24);
}

TEST(EagerTensor, ErrorsNameTheCallersLine) {
  const Tensor a = zeros({2, 3}), b = zeros({4, 5});
  try {
    matmul(a, b);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("tensor_test.cpp:"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("MatMul"), std::string::npos) << error.what();
  }
  EXPECT_THROW(a.item<float>(), Error);
}

TEST(EagerTensor, KernelsArePreparedOnce) {
  const Tensor a = ones({3, 3});
  (void)(a + a);
  const EngineStats before = engine_stats();
  for (int i = 0; i < 10; ++i)
    (void)(a + a);
  EXPECT_EQ(engine_stats().misses, before.misses);
  EXPECT_EQ(engine_stats().hits, before.hits + 10);
}

TEST(EagerTensor, SeededRandomNumbersRepeat) {
  manual_seed(7);
  const std::vector<float> first = randn({5}).to_vector<float>();
  manual_seed(7);
  EXPECT_EQ(randn({5}).to_vector<float>(), first);
  EXPECT_NE(randn({5}).to_vector<float>(), first);
}

}  // namespace
}  // namespace sardonyx::eager
