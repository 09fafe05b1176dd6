// Tensors, gradients, traces and control flow: calls that do not fit.
#include "tests/support/expect_error.h"

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/export/onnx_module.h"
#include "eager/functional/functional.h"
#include "eager/nn/attention.h"
#include "eager/nn/container.h"
#include "eager/nn/linear.h"
#include "eager/nn/loss/losses.h"
#include "eager/optim/optimizer.h"
#include "eager/trace/compile.h"
#include "eager/trace/control_flow.h"
#include "eager/trace/graph_session.h"
#include "eager/trace/trace.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;

// Traces what has one result of one argument.
void trace_one(const TensorSpec& spec, const std::function<Tensor(const Tensor&)>& fn,
               TraceContext::Kind kind = TraceContext::Kind::kConstants) {
  trace([&](const Tensors& in) -> Tensors { return {fn(in[0])}; }, {spec}, kind);
}
// A symbolic tensor that outlived its trace.
Tensor left_over(const std::function<Tensor(const Tensor&)>& fn) {
  Tensor kept;
  trace_one({.shape = {2}}, [&](const Tensor& x) {
    kept = fn(x);
    return kept;
  });
  return kept;
}

TEST(TensorRefusals, ValuesAndShapes) {
  const Tensor x = ones({2, 3}), rows = tensor({int64_t{0}, int64_t{1}}), none;
  const char* const kUndefined = "an undefined tensor has no value, type or shape";
  expect_refusals({
      {kUndefined, [&] { (void)none.type(); }},
      {kUndefined, [&] { (void)none.data(); }},
      {"assign: the value is an undefined tensor", [&] { x.assign(none); }},
      {"shape [3] has 3 elements, but 2 were given",
       [] {
         Tensor::of<float>({1, 2}, {3});
       }},
      {"size: expected an axis within [-2, 2), got 2", [&] { (void)x.size(2); }},
      {"size: expected an axis within [-2, 2), got -3", [&] { (void)x.size(-3); }},
      {"item() of a tensor float[2, 3]; it is for one element", [&] { (void)x.item<float>(); }},
      {"error_test.cpp:",
       [] {
         Tensor::of<float>({1, 2}, {3});
       }},
      {"error_test.cpp:", [&] { (void)none.is_leaf(); }},
      {"item() of a tensor float[0]", [] { (void)zeros({0}).item<float>(); }},
      {"the tensor's elements are float, asked for as int64; convert with to()",
       [&] { (void)x.to_vector<int64_t>(); }},
      {"assign: expected a value of type float[2, 3], got int64[2]", [&] { x.assign(rows); }},
      {"flatten: expected an axis within [-2, 2), got 2", [&] { x.flatten(2); }},
      {"permute: expected an axis within [-2, 2), got -3",
       [&] {
         x.permute({0, -3});
       }},
      {"transpose: expected an axis within [-2, 2), got 5", [&] { x.transpose(0, 5); }},
      {"reshape to [0, -1]: what -1 stands for is not determined beside a size of 0",
       [&] {
         x.reshape({0, -1});
       }},
      {"ReduceMax: the tensor (float[0]) has no elements along axis 0 to choose from",
       [] { zeros({0}).max(); }},
      {"ReduceMin: the tensor (float[2, 0]) has no elements along axis 1 to choose from",
       [] {
         amin(zeros({2, 0}), -1);
       }},
      {"slice: the step is 0",
       [&] {
         x.slice(0, {{}, {}, 0});
       }},
      {"index: 3 axes and 0 ellipses for a tensor float[2, 3]",
       [&] {
         x.index({0, 0, 0});
       }},
      {"index: 0 axes and 2 ellipses for a tensor",
       [&] {
         x.index({Ellipsis{}, Ellipsis{}});
       }},
      {"chunk: expected a positive count, got 0", [&] { chunk(x, 0); }},
      {"randint: expected low below high, got 3 and 3", [] { randint(3, 3, {2}); }},
      {"elements of types float and string do not mix; convert one with to()",
       [&] { (void)(x + Tensor::of<std::string>({"a"}, {1})); }},
      {"the shape [n] has sizes that are known in their trace only",
       [] { zeros({Dim::symbol("n")}); }},
  });
  const Dims vast{int64_t{1} << 40, int64_t{1} << 30};
  expect_refusal(ErrorCode::kResourceExhausted, "error_test.cpp:", [&] { zeros(vast); });
  expect_refusal(ErrorCode::kResourceExhausted, "error_test.cpp:", [&] { randn(vast); });
  expect_refusal(ErrorCode::kInvalidArgument, "SequenceLength: input input_sequence (float[2, 3])",
                 [&] { apply(op_named("SequenceLength"), {x}, Loc::current()); });
}

