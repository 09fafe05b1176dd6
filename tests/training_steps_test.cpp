// Whole training steps as files: what a runtime computes from one, fed with what it gave before, is
// what the program computes. ONNX Runtime runs them too where SARDONYX_ONNXRUNTIME names its
// library: it writes the statistics of a BatchNormalization over the inputs that hold the last
// ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>

#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/optim.h"
#include "executor/session.h"
#include "ir/value_compare.h"
#include "tests/support/temporary_folder.h"
#include "tools/onnx-run/ort/ort_bridge.h"

namespace sardonyx {
namespace {

namespace nn = eager::nn;
namespace optim = eager::optim;
using eager::Tensor;
using Tensors = std::vector<Tensor>;

constexpr int64_t kClasses = 3, kBatch = 6;

// A norm cancels biases before it: their gradients are rounding errors, of which Adam would make
// steps.
constexpr nn::LinearOptions kUnbiased{.bias = false};

struct Net {
  const char* name;
  Shape sample;
  std::function<nn::Sequential()> make;
};

std::vector<Net> nets() {
  const auto images = [](const auto& norm, int64_t channels) {
    return nn::Sequential(nn::Conv2d(2, channels, 3, {.bias = false}), norm, nn::ReLU(),
                          nn::GlobalAvgPool(), nn::Flatten(), nn::Linear(channels, kClasses));
  };
  return {
      {"rows",
       {5},
       [] {
         return nn::Sequential(nn::Linear(5, 8, kUnbiased), nn::BatchNorm1d(8), nn::ReLU(),
                               nn::Linear(8, kClasses));
       }},
      {"two norms of one size",
       {5},
       [] {
         return nn::Sequential(nn::Linear(5, 4, kUnbiased), nn::BatchNorm1d(4), nn::Tanh(),
                               nn::Linear(4, 4, kUnbiased), nn::BatchNorm1d(4),
                               nn::Linear(4, kClasses));
       }},
      {"sequences",
       {4, 5},
       [] { return nn::Sequential(nn::BatchNorm1d(4), nn::Flatten(), nn::Linear(20, kClasses)); }},
      {"images", {2, 6, 6}, [=] { return images(nn::BatchNorm2d(4), 4); }},
      {"one channel", {2, 6, 6}, [=] { return images(nn::BatchNorm2d(1), 1); }},
      {"means of all batches",
       {2, 6, 6},
       [=] { return images(nn::BatchNorm2d(4, {.momentum = std::nullopt}), 4); }},
      {"without scale and shift",
       {2, 6, 6},
       [=] { return images(nn::BatchNorm2d(4, {.affine = false}), 4); }},
      {"without running statistics",
       {2, 6, 6},
       [=] { return images(nn::BatchNorm2d(4, {.track_running_stats = false}), 4); }},
      {"frozen statistics",
       {2, 6, 6},
       [=] {
         const nn::BatchNorm2d norm(4);
         norm.eval();
         return images(norm, 4);
       }},
      {"statistics of samples",
       {2, 6, 6},
       [=] {
         return images(nn::InstanceNorm(4, {.affine = true, .track_running_stats = true}), 4);
       }},
      {"groups", {2, 6, 6}, [=] { return images(nn::GroupNorm(2, 4), 4); }},
  };
}

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(const nn::Module&)>;
std::vector<std::pair<const char*, MakeOptimizer>> optimizers() {
  return {{"SGD",
           [](const nn::Module& net) {
             return std::make_unique<optim::SGD>(net.parameters(),
                                                 optim::SgdOptions{.lr = 0.1, .momentum = 0.9});
           }},
          {"Adam", [](const nn::Module& net) {
             return std::make_unique<optim::Adam>(net.parameters(),
                                                  optim::AdamOptions{.lr = 0.01, .eps = 1e-4});
           }}};
}

// A file in one runtime, with the state of the program as it was when the file was written.
class Learner {
 public:
  using Run = std::function<std::vector<Datum>(const NamedData&)>;
  Learner(const char* runtime, Run run, std::vector<std::string> inputs,
          std::vector<std::string> outputs, NamedData state)
      : runtime_(runtime),
        run_(std::move(run)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        state_(std::move(state)) {}

  // The outputs by name; they are the state from now on where it is to be kept.
  NamedData step(const Tensor& x, const Tensor& y, bool keeps) {
    NamedData fed;
    for (const std::string& name : inputs_)
      fed.emplace(name, name == "x" ? x.datum() : name == "y" ? y.datum() : state_.at(name));
    const std::vector<Datum> results = run_(fed);
    NamedData named;
    for (size_t i = 0; i < results.size(); ++i) {
      named.emplace(outputs_[i], results[i]);
      const std::string& name = outputs_[i];
      if (keeps && name.ends_with(".next")) state_[name.substr(0, name.size() - 5)] = results[i];
    }
    return named;
  }
  const char* runtime() const { return runtime_; }

 private:
  const char* runtime_;
  Run run_;
  std::vector<std::string> inputs_, outputs_;
  NamedData state_;
};

std::vector<Learner> learners(const std::filesystem::path& file, const NamedData& state) {
  std::vector<Learner> all;
  const auto session = std::make_shared<Session>(file);
  const auto names = [](const auto& infos) {
    std::vector<std::string> found;
    for (const ValueInfo& info : infos)
      found.push_back(info.name);
    return found;
  };
  all.emplace_back(
      "sardonyx", [=](const NamedData& fed) { return session->run(fed); }, names(session->inputs()),
      names(session->outputs()), state);
  const char* library = std::getenv("SARDONYX_ONNXRUNTIME");
  if (!library || !*library) return all;
  const auto other =
      std::make_shared<tool::OtherSession>(library, file, tool::OtherOptions{.threads = 1});
  const auto inputs = other->input_names(), outputs = other->output_names();
  all.emplace_back(
      "ONNX Runtime", [=](const NamedData& fed) { return other->run(fed); },
      std::vector(inputs.begin(), inputs.end()), std::vector(outputs.begin(), outputs.end()),
      state);
  return all;
}

class Lesson {
 public:
  Lesson(const Net& net, const MakeOptimizer& optimizer)
      : net_(net.make()), optimizer_(optimizer(net_)), shape_(net.sample) {
    shape_.insert(shape_.begin(), kBatch);
    names_ = net_.named_parameters();
    for (const nn::NamedTensors& more : {net_.named_buffers(), optimizer_->named_states()})
      names_.insert(names_.end(), more.begin(), more.end());
  }

