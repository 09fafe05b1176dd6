// Where more than one meaning would do, torch's is taken: types of results, pieces, gradients at
// kinks, what cannot be assigned to.
#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/fft.h"
#include "eager/functional/functional.h"
#include "eager/functional/linalg.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;
using Floats = std::vector<float>;

// A result is a handle that is gone at the end of the line: `x[0] = y` is no program.
static_assert(std::is_assignable_v<Tensor&, const Tensor&>);
static_assert(std::is_assignable_v<Tensor&, Tensor>);
static_assert(!std::is_assignable_v<Tensor, const Tensor&>);
static_assert(!std::is_assignable_v<Tensor, Tensor>);
static_assert(!std::is_convertible_v<Tensor, bool> && !std::is_constructible_v<bool, Tensor>);
static_assert(std::is_nothrow_move_constructible_v<Tensor>);
static_assert(std::is_copy_assignable_v<std::pair<std::string, Tensor>>);

TEST(TorchRules, TypesOfMixedOperands) {
  const auto of = [](DType dtype, const Dims& shape) { return ones(shape, {.dtype = dtype}); };
  struct Case {
    DType a;
    Dims a_shape;
    DType b;
    Dims b_shape;
    DType result;
  };
  const Dims none, three{3};
  const Case cases[] = {
      {DType::kFloat, three, DType::kDouble, none, DType::kFloat},
      {DType::kFloat, none, DType::kDouble, three, DType::kDouble},
      {DType::kFloat, three, DType::kDouble, three, DType::kDouble},
      {DType::kFloat, none, DType::kDouble, none, DType::kDouble},
      {DType::kInt32, three, DType::kInt64, none, DType::kInt32},
      {DType::kInt64, three, DType::kFloat, none, DType::kFloat},
      {DType::kInt64, three, DType::kDouble, none, DType::kDouble},
      {DType::kInt64, none, DType::kFloat, three, DType::kFloat},
      {DType::kBool, three, DType::kInt32, none, DType::kInt32},
      {DType::kFloat16, three, DType::kFloat, none, DType::kFloat16},
      {DType::kFloat16, three, DType::kBFloat16, three, DType::kFloat},
      {DType::kUInt8, three, DType::kInt8, three, DType::kInt16},
  };
  for (const Case& c : cases) {
    const Tensor a = of(c.a, c.a_shape), b = of(c.b, c.b_shape);
    SCOPED_TRACE(text(a.type(), " and ", b.type()));
    EXPECT_EQ((a + b).dtype(), c.result);
    EXPECT_EQ((b * a).dtype(), c.result);
    EXPECT_EQ(where(ones({1}, {.dtype = DType::kBool}), a, b).dtype(), c.result);
    const Compiled sum = compile([](const Tensors& in) -> Tensors { return {in[0] + in[1]}; });
    EXPECT_EQ(sum({a, b})[0].dtype(), c.result);
  }
}

TEST(TorchRules, SumsOfSmallIntegersAreInt64) {
  for (const DType dtype :
       {DType::kBool, DType::kInt8, DType::kUInt8, DType::kInt32, DType::kInt64, DType::kUInt32}) {
    const Tensor x = ones({200}, {.dtype = dtype});
    EXPECT_EQ(x.sum().dtype(), DType::kInt64) << dtype;
    EXPECT_EQ(x.sum().item<int64_t>(), 200) << dtype;
    EXPECT_EQ(cumsum(x, 0).dtype(), DType::kInt64) << dtype;
    EXPECT_EQ(cumsum(x, 0)[199].item<int64_t>(), 200) << dtype;
  }
}

TEST(TorchRules, IntegersMeetFractions) {
  const Tensor x = tensor({1, 2, 3});
  EXPECT_EQ(clamp(x, 1.5, 2.5).to_vector<float>(), (Floats{1.5, 2, 2.5}));
  EXPECT_EQ(clamp(x, 2, {}).to_vector<int32_t>(), (std::vector<int32_t>{2, 2, 3}));
  EXPECT_EQ(x.pow(2).dtype(), DType::kInt32);
  EXPECT_EQ(x.pow(-1.0).to_vector<float>()[1], 0.5f);
}