TEST(GradientRefusals, RootsAndWhatTheyDependOn) {
  Tensor x = tensor({1.0, 2.0}).set_requires_grad();
  const Tensor y = x * x, other = tensor({1.0}).set_requires_grad();
  const auto with_gradients = [&](Tensors gradients) {
    const CustomFunction function{
        [](const Tensors& in) -> Tensors { return {in[0] * 2}; },
        [=](const Tensors&, const Tensors&, const Tensors&) { return gradients; }};
    return [=] { apply(function, {x})[0].sum().backward(); };
  };
  expect_refusals({
      {"the result does not depend on any tensor that requires a gradient",
       [] { ones({1}).backward(); }},
      {"the result does not depend on any tensor that requires a gradient",
       [&] { grad({Tensor()}, {x}); }},
      {"the result is double[2], but gradients start from one number; reduce it (sum, mean)",
       [&] { y.backward(); }},
      {"expected a gradient of type double[2], got double[3]",
       [&] {
         y.backward(tensor({1.0, 1.0, 1.0}));
       }},
      {"expected a gradient of type double[2], got float[2]", [&] { y.backward(ones({2})); }},
      {"the results do not depend on xs[1]; pass allow_unused",
       [&] {
         grad({y.sum()}, {x, other}, {.retain_graph = true});
       }},
      {"the function's backward gave 0 gradients for 1 inputs", with_gradients({})},
      {"the function's backward gave 2 gradients for 1 inputs", with_gradients({x, x})},
      {"only leaves can be told to need no gradient; use detach() on a result",
       [&] { Tensor(y).set_requires_grad(false); }},
      {"only floating tensors can require gradients, this is int64[2]",
       [] { arange(2).set_requires_grad(); }},
  });
  expect_refusal(
      ErrorCode::kUnsupported,
      "Binarizer has no gradient, but the result depends on a wanted value through it",
      [&] { apply(op_named("ai.onnx.ml::Binarizer"), {x}, Loc::current()).sum().backward(); });
  y.sum().backward();
  expect_refusals({
      {"recorded was freed by an earlier backward(); call that one with retain_graph = true",
       [&] { y.sum().backward(); }},
      {"was assigned a new value after the call, so its gradient would be wrong",
       [&] {
         const Tensor z = (x * x).sum();
         x.assign(tensor({5.0, 5.0}));
         z.backward();
       }},
      {"Log: made the first NaN, from (double[1])",
       [] {
         const DetectAnomaly guard;
         log(tensor({-1.0}));
       }},
  });
}

TEST(TraceRefusals, WhatBelongsToNoTrace) {
  const Tensor two = ones({2});
  const TensorSpec pair{.shape = {2}}, index{.dtype = DType::kInt64, .shape = {}};
  const Tensor foreign = left_over([](const Tensor& x) { return x * 2; });
  const Datum list(Sequence{Type::tensor(DType::kFloat), {}});
  expect_refusals({
      {"Add: a symbolic tensor is used outside of the trace that made it",
       [&] { (void)(foreign + 1); }},
      {"a symbolic tensor of another trace is used; return it from that trace, or pass it in",
       [&] { trace_one(pair, [&](const Tensor& x) { return x + foreign; }); }},
      {"a body is recorded outside of any trace",
       [&] {
         const auto body = TraceContext::make(TraceContext::Kind::kSubgraph);
         const FrameScope scope(*body);
         body->value_of(two, Loc::current());
       }},
      {"the size k belongs to no tensor of this trace; pass in a tensor that has it",
       [&] { trace_one(pair, [](const Tensor& x) { return x + zeros({Dim::symbol("k")}); }); }},
      {"assign changes a tensor of the program while a graph without states is recorded",
       [&] { trace_one(pair, [&](const Tensor& x) { return two.assign(x); }); }},
      {"assign to a symbolic tensor; only tensors of the program are states",
       [&] {
         trace_one(
             pair, [](const Tensor& x) { return x.assign(x * 2); }, TraceContext::Kind::kStates);
       }},
      {"is asked for while tracing a function; it is known at the run only: branch with cond()",
       [&] { trace_one(pair, [](const Tensor& x) { return x * x[0].item<float>(); }); }},
      {") is not known before the run; reshape it to a shape of known rank",
       [&] {
         trace_one({.dtype = DType::kInt64, .shape = {Dim::symbol("r")}}, [&](const Tensor& shape) {
           return zeros(apply(op_named("Expand"), {two, shape}, Loc::current()).shape());
         });
       }},
      {"dynamic axis n: expected an axis within [-1, 1) of float[2], got 1",
       [&] {
         spec_of(two, {{1, "n"}});
       }},
      {"argument 0 of a compiled function is undefined",
       [] { compile([](const Tensors& in) { return in; })({Tensor()}); }},
      {"of float[t, 1, 3] must be known in a trace, for the recursion over it is unrolled",
       [] {
         const CreateOptions whole{.dtype = DType::kInt64};
         trace_one({.shape = {Dim::symbol("t"), 1, 3}}, [&](const Tensor& x) {
           return nn::ctc_loss(x, ones({1, 2}, whole), ones({1}, whole), ones({1}, whole));
         });
       }},
  });
  expect_refusal(ErrorCode::kUnsupported, "cannot be a constant of a graph; pass it in as an", [&] {
    trace_one(index, [&](const Tensor& x) {
      return apply(op_named("SequenceAt"), {Tensor(list), x}, Loc::current());
    });
  });
}

