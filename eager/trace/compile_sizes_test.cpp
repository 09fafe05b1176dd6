// Sizes that a compiled function compares, checks and reads: it agrees with the function at all of
// them.
#include "eager/trace/compile.h"

#include <gmock/gmock.h>

#include <array>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/fft.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/optim/optimizer.h"
#include "eager/trace/control_flow.h"
#include "eager/trace/same_for_test.h"
#include "executor/session.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

using ::testing::HasSubstr;
using Tensors = std::vector<Tensor>;

TEST(CompileSizes, ComparisonsOfSizes) {
  const auto run = [](const Tensors& in) -> Tensors {
    if (in[0].size(0) == 3) return {in[0] * 10};
    const Dim rows = in[0].shape()[0];
    if (rows * 2 > 8) return {in[0] * 100};
    return {in[0]};
  };
  const Compiled compiled = compile(run);
  for (const int64_t rows : {3, 2, 3, 4, 5, 7, 2, 1}) {
    const Tensor x = ones({rows, 2});
    EXPECT_TRUE(same(compiled({x})[0], run({x})[0])) << rows;
  }
  EXPECT_EQ(compiled.traces(), 3u);
  EXPECT_THAT(compiled.trace_log()[1], HasSubstr("size_0 == 3 (compile_sizes_test.cpp:"));
}

TEST(CompileSizes, ValuesOfSizesThatTheFunctionAsksFor) {
  const auto run = [](const Tensors& in) -> Tensors {
    Tensor total = in[0].select(0, 0);
    for (int64_t i = 1; i < in[0].size(0); ++i)
      total = total * 2 + in[0].select(0, i);
    return {total / static_cast<double>(in[0].size(1).value())};
  };
  const Compiled compiled = compile(run);
  for (const auto& [rows, columns] : {std::pair{3, 2}, {4, 2}, {3, 5}, {3, 2}}) {
    const Tensor x = randn({rows, columns});
    EXPECT_TRUE(same(compiled({x})[0], run({x})[0])) << rows << ' ' << columns;
  }
}

// What eager code refuses a compiled function refuses too, also at sizes that come later.
TEST(CompileSizes, ChecksOfSizesHoldForLaterCalls) {
  const nn::LayerNorm norm(2);
  const Compiled half =
      compile([&](const Tensors& in) -> Tensors { return {norm(chunk(in[0], 2)[0])}; });
  EXPECT_EQ(half({ones({4})})[0].shape(), (Dims{2}));
  expect_refusal(ErrorCode::kInvalidArgument, "LayerNorm: expected x to end in [2], got",
                 [&] { half({ones({6})}); });
  const Compiled loss =
      compile([](const Tensors& in) -> Tensors { return {nn::mse_loss(in[0], in[1])}; });
  loss({ones({3, 4}), ones({3, 4})});
  expect_refusal(ErrorCode::kInvalidArgument, "expected input and target of one shape", [&] {
    loss({ones({3, 4}), ones({3, 1})});
  });
  const Compiled picked =
      compile([](const Tensors& in) -> Tensors { return {in[0].index({in[1]})}; });
  const CreateOptions mask{.dtype = DType::kBool};
  picked({ones({3}), ones({3}, mask)});
  expect_refusal(ErrorCode::kInvalidArgument, "index: a mask bool[", [&] {
    picked({ones({3}), ones({2}, mask)});
  });
}

// What two open sizes broadcast to is a size like others: later calls may broadcast otherwise.
TEST(CompileSizes, ChecksOfSizesThatWereBroadcast) {
  const TensorFunction run = [](const Tensors& in) -> Tensors {
    const Tensor square = matmul(in[0], in[0].t());
    return {nn::bce_with_logits(square, square * in[0])};
  };
  const Compiled loss = compile(run);
  const Tensor x = randn({4, 4});
  EXPECT_TRUE(same(loss({x})[0], run({x})[0]));
  expect_refusal(ErrorCode::kInvalidArgument,
                 "bce_with_logits: expected input and target of one shape, got float[", [&] {
                   loss({ones({1, 4})});
                 });
  expect_refusal(ErrorCode::kInvalidArgument, "broadcast", [&] { loss({ones({2, 4})}); });
  EXPECT_TRUE(same(loss({ones({3, 3})})[0], run({ones({3, 3})})[0]));
  EXPECT_TRUE(same(loss({ones({1, 1})})[0], run({ones({1, 1})})[0]));

  const TensorFunction doubled = [](const Tensors& in) -> Tensors {
    const Tensor sum = in[0] + in[1] + in[2];
    return {sum * static_cast<double>(sum.size(0).value()), sum.size(0) == 3 ? sum * 2 : sum};
  };
  const Compiled compiled = compile(doubled);
  const std::vector<std::array<int64_t, 3>> calls{{3, 3, 3}, {1, 3, 3}, {1, 1, 3}, {1, 1, 1},
                                                  {4, 4, 1}, {1, 4, 4}, {3, 3, 3}};
  for (const auto& [a, b, c] : calls) {
    const Tensors in{ones({a, 1}), ones({1, b}).t(), ones({c, 1, 1}).squeeze({1})};
    const Tensors expected = doubled(in), got = compiled(in);
    EXPECT_TRUE(same(got[0], expected[0]) && same(got[1], expected[1])) << a << b << c;
  }
}