TEST(TorchRules, VarianceOfTooFewElements) {
  const Compiled spread =
      compile([](const Tensors& in) -> Tensors { return {var(in[0], {0}, false, 3)}; });
  for (const Tensor& x : {tensor({1.f, 2.f}), tensor({1.f, 2.f, 4.f})}) {
    EXPECT_EQ(var(x, {}, false, 3).item<float>(), INFINITY);
    EXPECT_EQ(spread({x})[0].item<float>(), INFINITY);
  }
  EXPECT_FLOAT_EQ(var(tensor({1.f, 3.f})).item<float>(), 2);
}

TEST(TorchRules, PadStartsAtTheLastAxis) {
  const Tensor x = zeros({1, 28, 28});
  EXPECT_EQ(pad(x, {1, 2, 3, 4}).shape(), (Dims{1, 35, 31}));
  EXPECT_EQ(pad(x, {}).shape(), (Dims{1, 28, 28}));
  EXPECT_EQ(pad(x, {-1, 0, 0, -8, 5, 0}).shape(), (Dims{6, 20, 27}));
  EXPECT_EQ(pad(tensor({{1.f, 2.f}, {3.f, 4.f}}), {1, 0}, 9).to_vector<float>(),
            (Floats{9, 1, 2, 9, 3, 4}));
}

TEST(TorchRules, ChunksMayBeFewer) {
  struct Case {
    int64_t size, count;
    std::vector<int64_t> pieces;
  };
  const Case cases[] = {{6, 4, {2, 2, 2}}, {7, 3, {3, 3, 1}}, {6, 3, {2, 2, 2}}, {5, 1, {5}},
                        {2, 5, {1, 1}},    {0, 3, {0, 0, 0}}, {1, 1, {1}},       {9, 4, {3, 3, 3}}};
  const auto sizes_of = [](const Tensors& pieces) {
    std::vector<int64_t> sizes;
    for (const Tensor& piece : pieces)
      sizes.push_back(piece.size(-1).value());
    return sizes;
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(text(c.size, " by ", c.count));
    const auto pieces = [&](const Tensors& in) { return chunk(in[0], c.count, -1); };
    const Tensor x = zeros({2, c.size});
    EXPECT_EQ(sizes_of(pieces({x})), c.pieces);
    EXPECT_EQ(sizes_of(compile(pieces)({x})), c.pieces);
  }
  // One trace serves sizes that give as many pieces.
  const Compiled halves = compile([](const Tensors& in) { return chunk(in[0], 2); });
  for (const int64_t size : {4, 7, 2})
    EXPECT_EQ(halves({zeros({size})})[1].size(0).value(), size / 2);
  EXPECT_EQ(halves.traces(), 1u);
  EXPECT_EQ(halves({zeros({1})}).size(), 1u);
}

TEST(TorchRules, GradientsAtTiesAndKinks) {
  const auto slope = [](const std::function<Tensor(const Tensor&)>& fn, double at) {
    const Tensor x = tensor({at}).set_requires_grad();
    fn(x).sum().backward();
    return x.grad().item<double>();
  };
  const Tensor same = tensor({2.0});
  EXPECT_EQ(slope([&](const Tensor& x) { return maximum(x, same); }, 2), 0.5);
  EXPECT_EQ(slope([&](const Tensor& x) { return minimum(same, x); }, 2), 0.5);
  EXPECT_EQ(slope([&](const Tensor& x) { return maximum(x, same); }, 3), 1);
  EXPECT_EQ(slope([&](const Tensor& x) { return maximum(x, same); }, 1), 0);
  EXPECT_EQ(slope([&](const Tensor& x) { return maximum(x, x); }, 2), 1);
  EXPECT_EQ(slope([](const Tensor& x) { return leaky_relu(x, 0.25); }, 0), 0.25);
  EXPECT_EQ(slope([](const Tensor& x) { return elu(x, 0.5); }, 0), 0.5);
  EXPECT_EQ(slope([](const Tensor& x) { return relu(x); }, 0), 0);
  EXPECT_EQ(slope([](const Tensor& x) { return abs(x); }, 0), 0);
  EXPECT_EQ(slope([](const Tensor& x) { return clamp(x, 0, 1); }, 1), 1);
}

