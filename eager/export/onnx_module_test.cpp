#include "eager/export/onnx_module.h"

#include <gtest/gtest.h>

#include <set>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/nn/export.h"
#include "eager/optim.h"
#include "eager/trace/compile.h"
#include "eager/trace/control_flow.h"
#include "eager/trace/trace.h"
#include "executor/session.h"
#include "onnx_io/save.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;

// relu(x w + b) summed by rows, for any number of rows.
Model dense_model() {
  const Tensor w = Tensor::of<float>({1, -1, 2, 0, 1, 1}, {3, 2});
  const Tensor b = Tensor::of<float>({0.5f, -0.5f}, {2});
  const auto fn = [&](const Tensors& in) -> Tensors {
    return {relu(matmul(in[0], w) + b).sum({1})};
  };
  Model model;
  model.graph =
      trace(fn, {{.shape = {Dim::symbol("batch"), 3}, .name = "x"}}, TraceContext::Kind::kConstants,
            "dense", {{w.impl().get(), "dense.weight"}, {b.impl().get(), "dense.bias"}})
          .graph;
  return model;
}

const Tensor kX = Tensor::of<float>({1, 2, 3, -1, 0, 1}, {2, 3});

std::vector<float> run_by_session(const Model& model, const Tensor& x, int level = 0) {
  const Session session(model, {.optimization_level = level});
  return Tensor(session.run(std::vector<Datum>{x.datum()})[0]).to_vector<float>();
}

TEST(OnnxModule, IsCalledLikeAFunction) {
  const OnnxModule module(dense_model());
  ASSERT_EQ(module.inputs().size(), 1u);
  EXPECT_EQ(module.inputs()[0].name, "x");
  EXPECT_EQ(module.inputs()[0].type.text(), "float[batch, 3]");
  EXPECT_EQ(module({kX})[0].to_vector<float>(), run_by_session(module.model(), kX));
  EXPECT_EQ(module.parameter("dense.weight").shape(), (Dims{3, 2}));
  EXPECT_EQ(module.named_parameters().size(), 2u);
  const char* const kExpected = "input x: expected float[batch, 3], got ";
  expect_refusals({
      {"expected 1 inputs, got 2",
       [&] {
         module({kX, kX});
       }},
      {kExpected,
       [&] {
         module({zeros({2, 4})});
       }},
      {kExpected, [&] { module({zeros({3})}); }},
      {kExpected, [&] { module({kX.to(DType::kDouble)}); }},
      {"input x: expected float[batch, 3], got an undefined tensor", [&] { module({Tensor()}); }},
      {"the model has no parameter none", [&] { module.parameter("none"); }},
  });
}

TEST(OnnxModule, IsTrainedFurtherAndSavedAgain) {
  const OnnxModule module(dense_model());
  module.set_requires_grad();
  const Tensor weight = module.parameter("dense.weight"), target = Tensor::of<float>({4, 1}, {2});
  float first = 0, last = 0;
  for (int step = 0; step < 50; ++step) {
    const Tensor loss = square(module({kX})[0] - target).mean();
    (step == 0 ? first : last) = loss.item<float>();
    loss.backward();
    for (const auto& [name, parameter] : module.named_parameters()) {
      parameter.assign(parameter.detach() - parameter.grad() * 0.01f);
      parameter.zero_grad();
    }
  }
  EXPECT_LT(last, first / 100);
  const std::string bytes = model_bytes(module.model());
  const OnnxModule again(load_model(std::as_bytes(std::span(bytes))));
  EXPECT_EQ(again.parameter("dense.weight").to_vector<float>(), weight.to_vector<float>());
  EXPECT_EQ(again({kX})[0].to_vector<float>(), module({kX})[0].to_vector<float>());
}

