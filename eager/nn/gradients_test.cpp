// Gradients of modules and losses against central differences in float64, and training steps that
// are run at once and compiled.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/engine.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/optim/optimizer.h"
#include "eager/trace/compile.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager::nn {
namespace {

constexpr size_t kCheckedElements = 12;  // of each tensor, spread over it

Tensor moved(const Tensor& x, size_t element, double by) {
  std::vector<double> values = x.detach().data().to_doubles();
  values[element] += by;
  return Tensor::of(values, x.data().shape());
}

// d loss() / d each of `tensors`, which loss() reads.
void expect_gradients(const std::function<Tensor()>& loss, const NamedTensors& tensors,
                      double tolerance = 1e-6) {
  for (const auto& [name, tensor] : tensors)
    tensor.zero_grad();
  loss().backward();
  constexpr double kStep = 1e-5;
  for (const auto& [name, tensor] : tensors) {
    ASSERT_TRUE(tensor.grad().defined()) << name;
    const std::vector<double> found = tensor.grad().data().to_doubles();
    const Tensor before = tensor.detach();
    const size_t stride = std::max<size_t>(1, found.size() / kCheckedElements);
    for (size_t i = 0; i < found.size(); i += stride) {
      const NoGrad no_grad;
      tensor.assign(moved(before, i, kStep));
      const double above = loss().item<double>();
      tensor.assign(moved(before, i, -kStep));
      const double below = loss().item<double>();
      tensor.assign(before);
      EXPECT_NEAR(found[i], (above - below) / (2 * kStep), tolerance) << name << " " << i;
    }
  }
}

Tensor noise(const Dims& shape) {
  return randn(shape, {.dtype = DType::kDouble, .requires_grad = true});
}

// A loss in which every element of the output counts differently.
Tensor weighed_sum(const Tensor& output) {
  const Tensor steps = arange(output.numel(), {.dtype = DType::kDouble}).reshape(output.shape());
  return (output * sin(steps + 1.0)).sum();
}

template <typename M>
void expect_module_gradients(const M& module, const Dims& shape) {
  module.to(DType::kDouble);
  const Tensor x = noise(shape);
  NamedTensors tensors = module.named_parameters();
  tensors.emplace_back("x", x);
  SCOPED_TRACE(module.type_name());
  expect_gradients([&] { return weighed_sum(module(x)); }, tensors);
}

TEST(NnGradients, LinearAndActivations) {
  manual_seed(11);
  expect_module_gradients(Linear(3, 4), {5, 3});
  expect_module_gradients(Linear(3, 4), {2, 5, 3});
  expect_module_gradients(Sequential(Linear(3, 4), Tanh(), Linear(4, 2), GELU(), SiLU()), {5, 3});
  expect_module_gradients(Sequential(ELU(), Softplus(), Mish(), LogSoftmax(1)), {4, 3});
  expect_module_gradients(PReLU(3), {2, 3, 4});
  expect_module_gradients(GLU(1), {2, 4});
}

TEST(NnGradients, Convolutions) {
  manual_seed(12);
  expect_module_gradients(Conv1d(2, 4, 3, {.stride = 2, .padding = 1, .groups = 2}), {2, 2, 7});
  expect_module_gradients(Conv2d(2, 3, 3, {.same = true}), {2, 2, 5, 4});
  expect_module_gradients(Conv2d(2, 3, {3, 1}, {.stride = 2, .dilation = {1, 2}}), {1, 2, 6, 5});
  expect_module_gradients(Conv2d(1, 2, 3, {.padding = 1, .padding_mode = "reflect"}), {1, 1, 4, 4});
  expect_module_gradients(Conv3d(1, 2, 2), {1, 1, 3, 3, 3});
  expect_module_gradients(ConvTranspose2d(2, 3, 3, {.stride = 2, .padding = 1}), {1, 2, 3, 3});
}

TEST(NnGradients, Pools) {
  manual_seed(13);
  expect_module_gradients(MaxPool2d(2), {1, 2, 4, 6});
  expect_module_gradients(AvgPool2d(3, {.stride = 2, .padding = 1}), {1, 2, 5, 5});
  expect_module_gradients(AdaptiveAvgPool2d({3, 2}), {1, 2, 7, 5});
  expect_module_gradients(AdaptiveMaxPool1d(3), {1, 2, 7});
  expect_module_gradients(GlobalAvgPool(), {2, 3, 4, 4});
}

TEST(NnGradients, Norms) {
  manual_seed(14);
  expect_module_gradients(BatchNorm1d(3), {6, 3});
  expect_module_gradients(BatchNorm2d(2), {3, 2, 3, 3});
  expect_module_gradients(LayerNorm(4), {3, 4});
  expect_module_gradients(GroupNorm(2, 4), {2, 4, 3});
  expect_module_gradients(InstanceNorm(2, {.affine = true}), {2, 2, 5});
  expect_module_gradients(RMSNorm(4), {3, 4});
  const BatchNorm1d still(3);
  still.eval();
  expect_module_gradients(still, {6, 3});
}

TEST(NnGradients, AttentionAndTransformers) {
  manual_seed(15);
  const MultiheadAttention attention(4, 2, {.batch_first = true});
  attention.to(DType::kDouble);
  const Tensor x = noise({2, 3, 4}), memory = noise({2, 5, 4});
  NamedTensors tensors = attention.named_parameters();
  tensors.emplace_back("x", x);
  expect_gradients([&] { return weighed_sum(attention(x, x, x, {.is_causal = true})); }, tensors);
  tensors.emplace_back("memory", memory);
  expect_gradients([&] { return weighed_sum(attention(x, memory, memory)); }, tensors);
  const TransformerDecoderLayer layer(4, 2,
                                      {.feedforward = 6,
                                       .dropout = 0,
                                       .activation = "gelu",
                                       .batch_first = true,
                                       .norm_first = true});
  layer.to(DType::kDouble);
  expect_gradients([&] { return weighed_sum(layer(x, memory)); }, layer.named_parameters());
}

template <typename M>
void expect_recurrent_gradients(const M& module) {
  module.to(DType::kDouble);
  const Tensor x = noise({3, 2, 2});
  const Tensor lengths = tensor<int32_t>({3, 2});
  SCOPED_TRACE(module.type_name());
  NamedTensors tensors = module.named_parameters();
  tensors.emplace_back("x", x);
  const auto loss = [&](const Tensor& given) {
    const RecurrentResult result = module(x, {.lengths = given});
    return weighed_sum(result.output) + weighed_sum(result.hidden);
  };
  expect_gradients([&] { return loss({}); }, tensors);
  expect_gradients([&] { return loss(lengths); }, tensors);
}

TEST(NnGradients, RecurrentLayers) {
  manual_seed(18);
  expect_recurrent_gradients(LSTM(2, 3, {.bidirectional = true}));
  expect_recurrent_gradients(LSTM(2, 3, {.layers = 2}));
  expect_recurrent_gradients(GRU(2, 3, {.bidirectional = true}));
  expect_recurrent_gradients(RNN(2, 3));
}

// Single precision has kernels of its own: their gradients against those in double precision, and
// compiled.
template <typename M>
void expect_same_in_single_precision(const M& module) {
  SCOPED_TRACE(module.type_name());
  const Tensor x = randn({7, 3, 5});
  const auto gradients_of = [&](const std::vector<Tensor>& in) {
    std::vector<Tensor> leaves{in[0].detach().set_requires_grad()};
    for (const Tensor& parameter : module.parameters())
      leaves.push_back(parameter);
    const Tensor loss = sin(module(leaves[0]).output).sum();
    return grad({loss}, leaves);
  };
  const std::vector<Tensor> single = gradients_of({x});
  const std::vector<Tensor> compiled = compile(gradients_of)({x});
  module.to(DType::kDouble);
  const std::vector<Tensor> exact = gradients_of({x.to(DType::kDouble)});
  module.to(DType::kFloat);
  for (size_t i = 0; i < exact.size(); ++i) {
    const double largest = abs(exact[i]).amax().item<double>();
    for (const Tensor& found : {single[i], compiled[i]}) {
      EXPECT_LT(abs(found.to(DType::kDouble) - exact[i]).amax().item<double>(), 1e-5 * largest)
          << i;
    }
  }
}

TEST(NnGradients, RecurrentLayersInSinglePrecision) {
  manual_seed(19);
  expect_same_in_single_precision(LSTM(5, 16, {.layers = 2, .bidirectional = true}));
  expect_same_in_single_precision(GRU(5, 16, {.bidirectional = true}));
  expect_same_in_single_precision(RNN(5, 16));
}

TEST(NnGradients, EmbeddingLeavesPaddingAlone) {
  const Embedding words(5, 3, {.padding_idx = 4});
  const Tensor indices = tensor<int64_t>({{0, 4}, {4, 2}});
  words(indices).sum().backward();
  EXPECT_EQ(words.weight.grad().to_vector<float>(),
            (std::vector<float>{1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(NnGradients, Losses) {
  manual_seed(16);
  const Tensor scores = noise({4, 5});
  const Tensor classes = tensor<int64_t>({0, 3, 1, 4});
  const Tensor weight = rand({5}, {.dtype = DType::kDouble});
  const Tensor target = rand({4, 5}, {.dtype = DType::kDouble});
  const NamedTensors tensors{{"scores", scores}};
  expect_gradients([&] { return cross_entropy(scores, classes, {.weight = weight}); }, tensors);
  expect_gradients([&] { return cross_entropy(scores, classes, {.ignore_index = 3}); }, tensors);
  expect_gradients([&] { return cross_entropy(scores, classes, {.label_smoothing = 0.2}); },
                   tensors);
  expect_gradients([&] { return cross_entropy(scores, target); }, tensors);
  expect_gradients([&] { return bce_with_logits(scores, target); }, tensors);
  expect_gradients([&] { return kl_div(log_softmax(scores, 1), target); }, tensors);
  expect_gradients([&] { return huber_loss(scores, target, {.delta = 0.7}); }, tensors);
  expect_gradients([&] { return smooth_l1_loss(scores, target); }, tensors);
  expect_gradients([&] { return cosine_similarity(scores, target).sum(); }, tensors);
  const Tensor goal = noise({4, 5});
  const NamedTensors both{{"scores", scores}, {"goal", goal}};
  expect_gradients([&] { return huber_loss(scores, goal, {.delta = 0.7}); }, both);
  expect_gradients([&] { return bce_with_logits(scores, goal); }, both);
}

// Large ones of float32 are computed by groups of ops.
TEST(NnGradients, large_huber_losses_have_clamped_differences_for_slopes) {
  manual_seed(18);
  const Tensor a = randn({100, 64}, {.requires_grad = true}),
               b = randn({100, 64}, {.requires_grad = true}), d = randn({100, 64});
  const Tensor expected = (d * clamp(a - b, -0.7, 0.7)).detach();
  const HuberOptions options{.delta = 0.7, .reduction = Reduction::kNone};
  for (const bool one_by_one : {false, true}) {
    const std::vector<Tensor> found = grad({huber_loss(a, b, options)}, {a, b},
                                           {.grad_outputs = {d}, .create_graph = one_by_one});
    EXPECT_TRUE(equal(found[0].detach(), expected));
    EXPECT_TRUE(equal(found[1].detach(), -expected));
  }
  huber_loss(a.detach(), b, options).backward(d);
  EXPECT_TRUE(equal(b.grad(), -expected));
}

TEST(NnGradients, Ctc) {
  manual_seed(17);
  const Tensor scores = noise({5, 2, 3});
  const Tensor targets = tensor<int64_t>({{1, 2}, {2, 2}});
  const Tensor input_lengths = tensor<int64_t>({5, 4}), target_lengths = tensor<int64_t>({2, 2});
  expect_gradients(
      [&] { return ctc_loss(log_softmax(scores, -1), targets, input_lengths, target_lengths); },
      {{"scores", scores}});
}

// Recorded gradients come from the ops that a trace records, others from the sums over paths.
TEST(NnGradients, CtcAtOnceIsThatOfItsOps) {
  manual_seed(18);
  const Tensor targets = tensor<int64_t>({{1, 2, 2}, {2, 2, 2}, {3, 1, 0}, {0, 1, 3}});
  const Tensor input_lengths = tensor<int64_t>({6, 4, 5, 6});
  const Tensor target_lengths = tensor<int64_t>({3, 3, 1, 0});  // the second one does not fit
  for (const DType dtype : {DType::kFloat, DType::kDouble}) {
    Tensor logs = log_softmax(randn({6, 4, 4}, {.dtype = dtype}) * 3, -1).detach();
    logs.set_requires_grad();
    const Tensor weights = tensor<double>({1, -2, 0.5, 3}).to(dtype);
    const auto gradient = [&](bool recorded) {
      const Tensor losses = ctc_loss(logs, targets, input_lengths, target_lengths,
                                     {.zero_infinity = true, .reduction = Reduction::kNone});
      return grad({losses}, {logs}, {.grad_outputs = {weights}, .create_graph = recorded})[0];
    };
    const std::vector<double> expected = gradient(true).to(DType::kDouble).to_vector<double>();
    const std::vector<double> at_once = gradient(false).to(DType::kDouble).to_vector<double>();
    ASSERT_EQ(at_once.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(at_once[i], expected[i], dtype == DType::kFloat ? 1e-5 : 1e-12) << i;
  }
}

struct Convolutional : Layer<Convolutional> {
  Conv2d conv = add("conv", Conv2d(1, 4, 3, {.padding = 1}));
  BatchNorm2d norm = add("norm", BatchNorm2d(4));
  Linear scores = add("scores", Linear(4 * 4 * 4, 3));
  Tensor forward(const Tensor& x) const {
    return scores(max_pool2d(relu(norm(conv(x))), 2).flatten(1));
  }
};

// One step at once and compiled: the same losses, parameters, running statistics and states.
TEST(Training, CompiledStepsDoTheSame) {
  const Convolutional eager_net, compiled_net;
  compiled_net.load_state_dict(eager_net.state_dict());
  optim::Adam eager_optimizer(eager_net.parameters(), {.lr = 0.01});
  optim::Adam compiled_optimizer(compiled_net.parameters(), {.lr = 0.01});
  const auto step_of = [](const Convolutional& net, optim::Optimizer& optimizer) {
    return [&](const std::vector<Tensor>& batch) {
      optimizer.zero_grad();
      const Tensor loss = cross_entropy(net(batch[0]), batch[1]);
      loss.backward();
      optim::clip_grad_norm(net.parameters(), 5);
      optimizer.step();
      return std::vector{loss};
    };
  };
  const auto eager_step = step_of(eager_net, eager_optimizer);
  const auto compiled_step = compile(step_of(compiled_net, compiled_optimizer));
  manual_seed(5);
  for (int i = 0; i < 5; ++i) {
    const int64_t count = i == 3 ? 5 : 6;
    const Tensor x = randn({count, 1, 8, 8}), t = randint(0, 3, {count});
    if (i == 2) {
      eager_optimizer.set_lr(0.002);
      compiled_optimizer.set_lr(0.002);
    }
    const double a = eager_step({x, t})[0].item<double>();
    const double b = compiled_step({x, t})[0].item<double>();
    EXPECT_NEAR(a, b, 1e-5) << i;
  }
  EXPECT_EQ(compiled_step.traces(), 1u);
  EXPECT_EQ(compiled_net.norm.num_batches_tracked.item<int64_t>(), 5);
  const StateDict a = eager_net.state_dict(), b = compiled_net.state_dict();
  for (const auto& [name, tensor] : a) {
    const Tensor difference = abs(tensor.to(DType::kDouble) - b.at(name).to(DType::kDouble));
    EXPECT_LT(difference.amax().item<double>(), 1e-4) << name;
  }
  EXPECT_EQ(compiled_optimizer.state_dict().at("state.0.step").item<int64_t>(), 5);
}

TEST(Training, LearnsAnEasyTask) {
  set_num_threads(1);  // products this small gain nothing by a second one
  manual_seed(2);
  const Tensor x = randn({256, 2});
  const Tensor target = (x.select(1, 0) * x.select(1, 1) > 0.0).to(DType::kInt64);
  const Sequential net(Linear(2, 16), Tanh(), Linear(16, 2));
  optim::AdamW optimizer(net.parameters(), {.lr = 0.03});
  for (int i = 0; i < 200; ++i) {
    optimizer.zero_grad();
    cross_entropy(net(x), target).backward();
    optimizer.step();
  }
  EXPECT_GT(accuracy(net(x), target), 0.95);
  set_num_threads(0);
}

}  // namespace
}  // namespace sardonyx::eager::nn