TEST(TraceRefusals, FunctionsThatDependOnWhatAlwaysChanges) {
  const Tensor value = Tensor::scalar(0.f);
  const Compiled compiled =
      compile([&](const Tensors& in) -> Tensors { return {in[0] * value.item<float>()}; },
              {.max_traces = 3});
  const auto call_with = [&](float changed) {
    value.assign(Tensor::scalar(changed));
    compiled({Tensor::scalar(1.f)});
  };
  for (const float changed : {1.f, 2.f, 3.f, 1.f})
    call_with(changed);
  expect_refusal(
      ErrorCode::kResourceExhausted,
      "a compiled function would be traced more than 3 times (a value that error_test.cpp",
      [&] { call_with(4); });
}

TEST(TraceRefusals, StatesOfCompiledFunctions) {
  const Tensor total = Tensor::scalar(0.f), one = Tensor::scalar(1.f);
  expect_refusal(ErrorCode::kUnsupported, "assign inside the body of cond, while_loop or scan",
                 [&] {
                   compile([&](const Tensors& in) -> Tensors {
                     return {cond(
                         in[0] > 0, [&] { return total.assign(in[0]); }, [&] { return in[0]; })};
                   })({one});
                 });
  expect_refusals({
      {"result 0 of compiled is undefined",
       [&] { compile([](const Tensors&) -> Tensors { return {Tensor()}; })({one}); }},
      {"SGD: a parameter was converted to float16 after the optimiser was made; run one step "
       "before "
       "the trace",
       [] {
         const nn::Linear layer(1, 1);
         optim::SGD optimizer(layer.parameters(), {.momentum = 0.5});
         layer.to(DType::kFloat16);
         compile([&](const Tensors& in) -> Tensors {
           const Tensor loss = layer(in[0]).sum();
           loss.backward();
           optimizer.step();
           return {loss};
         })({ones({1, 1}, {.dtype = DType::kFloat16})});
       }},
  });
}

// What a body gives is checked at once as it is in a trace.
TEST(ControlFlowRefusals, BodiesThatDoNotFit) {
  const Tensor x = ones({3});
  const auto grow = [](const Tensors& in) {
    return while_loop([](const Tensors& state) { return state[0].sum() < 9; },
                      [](const Tensors& state) -> Tensors {
                        return {state[0] * 2, state[0]};
                      },
                      in);
  };
  const auto drop = [](const Tensors& in) {
    return scan(
               [](const Tensors&, const Tensors& slices) {
                 return ScanResult{{}, slices};
               },
               {in[0].sum()}, in)
        .outputs;
  };
  const char* const kLoop = "while_loop: the state has 1 tensors, the body gave 2";
  const char* const kScan = "scan: the state has 1 tensors, the body gave 0";
  int steps = 0;
  expect_refusals({
      {"cond: the branches give (float[size_0]) and (int64[size_0]); they must give the same "
       "number",
       [&] {
         compile([](const Tensors& in) -> Tensors {
           return {cond(
               in[0].sum() > 0, [&] { return in[0]; }, [&] { return in[0].to(DType::kInt64); })};
         })({x});
       }},
      {kLoop, [&] { grow({x}); }},
      {kLoop, [&] { compile(grow)({x}); }},
      {kScan, [&] { drop({x}); }},
      {kScan, [&] { compile(drop)({x}); }},
      {"scan: step 1 gave 1 outputs, the first one 0",
       [&] {
         scan(
             [&](const Tensors& state, const Tensors&) {
               return ScanResult{state, Tensors(steps++ > 0, state[0])};
             },
             {x}, {x});
       }},
      {"scan: expected at least one tensor in xs", [&] { scan({}, {x}, {}); }},
      {"scan: xs have lengths 3 and 2",
       [&] {
         scan({}, {}, {x, ones({2})});
       }},
      {"scan: there is no slice to learn the outputs' shapes from (length 0)",
       [&] {
         const auto body = [](const Tensors&, const Tensors& slices) {
           return ScanResult{{}, {nonzero(slices[0])}};
         };
         scan(body, {}, {zeros({0, 2})});
       }},
  });
}