  Tensor step(const Tensor& x, const Tensor& y) const {
    optimizer_->zero_grad();
    const Tensor loss = nn::cross_entropy(net_(x), y);
    loss.backward();
    optimizer_->step();
    return loss;
  }
  Tensor samples() const { return eager::randn(to_dims(shape_)) * 2 + 1; }
  static Tensor classes() { return eager::randint(0, kClasses, {kBatch}); }

  void save(const std::filesystem::path& file) const {
    eager::export_onnx([&](const Tensors& in) -> Tensors { return {step(in[0], in[1])}; },
                       {samples(), classes()}, file,
                       {.input_names = {"x", "y"},
                        .output_names = {"loss"},
                        .dynamic_axes = {{"x", {{0, "batch"}}}, {"y", {{0, "batch"}}}},
                        .names = names_,
                        .training_step = true});
  }
  NamedData state() const {
    NamedData found;
    for (const auto& [name, tensor] : names_)
      found.emplace(name, tensor.datum());
    return found;
  }

  // What a step leaves, by the names of the file.
  NamedData results() const {
    NamedData found;
    for (const auto& [name, tensor] : names_) {
      found.emplace(name + ".next", tensor.datum());
      if (tensor.grad().defined()) found.emplace(name + ".grad", tensor.grad().datum());
    }
    return found;
  }

  // Three steps, with one between them that is given up: its samples are NaN.
  void compare_with(std::vector<Learner> learners) const {
    for (int i = 0; i < 4; ++i) {
      const bool is_given_up = i == 1;
      const Tensor x = is_given_up ? eager::full(to_dims(shape_), NAN) : samples(), y = classes();
      NamedData expected;
      if (!is_given_up) {
        const Tensor loss = step(x, y);
        expected = results();
        expected.emplace("loss", loss.detach().datum());
      }
      for (Learner& learner : learners) {
        SCOPED_TRACE(text(learner.runtime(), ", step ", i));
        const NamedData got = learner.step(x, y, !is_given_up);
        EXPECT_TRUE(got.contains("loss"));
        if (!is_given_up) expect_near(got, expected);
      }
    }
  }

 private:
  static void expect_near(const NamedData& got, const NamedData& expected) {
    EXPECT_GT(got.size(), 3u);
    for (const auto& [name, datum] : got) {
      const Comparison difference =
          compare(datum, expected.at(name), {.rtol = 1e-4, .atol = 1e-5, .relative_to_max = 1e-5});
      EXPECT_TRUE(difference) << name << ": " << difference.reason;
    }
  }

  nn::Sequential net_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  Shape shape_;
  nn::NamedTensors names_;
};

// What checks of arguments ask of open sizes fixes none of them; what the program asks does.
TEST(TrainingSteps, KeepSizesOpenThatOnlyChecksCompare) {
  const TemporaryFolder folder;
  const Tensor w = eager::ones({2}).set_requires_grad();
  const auto save = [&](bool compares) {
    const auto step = [&](const Tensors& in) -> Tensors {
      w.zero_grad();
      const Tensor x = compares && in[0].size(0) == 4 ? in[0] * 2 : in[0];
      const Tensor loss = nn::mse_loss(x * w, in[1]);
      loss.backward();
      w.assign(w.detach() - 0.5 * w.grad());
      w.zero_grad();
      return {loss};
    };
    const Tensor x = eager::ones({4, 2});
    eager::export_onnx(step, {x, x}, folder / "step.onnx",
                       {.input_names = {"x", "y"},
                        .dynamic_axes = {{"x", {{0, "rows"}}}, {"y", {{0, "targets"}}}},
                        .names = {{"w", w}},
                        .training_step = true});
  };
  save(false);
  const Session session(folder / "step.onnx");
  const Tensor x = eager::ones({3, 2});
  const auto out = session.run({{"x", x.datum()}, {"y", (x * 3).datum()}, {"w", w.datum()}});
  EXPECT_EQ(Tensor(out[1]).to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_THROW(save(true), Error);
}

TEST(TrainingSteps, AreThoseOfTheProgramInEveryRuntime) {
  const TemporaryFolder folder;
  for (const Net& net : nets()) {
    for (const auto& [name, optimizer] : optimizers()) {
      SCOPED_TRACE(text(net.name, ", ", name));
      eager::manual_seed(1);
      const Lesson lesson(net, optimizer);
      lesson.save(folder / "step.onnx");
      lesson.compare_with(learners(folder / "step.onnx", lesson.state()));
    }
  }
}

}  // namespace
}  // namespace sardonyx