TEST(OnnxModule, IsTracedAgainWithItsNames) {
  const OnnxModule module(dense_model());
  const Traced traced =
      trace([&](const Tensors& in) -> Tensors { return {module({in[0] * 2})[0] + 1}; },
            {{.shape = {Dim::symbol("n"), 3}, .name = "input"}});
  std::set<std::string> names;
  for (const auto& node : traced.graph->nodes())
    names.insert(node->name);
  const Model original = module.model();
  for (const auto& node : original.graph->nodes())
    EXPECT_TRUE(names.contains(node->name)) << node->name;
  EXPECT_NE(traced.graph->find_value("dense.weight"), nullptr);
  EXPECT_EQ(traced.graph->outputs()[0]->type.text(), "float[n]");
  Model model;
  model.graph = traced.graph;
  EXPECT_EQ(run_by_session(model, kX), (module({kX * 2})[0] + 1).to_vector<float>());
}

TEST(OnnxModule, IsCompiledWithItsParametersAsStates) {
  const OnnxModule module(dense_model());
  const Compiled compiled = compile([&](const Tensors& in) { return module(in); });
  EXPECT_EQ(compiled({kX})[0].to_vector<float>(), module({kX})[0].to_vector<float>());
  module.parameter("dense.bias").assign(Tensor::of<float>({10, 10}, {2}));
  EXPECT_EQ(compiled({kX})[0].to_vector<float>(), module({kX})[0].to_vector<float>());
  EXPECT_EQ(compiled.traces(), 1u);
}

// Two layers: h = relu(x a), y = h b.
Model two_layer_model() {
  manual_seed(7);
  const Tensor a = randn({3, 4}), b = randn({4, 2});
  const auto fn = [&](const Tensors& in) -> Tensors { return {matmul(relu(matmul(in[0], a)), b)}; };
  Model model;
  model.graph =
      trace(fn, {{.shape = {Dim::symbol("batch"), 3}, .name = "x"}}, TraceContext::Kind::kConstants,
            "two", {{a.impl().get(), "body.0.weight"}, {b.impl().get(), "head.weight"}})
          .graph;
  Value* hidden = model.graph->nodes().front()->outputs[0]->uses[0].node->outputs[0];
  model.graph->rename(*hidden, "hidden");
  return model;
}

struct Tuned : nn::Layer<Tuned> {
  OnnxModule body;
  nn::Linear head = add("head", nn::Linear(4, 3));
  explicit Tuned(const OnnxModule& whole) : body(add("body", whole.cut({"hidden"}))) {}
  Tensor forward(const Tensor& x) const { return head(body(x)); }
};

TEST(OnnxModule, IsAPartOfAnotherModuleWithANewHead) {
  const OnnxModule whole(two_layer_model());
  Tuned net(whole);
  EXPECT_EQ(net.body.outputs()[0].name, "hidden");
  nn::StateDict state = net.state_dict();
  ASSERT_EQ(state.size(), 3u);
  EXPECT_TRUE(state.contains("body.body.0.weight"));
  EXPECT_TRUE(net.get_parameter("head.weight").is_same(net.head.weight));
  EXPECT_TRUE(net.body.get_parameter("body.0.weight").is_same(whole.parameter("body.0.weight")));
  // Frozen until it is told otherwise; then all of it learns.
  optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  const Tensor y = tensor({int64_t{0}, int64_t{2}});
  const auto step = [&] {
    const Tensor loss = nn::cross_entropy(net(kX), y);
    loss.backward();
    optimizer.step();
    optimizer.zero_grad();
    return loss.item<double>();
  };
  const std::vector<float> before = whole.parameter("body.0.weight").to_vector<float>();
  const double first = step();
  EXPECT_EQ(whole.parameter("body.0.weight").to_vector<float>(), before);
  net.body.set_requires_grad();
  for (int i = 0; i < 20; ++i)
    step();
  EXPECT_LT(step(), first / 2);
  EXPECT_NE(whole.parameter("body.0.weight").to_vector<float>(), before);
  Tuned resumed{OnnxModule(two_layer_model())};
  resumed.load_state_dict(net.state_dict());
  EXPECT_EQ(resumed(kX).to_vector<float>(), net(kX).to_vector<float>());
  const TemporaryFolder folder;
  export_onnx(net, {kX}, folder / "tuned.onnx", {.dynamic_axes = {{"input_0", {{0, "n"}}}}});
  const OnnxModule again(folder / "tuned.onnx");
  EXPECT_EQ(again(kX).to_vector<float>(), net(kX).to_vector<float>());
  EXPECT_EQ(again.named_parameters().size(), 3u);
}

