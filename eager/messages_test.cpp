// What a mistake is answered with: the line of the program, the argument, what came and the remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/fft.h"
#include "eager/functional/functional.h"
#include "eager/functional/linalg.h"
#include "eager/nn.h"
#include "eager/nn/export.h"
#include "eager/trace/compile.h"
#include "eager/trace/control_flow.h"
#include "eager/trace/trace.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

using ::testing::HasSubstr;
using Tensors = std::vector<Tensor>;

std::string answer_to(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

struct Mistake {
  const char* mention;
  std::function<void()> call;
};

// Each names this file, once, and the mention.
void expect_lines(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    const std::string message = answer_to(mistake.call);
    EXPECT_THAT(message, HasSubstr(mistake.mention));
    EXPECT_THAT(message, HasSubstr("messages_test.cpp:"));
    const size_t line = message.find(".cpp:");
    EXPECT_EQ(message.find(".cpp:", line + 1), message.npos) << message;
  }
}

TEST(Messages, UndefinedTensors) {
  const Tensor none, x = ones({2, 3});
  const char* const kWhy = "undefined tensor";
  expect_lines({
      {kWhy, [&] { (void)none.shape(); }},
      {kWhy, [&] { (void)none.size(0); }},
      {kWhy, [&] { (void)none.item<float>(); }},
      {"Add: the first operand is an undefined tensor; so is a gradient before backward()",
       [&] { (void)(none + 1); }},
      {"Mul: the second operand is an undefined tensor", [&] { (void)(x * none); }},
      {"assign: the value is an undefined tensor", [&] { x.assign(none); }},
      {"reshape: the tensor is an undefined tensor", [&] { none.reshape({1}); }},
      {"sum: the tensor", [&] { none.sum(); }},
      {"mean: the tensor", [&] { none.mean(); }},
      {"to: the tensor", [&] { none.to(DType::kFloat); }},
      {"flatten", [&] { none.flatten(2, 5); }},
      {"cat: tensor 1 is an undefined tensor",
       [&] {
         cat({x, none});
       }},
      {"pad: x",
       [&] {
         pad(none, {1, 1});
       }},
      {"linear: the weight", [&] { linear(x, none); }},
      {"mse_loss: the target", [&] { nn::mse_loss(x, none); }},
      {"cross_entropy: the input", [&] { nn::cross_entropy(none, x); }},
      {"Relu", [&] { relu(none); }},
      {"MatMul", [&] { matmul(x, none); }},
      {"", [&] { nn::Conv2d(1, 1, 1)(none); }},
      {"cond: the predicate",
       [&] {
         cond(
             none, [&] { return x; }, [&] { return x; });
       }},
      {"while_loop: initial state 0",
       [&] {
         while_loop([](const Tensors& s) { return s[0]; }, [](const Tensors& s) { return s; },
                    {none});
       }},
  });
}