// What torch 1.13 gives: the rest is exact, and has the divisor's sign where it is not 0.
TEST(TorchRules, RemaindersOfFloats) {
  const float inf = INFINITY;
  const Tensor a = tensor({5.f, -5.f, 1.f, -1.f, 7.5f, 1e20f, -1e-9f}).set_requires_grad();
  const Tensor b = tensor({inf, inf, 0.1f, 0.1f, -2.f, 3.f, 3.f}).set_requires_grad();
  const Floats rests = remainder(a, b).to_vector<float>();
  const Floats expected{5, inf, 0.1f - 1.5e-8f, 1.5e-8f, -0.5f, 2, 3};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(rests[i] == expected[i] || std::abs(rests[i] - expected[i]) < 1e-8f)
        << i << ": " << rests[i];
  EXPECT_EQ(floor_divide(a, b).to_vector<float>(), (Floats{0, -1, 9, -10, -4, 3.3333333e19f, -1}));
  remainder(a, b).sum().backward();
  EXPECT_EQ(a.grad().to_vector<float>(), Floats(7, 1));
  EXPECT_EQ(b.grad().to_vector<float>(), (Floats{0, 1, -9, 10, 4, -3.3333333e19f, 1}));
  const Tensor of_nothing = floor_divide(tensor({3.f, inf}), tensor({0.f, 2.f}));
  EXPECT_EQ(of_nothing[0].item<float>(), inf);
  EXPECT_TRUE(std::isnan(of_nothing[1].item<float>()));
}

TEST(TorchRules, NormsHaveGradientsAtZero) {
  const std::pair<double, Floats> slopes[] = {
      {0.5, {0, 2.1547005f, -1.8660254f}}, {1, {0, 1, -1}},
      {1.5, {0, 0.732957f, -0.846345f}},   {2, {0, 0.6f, -0.8f}},
      {3, {0, 0.444851f, -0.790847f}},     {INFINITY, {0, 0, -1}}};
  for (const auto& [order, expected] : slopes) {
    SCOPED_TRACE(order);
    const Tensor zero = zeros({3}).set_requires_grad();
    linalg::vector_norm(zero, order).backward();
    EXPECT_EQ(zero.grad().to_vector<float>(), Floats(3, 0));
    const Tensor x = tensor({0.f, 3.f, -4.f}).set_requires_grad();
    linalg::vector_norm(x, order).backward();
    EXPECT_TRUE(allclose(x.grad(), tensor(expected), {.rtol = 1e-5})) << x.grad();
  }
  const Tensor pair = zeros({1, 2}).set_requires_grad();
  fft::abs(pair).sum().backward();
  EXPECT_EQ(pair.grad().to_vector<float>(), Floats(2, 0));
}

// As in torch, whose dropped elements are products with 0.
TEST(TorchRules, DropoutOfAll) {
  const Tensor y = nn::dropout(tensor({1.f, -2.f, NAN}), 1);
  EXPECT_EQ(y[0].item<float>(), 0);
  EXPECT_EQ(y[1].item<float>(), 0);
  EXPECT_TRUE(std::isnan(y[2].item<float>()));
}

// The mode changes dropout and norms, never which parameters are trained.
TEST(TorchRules, PaddingRowsAreNotTrainedInAnyMode) {
  for (const bool trains : {true, false}) {
    const nn::Embedding words(4, 2, {.padding_idx = 1});
    words.train(trains);
    const auto step = [&](const Tensor& places) {
      const Tensor loss = words(places).sum();
      loss.backward();
      return loss;
    };
    const Tensor places = tensor<int64_t>({0, 1, 1, 3});
    const Floats expected{1, 1, 0, 0, 0, 0, 1, 1};
    step(places);
    EXPECT_EQ(words.weight.grad().to_vector<float>(), expected);
    words.zero_grad();
    compile(step)(places);
    EXPECT_EQ(words.weight.grad().to_vector<float>(), expected);
  }
}