TEST(OnnxModule, IsCutInTwo) {
  const OnnxModule whole(two_layer_model());
  const OnnxModule front = whole.cut({"hidden"});
  const std::string last = whole.outputs()[0].name;
  const OnnxModule back = whole.cut({last}, {"hidden"});
  EXPECT_EQ(back(front(kX)).to_vector<float>(), whole(kX).to_vector<float>());
  EXPECT_EQ(front.parameters().size(), 1u);
  const OnnxModule both = whole.cut({last, "hidden"});
  EXPECT_EQ(both({kX})[1].to_vector<float>(), front(kX).to_vector<float>());
  // In a row with other layers, with a hook.
  const nn::Sequential net(front, nn::ReLU(), back);
  size_t calls = 0;
  back.register_forward_hook([&](const nn::Module& module, const Tensors& in, Tensors&) {
    EXPECT_EQ(module.type_name(), "OnnxModule");
    calls += in.size();
  });
  EXPECT_EQ(net(kX).to_vector<float>(), whole(kX).to_vector<float>());
  EXPECT_EQ(calls, 1u);
  expect_refusals({
      {"cut: expected names of outputs, got none", [&] { whole.cut({}); }},
      {"nothing", [&] { whole.cut({"nothing"}); }},
      {"the model gives 2 outputs: ", [&] { both(kX); }},
  });
}

TEST(OnnxModule, ComputesWithReplacedParameters) {
  OnnxModule module(two_layer_model());
  module.replace_parameter("head.weight", zeros({4, 5}));
  EXPECT_EQ(module(kX).shape(), (Dims{2, 5}));
  expect_refusals(
      {{"model: the parameter head.weight is float[4, 5] now, in the file it is "
        "float[4, 2]",
        [&] { module.model(); }}});
  module.replace_parameter("head.weight", zeros({4, 2}));
  EXPECT_EQ(run_by_session(module.model(), kX), (std::vector<float>{0, 0, 0, 0}));
  module.replace_parameter("head.weight", Tensor());
  expect_refusals({{"the model has 2 parameters, of which 1 are left", [&] { module(kX); }}});
}

TEST(OnnxModule, IsSteppedThrough) {
  const OnnxModule module(dense_model());
  std::vector<std::string> ops;
  Tensor last;
  const Tensors results = module.step_through({kX}, [&](const OnnxModule::Step& step) {
    ops.push_back(step.op);
    EXPECT_FALSE(step.name.empty());
    EXPECT_EQ(step.outputs.size(), step.output_names.size());
    last = step.outputs[0];
  });
  EXPECT_EQ(ops.size(), module.model().graph->nodes().size());
  EXPECT_EQ(ops[0], "MatMul");
  EXPECT_EQ(last.to_vector<float>(), results[0].to_vector<float>());
}

// A branch with a captured weight, and a loop of five rounds around it.
Model branching_model() {
  const Tensor scale = full({2}, 3);
  const auto fn = [&](const Tensors& in) -> Tensors {
    const Tensor x = in[0];
    const Tensor chosen = cond(
        x.mean() > 0.5, [&] { return x * scale; }, [&] { return x - scale; });
    return while_loop([](const Tensors& state) { return state[1] < 5; },
                      [&](const Tensors& state) -> Tensors {
                        return {state[0] * 0.5f + x, state[1] + 1};
                      },
                      {chosen, full({}, 0, {.dtype = DType::kInt64})});
  };
  Model model;
  model.graph = trace(fn, {{.shape = {Dim::symbol("n"), 2}, .name = "x"}}).graph;
  return model;
}

TEST(OnnxModule, SubgraphsRunAtOnceAndInTraces) {
  const OnnxModule module(branching_model());
  const Compiled compiled = compile([&](const Tensors& in) { return module(in); });
  for (const float value : {2.f, -1.f}) {
    const Tensor x = full({3, 2}, value);
    const std::vector<float> expected = run_by_session(module.model(), x);
    EXPECT_EQ(module({x})[0].to_vector<float>(), expected);
    EXPECT_EQ(compiled({x})[0].to_vector<float>(), expected);
  }
}

}  // namespace
}  // namespace sardonyx::eager
