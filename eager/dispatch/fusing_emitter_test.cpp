#include "eager/dispatch/fusing_emitter.h"

#include <gtest/gtest.h>

#include <bit>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/profiler.h"
#include "eager/functional/functional.h"
#include "eager/generator.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;
using Forward = std::function<Tensor(const Tensors&)>;

// A recorded backward pass runs each op by itself; the plain one runs groups.
Tensors gradients(const Forward& forward, const Tensors& inputs, bool one_by_one) {
  const Tensor y = forward(inputs);
  const Tensor weights = cos(arange(y.numel(), {.dtype = y.dtype()}) * 0.7).reshape(y.shape());
  return grad({y}, inputs, {.grad_outputs = {weights.detach()}, .create_graph = one_by_one});
}

Tensors leaves() {
  manual_seed(3);
  return {randn({96, 80}, {.requires_grad = true}), randn({96, 80}, {.requires_grad = true}),
          randn({80}, {.requires_grad = true}), randn({96, 1}, {.requires_grad = true})};
}

TEST(FusingEmitter, GivesTheNumbersOfTheOpsOneByOne) {
  const std::vector<std::pair<std::string, Forward>> functions = {
      {"gelu", [](const Tensors& in) { return gelu(in[0]) * in[1] + in[2] * in[3]; }},
      {"silu", [](const Tensors& in) { return silu(in[0] * in[2]) + in[1] * in[3]; }},
      {"hardswish", [](const Tensors& in) { return hardswish(in[0] * 3) * in[1] * in[2] * in[3]; }},
      {"tanh", [](const Tensors& in) { return tanh(in[0]) / exp(in[1]) + sin(in[2]) - in[3]; }},
      {"means", [](const Tensors& in) { return (in[0] - in[0].mean()) * in[1] * in[2] * in[3]; }},
      {"sums",
       [](const Tensors& in) { return (in[0] * in[1]).sum({1}) * (in[2] * in[3]).sum({1}); }},
      {"only sums", [](const Tensors& in) { return (in[0].sum() + in[1].sum()) * in[2] * in[3]; }},
      {"shapes",
       [](const Tensors& in) {
         const Tensor transposed = sigmoid(in[0]).transpose(0, 1) * in[1].transpose(0, 1);
         return square(transposed.reshape({96, 80})) * in[2] * in[3];
       }},
      {"parts",
       [](const Tensors& in) {
         const Tensor places = argsort(in[1].detach(), 1);
         const Tensor rows = index_select(in[0], 0, arange(96) % 7);
         return gather(in[0], 1, places) * in[1] * in[2] * in[3] + rows +
                sort(in[0], 1).first.slice(1, {Dim(0), Dim(80), 1}) +
                in[0].slice(1, {Dim(1), Dim(80), 3}).sum();
       }},
      {"many ops",
       [](const Tensors& in) {
         Tensor x = in[0];
         for (int i = 0; i < 40; ++i)
           x = tanh(x * in[1]) + in[2];
         return x * in[3];
       }},
  };
  for (const auto& [name, forward] : functions) {
    const Tensors fused = gradients(forward, leaves(), false);
    const Tensors alone = gradients(forward, leaves(), true);
    for (size_t i = 0; i < fused.size(); ++i) {
      EXPECT_EQ(fused[i].type(), alone[i].type()) << name << i;
      EXPECT_EQ(fused[i].to_vector<float>(), alone[i].to_vector<float>()) << name << i;
    }
  }
}

int64_t calls(const Profiler& profiler, std::string_view part) {
  int64_t found = 0;
  for (const ProfileRow& row : profiler.rows())
    if (row.name.find(part) != std::string::npos) found += row.calls;
  return found;
}

// Into a copy of the zeros that is theirs alone: nobody else's zeros change.
TEST(FusingEmitter, ScattersOverFillsOfTheirOwn) {
  FusingEmitter emitter(Loc::current());
  const Val zero = emitter.scalar(DType::kFloat, 0.0);
  const Val zeros = emitter.call("Expand", {zero, emitter.int64s({64, 80})});
  const Tensor places = argsort(leaves()[0].detach().slice(0, {Dim(0), Dim(64)}), 1);
  const Tensor updates = leaves()[1].detach().slice(0, {Dim(0), Dim(64)});
  std::vector<Val> scattered;
  for (int i = 0; i < 2; ++i) {
    scattered.push_back(emitter.call("ScatterElements",
                                     {zeros, detail::val_of(places), detail::val_of(updates + i)},
                                     {{"axis", int64_t{1}}, {"reduction", std::string("add")}}));
  }
  emitter.finish();
  EXPECT_TRUE(equal(detail::tensor_of(zeros), eager::zeros({64, 80})));
  for (int i = 0; i < 2; ++i) {
    const Tensor expected = scatter(eager::zeros({64, 80}), 1, places, updates + i);
    EXPECT_TRUE(equal(detail::tensor_of(scattered[static_cast<size_t>(i)]), expected)) << i;
  }
}