TEST(TorchRules, IndexPutWritesACopy) {
  const Tensor x = arange(6).to(DType::kFloat).reshape({2, 3});
  const Tensor nine = full({}, 9), rows = tensor<int64_t>({1, 1});
  struct Case {
    std::vector<Index> places;
    Tensor values;
    bool accumulate;
    Floats result;
  };
  const Case cases[] = {
      {{0}, nine, false, {9, 9, 9, 3, 4, 5}},
      {{Slice{}, -1}, tensor({7.f, 8.f}), false, {0, 1, 7, 3, 4, 8}},
      {{1, Slice{1, {}}}, tensor({7.f, 8.f}), true, {0, 1, 2, 3, 11, 13}},
      {{rows}, ones({2, 3}), true, {0, 1, 2, 5, 6, 7}},
      {{x > 3}, nine, false, {0, 1, 2, 3, 9, 9}},
      {{rows, tensor<int64_t>({0, 2})}, tensor({7.f, 8.f}), false, {0, 1, 2, 7, 4, 8}},
      {{Ellipsis{}}, nine, false, {9, 9, 9, 9, 9, 9}},
      {{Slice{{}, {}, -1}, 0}, tensor({7.f, 8.f}), false, {8, 1, 2, 7, 4, 5}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(x.index_put(c.places, c.values, c.accumulate).to_vector<float>(), c.result);
    const Compiled put = compile([&](const Tensors& in) -> Tensors {
      return {in[0].index_put(c.places, in[1], c.accumulate)};
    });
    EXPECT_EQ(put({x, c.values})[0].to_vector<float>(), c.result);
  }
  EXPECT_EQ(x.to_vector<float>(), (Floats{0, 1, 2, 3, 4, 5}));
  const Tensor a = ones({2, 3}).set_requires_grad(), b = ones({2}).set_requires_grad();
  (a.index_put({Slice{}, 0}, b * 3) * x).sum().backward();
  EXPECT_EQ(a.grad().to_vector<float>(), (Floats{0, 1, 2, 0, 4, 5}));
  EXPECT_EQ(b.grad().to_vector<float>(), (Floats{0, 9}));
}

// Of an odd axis there are no halves, also where the trace was made of an even one.
TEST(TorchRules, HalvesOfAnOddAxis) {
  const auto halved = compile([](const Tensor& x) { return glu(x); });
  EXPECT_EQ(halved(ones({4})).shape(), (Dims{2}));
  EXPECT_EQ(halved(ones({6})).shape(), (Dims{3}));
  EXPECT_EQ(halved.traces(), 1u);
  expect_refusal(ErrorCode::kInvalidArgument, "glu: expected an axis of even size",
                 [&] { halved(ones({3})); });
}

TEST(TorchRules, SizesThatStayOpen) {
  const Compiled both = compile([](const Tensors& in) -> Tensors {
    const Dim n = in[0].size(0);
    const Tensors parts = split(in[0], {1, n - 1});
    const nn::Upsample wider({.size = {n * 2, 3}});
    return {parts[1], tile(in[0], {n, 1}), topk(in[0], n, 0).first,
            wider(in[0].reshape({1, 1, n, 2}))};
  });
  for (const int64_t n : {3, 5}) {
    const Tensors out = both({zeros({n, 2})});
    EXPECT_EQ(out[0].shape(), (Dims{n - 1, 2}));
    EXPECT_EQ(out[1].shape(), (Dims{n * n, 2}));
    EXPECT_EQ(out[2].shape(), (Dims{n, 2}));
    EXPECT_EQ(out[3].shape(), (Dims{1, 1, 2 * n, 3}));
  }
  EXPECT_EQ(both.traces(), 1u);
}

TEST(TorchRules, LoadStateDictSaysWhatItLeftAlone) {
  const nn::Linear layer(2, 3);
  nn::StateDict state = layer.state_dict();
  state["scale"] = ones({1});
  state.erase("bias");
  const nn::IncompatibleKeys left = layer.load_state_dict(state, /*strict=*/false);
  EXPECT_EQ(left.missing, std::vector<std::string>{"bias"});
  EXPECT_EQ(left.unexpected, std::vector<std::string>{"scale"});
}

TEST(TorchRules, LengthsOfSequencesAreIntegersOfAnyWidth) {
  const nn::LSTM lstm(2, 3);
  const Tensor x = ones({4, 2, 2});
  const nn::RecurrentResult wide = lstm(x, {.lengths = tensor<int64_t>({4, 2})});
  const nn::RecurrentResult narrow = lstm(x, {.lengths = tensor<int32_t>({4, 2})});
  EXPECT_EQ(wide.output.to_vector<float>(), narrow.output.to_vector<float>());
}

}  // namespace
}  // namespace sardonyx::eager