TEST(CompileSizes, ChecksOfSizesThatDependOnData) {
  const TensorFunction run = [](const Tensors& in) -> Tensors {
    return {nn::mse_loss(in[0].index({in[0] > 0}), in[1].index({in[1] > 0}))};
  };
  const Compiled loss = compile(run);
  const auto of = [](const std::vector<float>& values) { return Tensor::of(values, {3}); };
  const Tensors two{of({1, -1, 2}), of({3, 4, -1})}, three{of({1, 3, 2}), of({3, 4, 8})};
  EXPECT_TRUE(same(loss(two)[0], run(two)[0]));
  EXPECT_TRUE(same(loss(three)[0], run(three)[0]));
  EXPECT_EQ(loss.traces(), 1u);
  for (const Tensor& other : {of({-1, 1, -1}), of({1, 1, 1})}) {
    expect_refusal(ErrorCode::kInvalidArgument, "mse_loss", [&] { run({two[0], other}); });
    expect_refusal(ErrorCode::kInvalidArgument, "compile_sizes_test.cpp:", [&] {
      loss({two[0], other});
    });
  }
  expect_refusal(ErrorCode::kInvalidArgument, "compile_sizes_test.cpp:", [&] {
    loss({of({-1, 1, -1}), two[0]});
  });
}

// Where later sizes no longer allow what a function does, it does not cut or stretch instead.
TEST(CompileSizes, LaterSizesThatAFunctionRefuses) {
  struct Case {
    const char* message;
    TensorFunction fn;
    Tensors fits, does_not;
  };
  const nn::LSTM lstm(2, 3);
  const nn::LSTMCell cell(2, 3);
  const std::vector<Case> cases{
      {"cross: expected 3 elements along axis -1",
       [](const Tensors& in) -> Tensors { return {cross(in[0], in[0])}; },
       {ones({2, 3})},
       {ones({2, 4})}},
      {"narrow: expected a part of axis 0",
       [](const Tensors& in) -> Tensors { return {narrow(in[0], 0, 1, 3)}; },
       {ones({5})},
       {ones({3})}},
      {"ReduceMin: the tensor",
       [](const Tensors& in) -> Tensors { return {narrow(in[0], 0, 1, in[0].size(0) - 1).amin()}; },
       {ones({5})},
       {ones({1})}},
      {"ReduceMax: the tensor",
       [](const Tensors& in) -> Tensors { return {in[0].amax({1})}; },
       {ones({2, 3})},
       {ones({2, 0})}},
      {"circular pads of axis 2",
       [](const Tensors& in) -> Tensors {
         return {pad(in[0], {2, 0}, "circular")};
       },
       {ones({1, 1, 3})},
       {ones({1, 1, 1})}},
      {"stft: expected at least 4 samples",
       [](const Tensors& in) -> Tensors {
         return {fft::stft(in[0], {.n_fft = 4, .center = false})};
       },
       {ones({8})},
       {ones({3})}},
      {"index_put: values",
       [](const Tensors& in) -> Tensors {
         return {in[0].index_put({Tensor::of(std::vector<int64_t>{0, 1}, {2})}, in[1])};
       },
       {ones({4}), ones({2})},
       {ones({4}), ones({3})}},
      {"LSTM: expected hidden",
       [&](const Tensors& in) -> Tensors {
         return {lstm(in[0], {in[1], in[1]}).output};
       },
       {ones({5, 2, 2}), ones({1, 2, 3})},
       {ones({5, 2, 2}), ones({2, 2, 3})}},
      {"LSTMCell: expected cell",
       [&](const Tensors& in) -> Tensors {
         return {cell(in[0], nn::LSTMState{in[1], in[2]}).hidden};
       },
       {ones({2, 2}), ones({2, 3}), ones({2, 3})},
       {ones({2, 2}), ones({2, 3}), ones({2, 1})}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.message);
    const Compiled compiled = compile(one.fn);
    EXPECT_TRUE(same(compiled(one.fits)[0], one.fn(one.fits)[0]));
    expect_refusal(ErrorCode::kInvalidArgument, one.message, [&] { compiled(one.does_not); });
  }
}