TEST(Messages, ArgumentsOfFunctions) {
  const Tensor x = ones({2, 3}), whole = tensor<int64_t>({1, 2}), y = ones({2, 5});
  expect_lines({
      {"size: expected an axis within [-2, 2), got 2", [&] { (void)x.size(2); }},
      {"mean: expected floating elements, got int64[2]; convert them first: to(DType::kFloat)",
       [&] { whole.mean(); }},
      {"flatten: expected a first axis that is not behind the last, got 1 and 0",
       [&] { x.flatten(1, 0); }},
      {"pad: expected two numbers for each of at most 2 axes of float[2, 3], the last axis first, "
       "got 3 numbers",
       [&] {
         pad(x, {1, 2, 3});
       }},
      {"got 6 numbers",
       [&] {
         pad(x, {1, 2, 3, 4, 5, 6});
       }},
      {"one_hot: class 2 is none of 2 classes", [&] { one_hot(whole, 2); }},
      {"one_hot: class -1 is none of 2 classes", [&] { one_hot(whole - 2, 2); }},
      {"one_hot: expected integer classes, got float[2, 3]; convert them with to(DType::kInt64)",
       [&] { one_hot(x, 2); }},
      {"cat: tensor 1 is float[2, 5] and tensor 0 is float[2, 3]; all axes but 0 must have one "
       "size",
       [&] {
         cat({x, y});
       }},
      {"cat: tensor 1 is string[1] and those before it are float; such elements do not mix: "
       "convert some with to()",
       [&] {
         cat({ones({2}), Tensor(sardonyx::Tensor::of<std::string>({"a"}, {1}))});
       }},
      {"cat: expected at least one tensor", [] { cat({}); }},
      {"stack: tensor 1 is float[2, 5] and tensor 0 is float[2, 3]; all axes must have one size",
       [&] {
         stack({x, y});
       }},
      {"stack: expected an axis within [-3, 2] for tensors float[2, 3], got 3",
       [&] {
         stack({x, x}, 3);
       }},
      {"chunk: expected a positive count, got 0", [&] { chunk(x, 0); }},
      {"reshape to [-1, -1]: expected at most one size of -1",
       [&] {
         x.reshape({-1, -1});
       }},
      {"bernoulli: expected probabilities within [0, 1]", [&] { bernoulli(x * 2); }},
      {"normal: expected a deviation of at least 0, got -1", [] { normal(0, -1, {2}); }},
      {"uniform: expected low <= high, got 1 and 0", [] { uniform(1, 0, {2}); }},
      {"norm: expected floating elements, got int64[2]", [&] { norm(whole); }},
      {"logsumexp: expected floating elements, got int64[2]", [&] { logsumexp(whole, {0}); }},
      {"pow: integers to the power of -1 are no integers", [&] { whole.pow(-1); }},
      {"index: a mask bool[5] does not fit axis 0 of float[2, 3]: expected size 2, got 5",
       [&] { x.index({ones({5}, {.dtype = DType::kBool})}); }},
      {"index: a mask bool[2, 2] does not fit axis 1 of float[2, 3]: expected size 3, got 2",
       [&] {
         x.index({ones({2, 2}, {.dtype = DType::kBool})});
       }},
      {"index: expected indices of integers or a mask of bools, got float[2, 3]",
       [&] { x.index({x}); }},
      {"index_put: values float[2, 5] do not broadcast to the places [3]",
       [&] { x.index_put({0}, y); }},
      {"index_put: expected values of float, got int64[2]; convert them with to()",
       [&] { x.index_put({0}, whole); }},
      {"Gather", [&] { (void)x[2]; }},
      {"Neg", [&] { (void)-ones({2}, {.dtype = DType::kBool}); }},
      {"Not", [&] { (void)!x; }},
      {"do not mix", [&] { (void)(x + Tensor::of<std::string>({"a"}, {1})); }},
      {"linear: x is double[2, 3] and the weight float[4, 3]; convert x with to()",
       [&] { nn::Linear(3, 4)(x.to(DType::kDouble)); }},
      {"result 0 of the then branch of a control flow function is undefined",
       [&] {
         cond(
             x.sum() > 0, [] { return Tensor(); }, [&] { return x; });
       }},
      {"set_grad: expected a gradient of type float[2, 3], got float[2, 5]",
       [&] { at_line(Loc::current(), [&] { x.set_grad(y); }); }},
  });
}

TEST(Messages, LayersAndLosses) {
  const Tensor x = ones({2, 3}), classes = tensor<int64_t>({0, 1});
  expect_lines({
      {"unsqueeze(0) makes a batch of one", [&] { nn::Conv2d(1, 1, 1)(x); }},
      {"expected x [N, C, 2 spatial axes]", [&] { nn::MaxPool2d(2)(x); }},
      {"LayerNorm: expected x to end in [4]", [&] { nn::LayerNorm(4)(x); }},
      {"LSTM: expected x [time, batch, 2]", [&] { nn::LSTM(2, 2)(x); }},
      {"BatchNorm1d",
       [&] {
         nn::BatchNorm1d(3)(ones({1, 3}));
       }},
      {"Unflatten: expected an axis", [&] { nn::Unflatten(5, {1})(x); }},
      {"MultiheadAttention", [&] { nn::MultiheadAttention(3, 1)(x, x, x); }},
      {"mse_loss: expected input and target of one shape",
       [&] {
         nn::mse_loss(x, ones({2, 4}));
       }},
      {"cross_entropy: expected input and target of one shape, got float[2, 3] and float[2]; "
       "classes "
       "must be integers: target.to(DType::kInt64)",
       [&] { nn::cross_entropy(x, ones({2})); }},
      {"nll_loss: expected a target of int64 or int32 classes, got float[2]; convert it with",
       [&] { nn::nll_loss(x, ones({2})); }},
      {"huber_loss: expected delta > 0", [&] { nn::huber_loss(x, x, {.delta = 0}); }},
      {"(1): linear: x is float[2, 4] and the weight float[6, 5]: expected x to end in 5, got 4",
       [&] { nn::Sequential(nn::Linear(3, 4), nn::Linear(5, 6))(x); }},
  });
}