// Where gradients are recorded, each op runs by itself.
TEST(FusingEmitter, FormulasGiveTheNumbersOfTheirOps) {
  const std::vector<std::pair<std::string, Forward>> functions = {
      {"lerp", [](const Tensors& in) { return lerp(in[0], in[1], 0.3); }},
      {"addcmul", [](const Tensors& in) { return addcmul(in[0], in[1], in[2], 0.7); }},
      {"addcdiv", [](const Tensors& in) { return addcdiv(in[0], in[1], in[3], 0.7); }},
      {"log1p", [](const Tensors& in) { return log1p(in[0]); }},
      {"expm1", [](const Tensors& in) { return expm1(in[0]); }},
      {"atan2", [](const Tensors& in) { return atan2(in[0], in[3]); }},
  };
  const auto bits_of = [](const Tensor& x) {
    std::vector<uint32_t> bits;
    for (const float value : x.to_vector<float>())
      bits.push_back(std::bit_cast<uint32_t>(value == value ? value : 0.0f));
    return bits;
  };
  for (const auto& [name, forward] : functions) {
    const std::vector<uint32_t> alone = bits_of(forward(leaves()));
    const NoGrad no_grad;
    EXPECT_EQ(bits_of(forward(leaves())), alone) << name;
    const Profiler profiler;
    forward(leaves());
    EXPECT_GE(calls(profiler, "FusedElementwise"), 1) << name;
  }
}

TEST(FusingEmitter, RunsOneGroupForAChainAndNothingThatIsNotWanted) {
  const Tensor x = leaves()[0];
  const Tensor y = silu(gelu(x) * 2);
  const Tensor weights = ones_like(y);
  const Profiler profiler;
  y.backward(weights);
  EXPECT_EQ(calls(profiler, "FusedElementwise"), 1) << profiler.table();
  EXPECT_EQ(calls(profiler, "Mul"), 0) << profiler.table();
}

TEST(FusingEmitter, SmallTensorsAndOtherTypesRunAsTheyAre) {
  for (const CreateOptions& options : {CreateOptions{.dtype = DType::kDouble}, CreateOptions{}}) {
    const Dim rows = options.dtype == DType::kDouble ? 200 : 2;
    const Tensor x = full({rows, 50}, 0.5, options).set_requires_grad();
    const Tensor y = silu(gelu(x));
    const Tensor weights = ones_like(y);
    const Profiler profiler;
    y.backward(weights);
    EXPECT_EQ(calls(profiler, "FusedElementwise"), 0);
  }
}

TEST(FusingEmitter, HooksAndOwnFunctionsSeeWholeTensors) {
  const Tensors in = leaves();
  std::vector<float> seen;
  Tensor middle = tanh(in[0]) * 2;
  middle.register_hook([&](const Tensor& gradient) {
    seen = gradient.to_vector<float>();
    return gradient * 10;
  });
  (silu(middle) * in[1]).sum().backward();
  const Tensor again = tanh(in[0]) * 2;
  const Tensor expected = grad({(silu(again) * in[1]).sum()}, {again}, {.create_graph = true})[0];
  EXPECT_EQ(seen, expected.to_vector<float>());

  const CustomFunction twice{
      [](const Tensors& inputs) -> Tensors { return {inputs[0] * 2}; },
      [](const Tensors&, const Tensors&, const Tensors& g) -> Tensors { return {g[0] * g[0]}; }};
  const Tensor x = leaves()[0];
  (tanh(apply(twice, {tanh(x)})[0]) * in[1]).sum().backward();
  const Tensor inner = (tanh(x).detach() * 2).set_requires_grad();
  const Tensor d = grad({(tanh(inner) * in[1]).sum()}, {inner})[0];
  const Tensor y = tanh(x).detach();
  EXPECT_EQ(x.grad().to_vector<float>(), (d * d * (1 - y * y)).to_vector<float>());
}

TEST(FusingEmitter, GradientsOfSeveralUsesAddUp) {
  const Tensor x = leaves()[0];
  Tensor middle = tanh(x);
  middle.retain_grad();
  (exp(middle) + sigmoid(middle) * middle).sum().backward();
  const Tensor m = tanh(x);
  const Tensors expected = grad({(exp(m) + sigmoid(m) * m).sum()}, {x, m}, {.create_graph = true});
  EXPECT_EQ(x.grad().to_vector<float>(), expected[0].to_vector<float>());
  EXPECT_EQ(middle.grad().to_vector<float>(), expected[1].to_vector<float>());
}

}  // namespace
}  // namespace sardonyx::eager