// The values that a loop kept for its gradient have their shape also where it never ran.
TEST(CompileSizes, GradientsOfLoopsThatNeverRun) {
  const Tensor scale = ones({4}).set_requires_grad();
  for (const int level : {0, 1, 2}) {
    const Compiled loop = compile(
        [&](const Tensors& in) -> Tensors {
          const Tensor y = while_loop([](const Tensors& state) { return state[1] < 0; },
                                      [](const Tensors& state) -> Tensors {
                                        return {tanh(state[0]) * 1.5, state[1] + 1};
                                      },
                                      {in[0] * scale, zeros({}, {.dtype = DType::kInt64})})[0];
          y.sum().backward();
          return {y};
        },
        {.optimization_level = level});
    scale.zero_grad();
    loop({full({3, 4}, 2)});
    EXPECT_EQ(scale.grad().to_vector<float>(), std::vector<float>(4, 6.f)) << level;
  }
}

TEST(CompileSizes, ReshapesBesideASizeOfZero) {
  const auto rows = [](const Tensors& in) -> Tensors {
    return {in[0].reshape({in[0].size(0), -1})};
  };
  for (const int64_t size : {0, 3}) {
    EXPECT_EQ(rows({ones({size, 2, 2})})[0].shape(), (Dims{size, 4}));
    const ExportOptions options{.dynamic_axes = {{"input_0", {{0, "n"}}}}};
    const Model model = traced_model(rows, {ones({3, 2, 2})}, options);
    EXPECT_EQ(
        Session(model).run(std::vector<Datum>{ones({size, 2, 2}).datum()})[0].tensor().shape(),
        (Shape{size, 4}));
  }
}

// Ends beyond the size are cut off, and negative bounds count from the end, at every size of a
// call.
TEST(CompileSizes, GradientsOnOpenAxes) {
  const std::vector<std::optional<Dim>> bounds{std::nullopt, 0, 2, 7, -1, -2, -7};
  for (const std::optional<Dim>& begin : bounds) {
    for (const std::optional<Dim>& end : bounds) {
      for (const int64_t step : {1, 2, -1, -2}) {
        const auto run = [&](const Tensors& in) -> Tensors {
          Tensor x = in[0].detach();
          x.set_requires_grad();
          const Tensor y = x.slice(1, {begin, end, step});
          square(y).sum().backward();
          return {x.grad(), y.detach()};
        };
        const Compiled compiled = compile(run);
        for (const int64_t size : {3, 5, 1, 8, 2}) {
          const Tensor x = randn({2, size});
          const Tensors expected = run({x}), found = compiled({x});
          EXPECT_TRUE(same(found[0], expected[0]) && same(found[1], expected[1]))
              << begin.value_or(99) << ":" << end.value_or(99) << ":" << step << " of " << size;
        }
      }
    }
  }
}

// The same with bounds that are computed from sizes, which may be negative.
TEST(CompileSizes, BoundsOfSizesOnOpenAxes) {
  using Bound = Dim (*)(const Tensors&);
  const std::vector<Bound> bounds{
      [](const Tensors& in) { return in[0].size(1) - 3; },
      [](const Tensors& in) { return in[1].size(0) - 2; },
      [](const Tensors& in) { return 2 * in[1].size(0); },
      [](const Tensors& in) { return floor_div(in[0].size(1), 2); },
  };
  for (size_t i = 0; i < bounds.size() * bounds.size() * 2; ++i) {
    const Bound begin = bounds[i / 2 % bounds.size()], end = bounds[i / 2 / bounds.size()];
    const auto run = [&](const Tensors& in) -> Tensors {
      Tensor x = in[0].detach();
      x.set_requires_grad();
      const Tensor y = x.slice(1, {begin(in), end(in), i % 2 ? -1 : 1});
      square(y).sum().backward();
      return {x.grad(), y.detach()};
    };
    const Compiled compiled = compile(run);
    for (const auto& [n, m] : std::vector<std::pair<int64_t, int64_t>>{
             {5, 6}, {4, 7}, {8, 3}, {2, 9}, {9, 4}, {1, 1}, {1, 5}, {6, 2}}) {
      const Tensors in{randn({2, n}), randn({m})};
      const Tensors expected = run(in), found = compiled(in);
      EXPECT_TRUE(same(found[0], expected[0]) && same(found[1], expected[1]))
          << i << " at " << n << ", " << m;
    }
  }
}

}  // namespace
}  // namespace sardonyx::eager
