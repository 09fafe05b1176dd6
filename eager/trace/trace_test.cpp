#include "eager/trace/trace.h"

#include <gtest/gtest.h>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/trace/compile.h"
#include "eager/trace/control_flow.h"
#include "ir/print.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;

TEST(Trace, SizesStaySymbolic) {
  const Tensor weight = ones({12, 5});
  const Traced traced = trace(
      [&](const Tensors& in) -> Tensors {
        const Tensor x = in[0].reshape({in[0].size(0), -1});
        return {matmul(x, weight) + 1, zeros({in[0].size(0) * Dim(2), 3})};
      },
      {{.shape = {Dim::symbol("batch"), 3, 4}, .name = "x"}});
  EXPECT_EQ(traced.graph->outputs()[0]->type.text(), "float[batch, 5]");
  EXPECT_EQ(traced.graph->outputs()[1]->type.text(), "float[2*batch, 3]");
  EXPECT_NE(to_text(*traced.graph).find("trace_test.cpp:"), std::string::npos);
}

TEST(Trace, AValueThatIsNotThereIsAnErrorWithTheRemedy) {
  try {
    trace([](const Tensors& in) -> Tensors { return {in[0] * in[0].mean().item<float>()}; },
          {{.shape = {2}}});
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("trace_test.cpp:"), std::string::npos) << message;
    EXPECT_NE(message.find("cond()"), std::string::npos) << message;
  }
}

Tensors branch_on_mean(const Tensors& in) {
  const Tensor& x = in[0];
  const Tensor scale = full({}, 3);
  return {cond(
      x.mean() > 0.5, [&] { return x * scale; }, [&] { return x - scale; })};
}

TEST(ControlFlow, CondRunsOneBranchAndTracesBoth) {
  const Tensor high = ones({2, 2}), low = zeros({3, 2});
  EXPECT_EQ(branch_on_mean({high})[0].to_vector<float>(), (std::vector<float>{3, 3, 3, 3}));
  const Compiled compiled = compile(branch_on_mean);
  EXPECT_EQ(compiled({high})[0].to_vector<float>(), (std::vector<float>{3, 3, 3, 3}));
  EXPECT_EQ(compiled({low})[0].to_vector<float>(), std::vector<float>(6, -3.f));
  EXPECT_LE(compiled.traces(), 2u);
}

Tensors double_until_large(const Tensors& in) {
  return while_loop([](const Tensors& state) { return state[0].sum() < 100; },
                    [&](const Tensors& state) -> Tensors {
                      return {state[0] * 2 + in[1], state[1] + 1};
                    },
                    {in[0], full({}, 0, {.dtype = DType::kInt64})});
}

TEST(ControlFlow, LoopsAgreeAtOnceAndCompiled) {
  const Tensor x = tensor({1.f, 2.f}), y = tensor({0.5f, 0.f});
  const Tensors expected = double_until_large({x, y});
  const Tensors got = compile(double_until_large)({x, y});
  EXPECT_EQ(got[0].to_vector<float>(), expected[0].to_vector<float>());
  EXPECT_EQ(got[1].item<int64_t>(), expected[1].item<int64_t>());
}

Tensors running_sums(const Tensors& in) {
  ScanResult result = scan(
      [](const Tensors& state, const Tensors& slices) -> ScanResult {
        const Tensor sum = state[0] + slices[0];
        return {{sum}, {sum * 2}};
      },
      {zeros({2})}, {in[0]});
  return {result.state[0], result.outputs[0]};
}

TEST(ControlFlow, ScansAgreeAtOnceAndCompiled) {
  const Tensor x = arange(6).to(DType::kFloat).reshape({3, 2});
  const Tensors expected = running_sums({x});
  const Compiled compiled = compile(running_sums);
  const Tensors got = compiled({x});
  EXPECT_EQ(expected[1].to_vector<float>(), (std::vector<float>{0, 2, 4, 8, 12, 18}));
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(got[i].to_vector<float>(), expected[i].to_vector<float>());
}

TEST(ControlFlow, ScansOfNothingAgreeAtOnceAndCompiled) {
  const Tensor x = zeros({0, 2});
  const Tensors expected = running_sums({x}), got = compile(running_sums)({x});
  EXPECT_EQ(expected[0].to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(expected[1].shape(), (Dims{0, 2}));
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(got[i].data(), expected[i].data());
  const Tensor start = ones({2}, {.requires_grad = true});
  const auto body = [](const Tensors& state, const Tensors& slices) -> ScanResult {
    return {{state[0] * slices[0]}, {slices[0]}};
  };
  scan(body, {start}, {x}).state[0].sum().backward();
  EXPECT_EQ(start.grad().to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(Compile, StatesAreReadAndWrittenBack) {
  const Tensor total = zeros({2});
  const Compiled add_up = compile([&](const Tensors& in) -> Tensors {
    total.assign(total + in[0]);
    return {total * 10};
  });
  EXPECT_EQ(add_up({tensor({1.f, 2.f})})[0].to_vector<float>(), (std::vector<float>{10, 20}));
  EXPECT_EQ(add_up({tensor({1.f, 2.f})})[0].to_vector<float>(), (std::vector<float>{20, 40}));
  EXPECT_EQ(total.to_vector<float>(), (std::vector<float>{2, 4}));
  total.assign(zeros({2}));
  EXPECT_EQ(add_up({tensor({5.f, 5.f})})[0].to_vector<float>(), (std::vector<float>{50, 50}));
  EXPECT_EQ(add_up.traces(), 1u);
}

TEST(Compile, StatesAreWrittenWhereTheyLieUnlessSomebodyHoldsThem) {
  const Tensor total = zeros({2});
  const Compiled add_up = compile([&](const Tensors& in) -> Tensors {
    total.assign(total + in[0]);
    return {};
  });
  const auto add_one = [&] {
    (void)add_up({tensor({1.f, 1.f})});
    return total.data().raw();
  };
  const sardonyx::Tensor first = total.data();
  const void* place = add_one();
  EXPECT_NE(place, first.raw()) << "it was not made by the compiled function";
  EXPECT_EQ(add_one(), place);
  {
    const sardonyx::Tensor held = total.data();
    EXPECT_NE(add_one(), place);
    EXPECT_EQ(held.values<float>()[0], 2);
  }
  place = total.data().raw();
  EXPECT_EQ(add_one(), place);
  EXPECT_EQ(total.to_vector<float>(), (std::vector<float>{4, 4}));
  EXPECT_EQ(first.values<float>()[0], 0);
}

TEST(Compile, TracesOncePerRankNotPerSize) {
  const Compiled twice = compile([](const Tensors& in) -> Tensors { return {in[0] + in[0]}; });
  for (const int64_t size : {3, 5, 8, 1})
    EXPECT_EQ(twice({ones({size, size + 1})})[0].shape(), (Dims{size, size + 1}));
  EXPECT_EQ(twice.traces(), 1u);
  (void)twice({ones({2})});
  EXPECT_EQ(twice.traces(), 2u);
}

}  // namespace
}  // namespace sardonyx::eager