// Takes a struct of its own, which holds tensors.
struct Scaled : nn::Layer<Scaled> {
  struct State {
    Tensor scale;
    std::vector<Tensor> tensors() const { return {scale}; }
  };
  Tensor forward(const Tensor& x, const State& state) const {
    return mul({x, caller()}, state.scale);
  }
  Tensor forward(const Tensor& x, const Tensor& y, const State& state) const {
    return mul({x, caller()}, mul({y, caller()}, state.scale));
  }
};

// Every op that a function of the library calls bears the line of the program that called it.
TEST(Messages, RecordedOpsBearTheCallersLine) {
  struct Case {
    const char* name;
    Dims shape;
    std::function<Tensor(const Tensor&)> call;
  };
  const Tensor y = full({2, 3}, 0.5), classes = tensor<int64_t>({0, 1});
  const nn::Embedding embedding(5, 4, {.padding_idx = 1});
  const Case cases[] = {
      {"operators", {2, 3}, [&](const Tensor& x) { return -x + 1 - x * y / 2; }},
      {"logic", {2, 3}, [&](const Tensor& x) { return !(x != y) && (x > 0 || x == y); }},
      {"index",
       {2, 3},
       [&](const Tensor& x) {
         return x[0] + x.index({classes, Slice{}})[1];
       }},
      {"index_put", {2, 3}, [&](const Tensor& x) { return x.index_put({0}, x[1], true); }},
      {"remainder", {2, 3}, [&](const Tensor& x) { return remainder(x, y); }},
      {"var",
       {2, 3},
       [](const Tensor& x) { return var(x, {0}) + norm(x) + logsumexp(x, {1}).sum(); }},
      {"flatten", {2, 3}, [](const Tensor& x) { return x.t().flatten().expand({6}); }},
      {"chunk", {2, 4}, [](const Tensor& x) { return chunk(x, 2, 1)[0]; }},
      {"one_hot", {2, 3}, [](const Tensor& x) { return one_hot(x.to(DType::kInt64), 3); }},
      {"pad",
       {2, 3},
       [](const Tensor& x) {
         return pad(x, {1, 1});
       }},
      {"linear", {2, 4, 3}, [&](const Tensor& x) { return linear(x, y, ones({2})); }},
      {"random", {2, 3}, [](const Tensor& x) { return x + rand_like(x) * randn_like(x); }},
      {"Linear", {2, 3}, [](const Tensor& x) { return nn::Linear(3, 4)(x); }},
      {"Bilinear", {2, 3}, [](const Tensor& x) { return nn::Bilinear(3, 3, 4)(x, x); }},
      {"Embedding", {2, 3}, [&](const Tensor& x) { return embedding(x.to(DType::kInt64)); }},
      {"Dropout", {2, 3, 4}, [](const Tensor& x) { return nn::DropoutChannels(0.5)(x); }},
      {"Unflatten",
       {2, 6},
       [](const Tensor& x) {
         return nn::Unflatten(1, {2, 3})(x);
       }},
      {"Upsample",
       {1, 1, 2, 2},
       [](const Tensor& x) {
         return nn::Upsample({.size = {x.size(2) * 2, 5}})(x);
       }},
      {"PixelShuffle", {1, 4, 2, 2}, [](const Tensor& x) { return nn::PixelShuffle(2)(x); }},
      {"PReLU", {2, 3}, [](const Tensor& x) { return nn::PReLU(3)(x); }},
      {"GLU", {2, 4}, [](const Tensor& x) { return nn::GLU()(x); }},
      {"SiLU", {2, 4}, [](const Tensor& x) { return nn::SiLU()(nn::GELU()(nn::Softplus()(x))); }},
      {"Conv2d",
       {1, 1, 5, 5},
       [](const Tensor& x) {
         return nn::Conv2d(1, 2, 3, {.padding = 1, .padding_mode = "reflect"})(x);
       }},
      {"ConvTranspose2d",
       {1, 1, 5, 5},
       [](const Tensor& x) { return nn::ConvTranspose2d(1, 2, 3)(x); }},
      {"pools",
       {1, 1, 6, 6},
       [](const Tensor& x) { return nn::AvgPool2d(1)(nn::MaxPool2d(2)(x)); }},
      {"AdaptiveAvgPool2d",
       {1, 1, 5, 5},
       [](const Tensor& x) { return nn::AdaptiveAvgPool2d(3)(x); }},
      {"AdaptiveMaxPool2d",
       {1, 1, 5, 5},
       [](const Tensor& x) { return nn::AdaptiveMaxPool2d(3)(x); }},
      {"BatchNorm2d", {2, 3, 2, 2}, [](const Tensor& x) { return nn::BatchNorm2d(3)(x); }},
      {"InstanceNorm",
       {2, 3, 2, 2},
       [](const Tensor& x) { return nn::InstanceNorm(3, {.track_running_stats = true})(x); }},
      {"LayerNorm", {2, 3}, [](const Tensor& x) { return nn::LayerNorm(3)(nn::RMSNorm(3)(x)); }},
      {"GroupNorm", {2, 4, 3}, [](const Tensor& x) { return nn::GroupNorm(2, 4)(x); }},
      {"LSTM",
       {2, 1, 3},
       [](const Tensor& x) {
         return nn::LSTM(3, 2, {.layers = 2, .bidirectional = true})(x).output;
       }},
      {"GRU",
       {2, 1, 3},
       [](const Tensor& x) { return nn::GRU(3, 2, {.layers = 2, .dropout = 0.5})(x).output; }},
      {"LSTMCell",
       {2, 3},
       [](const Tensor& x) {
         return nn::LSTMCell(3, 2)(x, nn::LSTMState{ones({2, 2}), ones({2, 2})}).hidden;
       }},
      {"a struct of one's own",
       {2, 3},
       [](const Tensor& x) {
         return Scaled()(x, Scaled::State{x}) + Scaled()(x, x, Scaled::State{x});
       }},
      {"MultiheadAttention",
       {2, 1, 4},
       [](const Tensor& x) {
         return nn::MultiheadAttention(4, 2, {.dropout = 0.1})(x, x, x, {.is_causal = true});
       }},
      {"TransformerEncoder",
       {2, 1, 4},
       [](const Tensor& x) { return nn::TransformerEncoder(1, 4, 2)(x); }},
      {"TransformerDecoder",
       {2, 1, 4},
       [](const Tensor& x) { return nn::TransformerDecoder(1, 4, 2)(x, x); }},
      {"mse_loss", {2, 3}, [&](const Tensor& x) { return nn::mse_loss(x, y); }},
      {"smooth_l1_loss", {2, 3}, [&](const Tensor& x) { return nn::smooth_l1_loss(x, y); }},
      {"cross_entropy",
       {2, 3},
       [&](const Tensor& x) {
         return nn::cross_entropy(x, classes, {.weight = ones({3}), .label_smoothing = 0.1});
       }},
      {"soft cross_entropy",
       {2, 3},
       [&](const Tensor& x) { return nn::cross_entropy(x, y, {.label_smoothing = 0.1}); }},
      {"nll_loss", {2, 3}, [&](const Tensor& x) { return nn::nll_loss(x, classes); }},
      {"bce",
       {2, 3},
       [&](const Tensor& x) {
         return nn::bce_with_logits(x, y, {.pos_weight = ones({3})}) +
                nn::binary_cross_entropy(x, y);
       }},
      {"kl_div", {2, 3}, [&](const Tensor& x) { return nn::kl_div(x, y, {.batch_mean = true}); }},
      {"cosine_similarity", {2, 3}, [&](const Tensor& x) { return nn::cosine_similarity(x, y); }},
      {"ctc_loss",
       {4, 2, 3},
       [&](const Tensor& x) {
         const Tensor lengths = tensor<int64_t>({4, 4}), sizes = tensor<int64_t>({2, 1});
         return nn::ctc_loss(x, ones({2, 2}, {.dtype = DType::kInt64}), lengths, sizes);
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Traced traced = trace([&](const Tensors& in) -> Tensors { return {c.call(in[0])}; },
                                {{.shape = c.shape, .name = "x"}}, TraceContext::Kind::kStates);
    for (const auto& node : traced.graph->nodes()) {
      if (node->op->name == "Identity" && node->source.empty()) continue;  // a copy for the output
      EXPECT_THAT(node->source, ::testing::StartsWith("messages_test.cpp:")) << node->name;
    }
  }
}

struct Forgetful : nn::Layer<Forgetful> {
  nn::Linear hidden{3, 3};
  Tensor forward(const Tensor& x) const { return hidden(x); }
};

TEST(Messages, AMemberThatWasNotAdded) {
  const Forgetful net;
  expect_lines(
      {{"Linear is called within Forgetful and was added to no module, so its parameters "
        "are neither trained nor saved; register it: Linear member = add(\"member\"",
        [&] {
          net(ones({1, 3}));
        }}});
  {
    const NoGrad no_grad;
    net(ones({1, 3}));
  }
  net.hidden.set_requires_grad(false);
  net(ones({1, 3}));
}

TEST(Messages, CompiledFunctions) {
  const Compiled product =
      compile([](const Tensors& in) -> Tensors { return {matmul(in[0], in[1])}; });
  const Compiled rows =
      compile([](const Tensors& in) -> Tensors { return {index_select(in[0], 0, in[1])}; });
  product({ones({2, 3}), ones({3, 2})});
  // The line of the call, then that of the op within the function.
  const Mistake mistakes[] = {
      {"node MatMul_0 of messages_test.cpp:",
       [&] {
         product({ones({2, 3}), ones({5, 2})});
       }},
      {"node Gather_0 of messages_test.cpp:",
       [&] {
         rows({ones({2, 3}), tensor<int64_t>({7})});
       }},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string message = answer_to(mistake.call);
    EXPECT_THAT(message, ::testing::StartsWith("messages_test.cpp:"));
    EXPECT_THAT(message, HasSubstr(mistake.mention));
  }
}

// Of a module that is handed over as it is, the line is the one that handed it over.
TEST(Messages, ModulesAsFunctions) {
  const auto path = std::filesystem::temp_directory_path() / "sardonyx_messages.onnx";
  const nn::Sequential net(nn::Linear(3, 4), nn::Linear(5, 6));
  expect_lines({
      {"expected x to end in 5, got 4",
       [&] {
         export_onnx(net, {ones({2, 3})}, path);
       }},
      {"expected x to end in 5, got 4",
       [&] {
         compile(net)(ones({2, 3}));
       }},
  });
  const nn::Linear layer(3, 4);
  const TensorFunction fn = as_tensor_function(layer);
  const Traced traced = trace(fn, {{.shape = {2, 3}, .name = "x"}}, TraceContext::Kind::kStates);
  for (const auto& node : traced.graph->nodes())
    EXPECT_THAT(node->source, ::testing::StartsWith("messages_test.cpp:")) << node->name;
}

TEST(Messages, GradientsOfOnesOwn) {
  const Tensor x = ones({2}).set_requires_grad();
  const auto with = [&](const Tensor& gradient) {
    const CustomFunction function{
        [](const Tensors& in) -> Tensors { return {in[0] * 2}; },
        [=](const Tensors&, const Tensors&, const Tensors&) -> Tensors { return {gradient}; }};
    return [=] { apply(function, {x})[0].sum().backward(); };
  };
  EXPECT_THAT(answer_to(with(zeros({7}))),
              HasSubstr("backward gave float[7] as the gradient of input 0, which is float[2]"));
  EXPECT_THAT(answer_to(with(zeros({2}, {.dtype = DType::kDouble}))), HasSubstr("gave double[2]"));
  const Tensor y = x * 2;
  y.register_hook([](const Tensor&) { return zeros({3}); });
  EXPECT_THAT(answer_to([&] { y.sum().backward(); }),
              HasSubstr("a hook gave float[3] for the gradient float[2]"));
}

TEST(Messages, NamesOfExports) {
  const auto path = std::filesystem::temp_directory_path() / "sardonyx_messages.onnx";
  const Tensor x = ones({2, 3}), weight = ones({3});
  const TensorFunction fn = [&](const Tensors& in) -> Tensors { return {in[0] * weight}; };
  const auto with = [&](const ExportOptions& options) {
    const std::string answer = answer_to([&] { export_onnx(fn, {x}, path, options); });
    EXPECT_THAT(answer, ::testing::StartsWith("messages_test.cpp:"));
    return answer;
  };
  EXPECT_THAT(with({.input_names = {"x", "z"}}),
              HasSubstr("input_names: expected at most 1 names, got 2: z names nothing"));
  EXPECT_THAT(with({.output_names = {"y", "z"}}),
              HasSubstr("output_names: expected at most 1 names, got 2: z names nothing"));
  EXPECT_THAT(with({.input_names = {"x"}, .output_names = {"x"}}),
              HasSubstr("output_names: x is the name of an input, a parameter or another output"));
  EXPECT_THAT(with({.output_names = {"w"}, .names = {{"w", weight}}}),
              HasSubstr("output_names: w is the name of"));
  EXPECT_THAT(with({.dynamic_axes = {{"q", {{0, "n"}}}}}),
              HasSubstr("dynamic_axes names q, which is none of the inputs and outputs"));
  EXPECT_THAT(with({.output_names = {"y"}, .dynamic_axes = {{"y", {{2, "n"}}}}}),
              HasSubstr("dynamic_axes: output y is float[2, 3]: expected an axis within [-2, 2), "
                        "got 2"));
  EXPECT_THAT(with({.input_names = {"x"},
                    .output_names = {"y"},
                    .dynamic_axes = {{"x", {{0, "n"}}}, {"y", {{1, "n"}}}}}),
              HasSubstr("dynamic_axes: axis 1 of output y is named n, as an axis of an input, and "
                        "its size is 3"));
  EXPECT_THAT(with({.dynamic_axes = {{"input_0", {{2, "n"}}}}}),
              HasSubstr("dynamic axis n: expected an axis within [-2, 2) of float[2, 3], got 2"));
  EXPECT_THAT(with({.opset = 5}), HasSubstr("opset"));
  const auto nothing = [](const Tensors&) { return Tensors(); };
  EXPECT_THAT(answer_to([&] { export_onnx(nothing, {x}, path); }), HasSubstr("gives no results"));
  const auto undefined = [](const Tensors&) { return Tensors(1); };
  EXPECT_THAT(answer_to([&] { export_onnx(undefined, {x}, path); }), HasSubstr("is undefined"));
  EXPECT_THAT(answer_to([&] { compile(undefined)({x}); }), HasSubstr("is undefined"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

// Scripts for torch name the axes of outputs too, where nothing is to be said of them.
TEST(Messages, AxesOfOutputsMayBeNamed) {
  const auto path = std::filesystem::temp_directory_path() / "sardonyx_messages.onnx";
  const TensorFunction fn = [](const Tensors& in) -> Tensors {
    return {in[0] * 2, in[0].sum({1}), cat({in[0], in[0]}, 0)};
  };
  const ExportReport report = export_onnx(fn, {ones({2, 3})}, path,
                                          {.input_names = {"x"},
                                           .output_names = {"y", "sums"},
                                           .dynamic_axes = {{"x", {{0, "n"}}},
                                                            {"y", {{0, "n"}}},
                                                            {"sums", {{-1, "n"}}},
                                                            {"output_2", {{0, "twice"}}}}});
  EXPECT_THAT(report.outputs,
              ::testing::ElementsAre("y: float[n, 3]", "sums: float[n]", ::testing::_));
  std::filesystem::remove(path);
}

TEST(Messages, UndefinedArgumentsOfLayersAndFunctions) {
  const Tensor none, x = ones({2, 3, 4}), square = ones({3, 3});
  const Tensor mask = ones({2, 3, 4}, {.dtype = DType::kBool});
  const nn::MultiheadAttention attention(4, 2);
  expect_lines({
      {"expand to [-1, 2, 3, 4]: -1 keeps the size of an axis, and axis 0 is none of float[2, 3, "
       "4]",
       [&] {
         x.expand({-1, 2, 3, 4});
       }},
      {"LSTM: x is an undefined tensor", [&] { nn::LSTM(4, 2)(none); }},
      {"LSTMCell: x is an undefined tensor", [&] { nn::LSTMCell(4, 2)(none, nn::LSTMState{}); }},
      {"LSTMCell: expected hidden [N, 2], got float[3, 3]",
       [&] {
         nn::LSTMCell(4, 2)(ones({3, 4}), nn::LSTMState{square, square});
       }},
      {"GRUCell: x is an undefined tensor", [&] { nn::GRUCell(4, 2)(none); }},
      {"MultiheadAttention: the query is an undefined tensor", [&] { attention(none, x, x); }},
      {"MultiheadAttention: the key is an undefined tensor", [&] { attention(x, none, x); }},
      {"MultiheadAttention: the value is an undefined tensor", [&] { attention(x, x, none); }},
      {"scaled_dot_product_attention: the key is an undefined tensor",
       [&] { nn::scaled_dot_product_attention(x, none, x); }},
      {"interpolate: x is an undefined tensor",
       [&] { nn::interpolate(none, {.scale_factor = {2}}); }},
      {"pad: x is an undefined tensor",
       [&] {
         pad(none, {1, 1}, "reflect");
       }},
      {"masked_fill: x is an undefined tensor", [&] { masked_fill(none, mask, 0); }},
      {"masked_fill: the mask is an undefined tensor", [&] { masked_fill(x, none, 0); }},
      {"masked_fill: the value is an undefined tensor", [&] { masked_fill(x, mask, none); }},
      {"solve: a is an undefined tensor", [&] { linalg::solve(none, square); }},
      {"solve: b is an undefined tensor", [&] { linalg::solve(square, none); }},
      {"fft: z is an undefined tensor", [&] { fft::fft(none); }},
      {"rfft: x is an undefined tensor", [&] { fft::rfft(none); }},
      {"movedim: x is an undefined tensor", [&] { movedim(none, 0, 1); }},
      {"LayerNorm: x is an undefined tensor", [&] { nn::LayerNorm(4)(none); }},
      {"BatchNorm1d: x is an undefined tensor", [&] { nn::BatchNorm1d(4)(none); }},
      {"max_pool2d: kernel: expected at least 1, got 0",
       [&] {
         nn::max_pool2d(ones({1, 1, 4, 4}), 0);
       }},
      {"conv2d: stride: expected at least 1, got 0",
       [&] {
         nn::conv2d(ones({1, 1, 4, 4}), ones({1, 1, 2, 2}), {}, {.stride = 0});
       }},
      {"result 0 of compiled is undefined",
       [&] { compile([](const Tensor&) { return Tensor(); })(x); }},
  });
}

TEST(Messages, NewTensorsAndGradients) {
  Tensor x = ones({2, 3}), whole = arange(3);
  expect_lines({
      {"set_requires_grad: only floating tensors can require gradients, this is int64[3]; convert",
       [&] { whole.set_requires_grad(); }},
      {"set_requires_grad: only floating tensors",
       [] { zeros({2}, {.dtype = DType::kInt64, .requires_grad = true}); }},
      {"set_grad: expected a gradient of type float[2, 3], got float[3]",
       [&] { x.set_grad(ones({3})); }},
      {"expected sizes of at least 0, got [-1]", [] { zeros({-1}); }},
      {"expected sizes of at least 0, got [2, -1]",
       [] {
         randn({2, -1});
       }},
      {"linspace: expected a count of at least 0, got -1", [] { linspace(0, 1, -1); }},
      {"logspace: expected a count of at least 0, got -1", [] { logspace(0, 1, -1); }},
      {"eye: expected sizes of at least 0, got [-2, -2]", [] { eye(-2); }},
  });
}

TEST(Messages, NothingToDo) {
  EXPECT_THAT(answer_to([] { randperm(-1); }), HasSubstr("expected a count of at least 0"));
}

}  // namespace
}  // namespace sardonyx::eager