TEST(GraphSessionRefusals, FeedsAndVariables) {
  GraphBuilder g;
  const Tensor x = g.placeholder(DType::kFloat, {2}, "x"), y = x + 1;
  const Tensor n = g.placeholder(DType::kInt64, {}, "n"), m = n * 2;
  const Tensor v = g.variable(zeros({2}), "v"), sum = y.sum();
  g.end();
  GraphSession session(g);
  const Tensor two = ones({2});
  expect_refusals({
      {"is no tensor of the graph", [&] { session.run({two}); }},
      {"is no variable", [&] { (void)session.value(x); }},
      {"the fraction 1.5 is fed to a placeholder of int64",
       [&] {
         session.run({m}, {{n, 1.5}});
       }},
      {"is computed by the graph; only placeholders and variables can be fed",
       [&] {
         session.run({y}, {{y, two}});
       }},
      {"x is fed twice",
       [&] {
         session.run({y}, {{x, two}, {x, two}});
       }},
      {"the placeholder x (float[2]) is needed and was not fed", [&] { session.run({y}); }},
      {"assign to the variable v: expected a value of type float[2], got float[]",
       [&] { g.assign(v, sum); }},
      {"the variable v: expected a value of type float[2], got float[3]",
       [&] { session.set_value(v, ones({3})); }},
  });
}

TEST(ModuleRefusals, NamesAndHooks) {
  struct Owner : nn::Layer<Owner> {
    Owner() : Layer("Owner") {}
    using nn::Module::add, nn::Module::buffer, nn::Module::parameter;
  };
  Owner owner;
  const nn::Linear layer(2, 3);
  nn::Sequential list;
  list.append(layer);
  owner.parameter("a", ones({1}));
  owner.add("list", list);
  layer.register_forward_hook([](const nn::Module&, const Tensors&, Tensors& out) { out.clear(); });
  const TensorSpec row{.shape = {1, 2}};
  const auto in_trace = [&](std::function<void()> call) {
    return [=] {
      trace_one(row, [&](const Tensor& x) {
        call();
        return x;
      });
    };
  };
  expect_refusals({
      {"Owner: expected a name without dots, got ''", [&] { owner.parameter("", ones({1})); }},
      {"Owner: expected a name without dots, got 'a.b'", [&] { owner.buffer("a.b", ones({1})); }},
      {"Owner: the name 'a' is taken", [&] { owner.parameter("a", ones({1})); }},
      {"Owner: the name 'a' is taken", [&] { owner.buffer("a", ones({1})); }},
      {"Owner: the name 'a' is taken", [&] { owner.add("a", layer); }},
      {"Owner: 'self' would hold the module that it is added to",
       [&] { owner.add("self", owner); }},
      {"a hook of Linear left 0 outputs of 1",
       [&] {
         layer(ones({1, 2}));
       }},
      {"state_dict changes a module while a graph is recorded; call it before the trace",
       in_trace([&] { layer.state_dict(); })},
      {"load_state_dict changes a module while a graph is recorded",
       in_trace([&] { layer.load_state_dict({}); })},
      {"to changes a module while a graph is recorded",
       in_trace([&] { layer.to(DType::kDouble); })},
      {"load_state_dict of Linear: ", [&] { layer.load_state_dict({}); }},
      {"Sequential: no module '1'; it has 0", [&] { (void)list[1]; }},
  });
}

}  // namespace
}  // namespace sardonyx::eager
