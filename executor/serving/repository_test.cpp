#include "executor/serving/repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <numeric>
#include <thread>

#include "executor/serving/repository_layout.h"
#include "ir/graph.h"
#include "onnx_io/save.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_data.h"

namespace sardonyx::serving {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Pair;

// y = x + constant, of x: float[batch, 2]
void save_adder(const fs::path& path, float constant) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("batch"), 2})));
  Value* w = model.graph->add_constant("w", Tensor::of<float>({constant, constant}, {2}));
  Value* y = GraphEmitter::unwrap(e.call("Add", {x, GraphEmitter::wrap(w)}));
  y->name = "y";
  model.graph->add_output(y);
  fs::create_directories(path.parent_path());
  save_model(model, path);
}

float answer_of(const ModelRepository::ModelPointer& model) {
  InferRequest request;
  std::vector<NamedTensor> inputs;
  inputs.push_back({"x", Tensor::of<float>({1, 1}, {1, 2})});
  model->fill(request, std::move(inputs), {});
  std::promise<InferResult> promise;
  auto future = promise.get_future();
  model->submit(std::move(request),
                [&](InferResult&& result) { promise.set_value(std::move(result)); });
  const InferResult result = future.get();
  if (result.error) throw *result.error;
  return result.outputs[0].tensor().values<float>()[0];
}

template <typename Action>
ServingError error_from(const Action& action) {
  try {
    action();
  } catch (const ServingError& error) {
    return error;
  }
  return {Status::kOk, ""};
}

class RepositoryTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  RepositoryOptions options(ControlMode control = ControlMode::kNone) {
    RepositoryOptions options;
    options.roots = {{folder_.path(), ""}};
    options.control = control;
    return options;
  }
  TemporaryFolder folder_;
};

TEST_F(RepositoryTest, FindsModelsInEveryLayout) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  save_adder(folder_ / "a/3/model.onnx", 3);
  save_adder(folder_ / "b/model.onnx", 1);
  save_adder(folder_ / "c/odd-name.onnx", 1);
  save_adder(folder_ / "d.onnx", 1);
  write("e/readme.txt", "no model");
  const auto models = find_models(folder_.path());
  EXPECT_THAT(models, ElementsAre(Key("a"), Key("b"), Key("c"), Key("d")));
  EXPECT_THAT(models.at("a").versions, ElementsAre(Key(1), Key(3)));
  // As KServe mounts a model: its folder is the root.
  EXPECT_THAT(find_models(folder_ / "a", "served"), ElementsAre(Key("served")));
  EXPECT_THAT(find_models(folder_ / "b"), ElementsAre(Key("b")));
  EXPECT_THAT(find_models(folder_ / "c"), ElementsAre(Key("odd-name")));
  EXPECT_THAT(find_models(folder_ / "c", "served"), ElementsAre(Key("served")));
  EXPECT_THAT(find_models(folder_ / "d.onnx"), ElementsAre(Key("d")));
  EXPECT_FALSE(find_model(folder_ / "a", "../b"));
}

TEST_F(RepositoryTest, ServesTheVersionsThatThePolicyNames) {
  for (int version = 1; version <= 3; ++version)
    save_adder(folder_ / ("a/" + std::to_string(version) + "/model.onnx"),
               static_cast<float>(version));
  write("a/config.pbtxt", "version_policy { latest { num_versions: 2 } }");
  ModelRepository repository(options());
  EXPECT_TRUE(repository.start().empty());
  EXPECT_TRUE(repository.is_ready());
  EXPECT_EQ(answer_of(repository.find("a", "")), 4);
  EXPECT_EQ(answer_of(repository.find("a", "2")), 3);
  EXPECT_EQ(error_from([&] { repository.find("a", "1"); }).status(), Status::kNotFound);
  EXPECT_EQ(error_from([&] { repository.find("a", "x"); }).status(), Status::kInvalidArgument);
  EXPECT_EQ(error_from([&] { repository.find("b", ""); }).status(), Status::kNotFound);
  EXPECT_EQ(repository.index(false).size(), 2u);
}

TEST_F(RepositoryTest, ALoadThatFailsLeavesTheOldModelServing) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  ModelRepository repository(options(ControlMode::kExplicit));
  EXPECT_TRUE(repository.start().empty());
  EXPECT_EQ(error_from([&] { repository.find("a", ""); }).status(), Status::kNotFound);
  repository.load("a");
  EXPECT_EQ(answer_of(repository.find("a", "")), 2);
  write("a/2/model.onnx", "no model at all");
  EXPECT_THAT(error_from([&] { repository.load("a"); }).message(), HasSubstr("version 2"));
  EXPECT_EQ(answer_of(repository.find("a", "")), 2);
  fs::remove_all(folder_ / "a/2");
  save_adder(folder_ / "a/2/model.onnx", 5);
  repository.load("a");
  EXPECT_EQ(answer_of(repository.find("a", "")), 6);
  repository.unload("a");
  const ServingError gone = error_from([&] { repository.find("a", ""); });
  EXPECT_EQ(gone.status(), Status::kUnavailable);
  EXPECT_THAT(gone.message(), HasSubstr("unloaded"));
  EXPECT_THAT(error_from([&] { repository.find("a", "2"); }).message(),
              HasSubstr("version 2 is not at ready state"));
  EXPECT_TRUE(repository.index(true).empty());
  const auto states = repository.index(false);
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[1].version, 2);
  EXPECT_EQ(states[1].state, ModelState::State::kUnavailable);
  EXPECT_EQ(states[1].reason, "unloaded");
  EXPECT_EQ(error_from([&] { repository.load("absent"); }).status(), Status::kNotFound);
}

TEST_F(RepositoryTest, RequestsGoOnWhileModelsAreLoadedAnew) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  ModelRepository repository(options(ControlMode::kExplicit));
  repository.load("a");
  std::atomic<bool> ends = false;
  std::atomic<int> answers = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&] {
      while (!ends) {
        EXPECT_EQ(answer_of(repository.find("a", "")), 2);
        ++answers;
      }
    });
  }
  for (int i = 0; i < 20 || answers <= 20; ++i)
    repository.load("a");
  ends = true;
  clients.clear();
  EXPECT_GT(answers, 20);
}

TEST_F(RepositoryTest, PollingTakesWhatIsCompleteAndDropsWhatIsGone) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  ModelRepository repository(options(ControlMode::kPoll));
  repository.start();
  save_adder(folder_ / "b/1/model.onnx", 2);
  repository.poll();  // sees it for the first time: it may still be copied
  EXPECT_EQ(error_from([&] { repository.find("b", ""); }).status(), Status::kUnavailable);
  repository.poll();
  EXPECT_EQ(answer_of(repository.find("b", "")), 3);
  fs::remove_all(folder_ / "a");
  repository.poll();
  EXPECT_THAT(error_from([&] { repository.find("a", ""); }).message(), HasSubstr("gone"));
}

TEST_F(RepositoryTest, WhatAFailedStartLeavesOutIsNamed) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  write("b/1/model.onnx", "broken");
  write("c/config.pbtxt", "platform: \"pytorch_libtorch\"");
  ModelRepository repository(options());
  EXPECT_THAT(repository.start(), ElementsAre(Pair("b", HasSubstr("model 'b', version 1")),
                                              Pair("c", HasSubstr("pytorch_libtorch"))));
  EXPECT_FALSE(repository.is_ready());
  EXPECT_EQ(answer_of(repository.find("a", "")), 2);
}

TEST_F(RepositoryTest, AModelComesWithTheRequest) {
  save_adder(folder_ / "elsewhere/model.onnx", 7);
  std::ifstream file(folder_ / "elsewhere/model.onnx", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  ModelRepository repository(options(ControlMode::kExplicit));
  ModelRepository::LoadOverride replaced;
  replaced.files["1/model.onnx"] = bytes;
  EXPECT_THAT(error_from([&] { repository.load("new", replaced); }).message(),
              HasSubstr("need parameter 'config'"));
  replaced.config_json = R"({"max_batch_size": 8})";
  repository.load("new", replaced);
  EXPECT_EQ(answer_of(repository.find("new", "")), 8);
  EXPECT_EQ(repository.find("new", "")->config().max_batch_size, 8);
}

TEST_F(RepositoryTest, RequestsAreHeldToTheModel) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  write("a/config.pbtxt", "max_batch_size: 2 dynamic_batching { }");
  ModelRepository repository(options());
  repository.start();
  const auto model = repository.find("a", "");
  const auto message = [&](std::vector<NamedTensor> tensors) {
    InferRequest request;
    return error_from([&] { model->fill(request, std::move(tensors), {}); }).message();
  };
  EXPECT_THAT(message({}), HasSubstr("missing required input(s) ['x']"));
  EXPECT_THAT(message({{"z", Tensor::zeros(DType::kFloat, {1, 2})}}),
              HasSubstr("unexpected inference input 'z'"));
  EXPECT_THAT(message({{"x", Tensor::zeros(DType::kDouble, {1, 2})}}),
              HasSubstr("data-type is 'FP64', but model 'a' expects 'FP32'"));
  EXPECT_THAT(message({{"x", Tensor::zeros(DType::kFloat, {1, 3})}}),
              HasSubstr("Expected [-1,2], got [1,3]"));
  EXPECT_THAT(message({{"x", Tensor::zeros(DType::kFloat, {3, 2})}}),
              HasSubstr("batch-size must be <= 2"));
  EXPECT_THAT(error_from([&] { model->output_index("z"); }).message(), HasSubstr("there are 'y'"));
}

TEST_F(RepositoryTest, ARunThatDoesNotFitIsRefusedAndSmallerOnesAreServed) {
  // The largest value of softmax(x * x'), a matrix of rows x rows.
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(model.graph->add_input(
      "x", Type::tensor(DType::kFloat, Dims{Dim::symbol("rows"), Dim(1024)})));
  const Val scores = e.call("MatMul", {x, e.call("Transpose", {x})});
  Value* y = GraphEmitter::unwrap(e.call("ReduceMax", {e.call("Softmax", {scores})}));
  y->name = "y";
  model.graph->add_output(y);
  fs::create_directories(folder_ / "scores/1");
  save_model(model, folder_ / "scores/1/model.onnx");
  RepositoryOptions limited = options();
  limited.total_memory = 32 << 20;
  ModelRepository repository(limited);
  EXPECT_THAT(repository.start(), ElementsAre());
  const auto served = repository.find("scores", "");
  const auto ask = [&](int64_t rows) {
    InferRequest request;
    std::vector<NamedTensor> inputs;
    inputs.push_back({"x", Tensor::zeros(DType::kFloat, {rows, 1024})});
    served->fill(request, std::move(inputs), {});
    std::promise<InferResult> promise;
    auto future = promise.get_future();
    served->submit(std::move(request),
                   [&](InferResult&& result) { promise.set_value(std::move(result)); });
    const InferResult result = future.get();
    return result.error ? result.error->status() : Status::kOk;
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask(1024), Status::kOk);                 // 4 MiB of scores
    EXPECT_EQ(ask(4096), Status::kResourceExhausted);  // 64 MiB
    EXPECT_EQ(ask(1024), Status::kOk);
  }
}

class PaddingTest : public RepositoryTest {
 protected:
  void SetUp() override { save(false); }

  // sums[b, 1] = sum of ids * mask, same[b, n, 2] = ids beside themselves, where ids and mask are
  // [b, n]; and twice[b, 2*n], ids and ids again.
  void save(bool has_twice) {
    Model model;
    GraphEmitter e(*model.graph);
    const auto input = [&](const char* name) {
      return GraphEmitter::wrap(model.graph->add_input(
          name, Type::tensor(DType::kFloat, Dims{Dim::symbol("batch"), Dim::symbol("n")})));
    };
    const Val ids = input("ids"), mask = input("mask");
    const Val columns = e.call("Unsqueeze", {ids, e.constant(Tensor::of<int64_t>({2}, {1}))});
    std::vector<std::pair<const char*, Val>> outputs = {
        {"sums", e.call("ReduceSum",
                        {e.call("Mul", {ids, mask}), e.constant(Tensor::of<int64_t>({1}, {1}))})},
        {"same", e.call("Concat", {columns, columns}, {{"axis", int64_t{2}}})}};
    if (has_twice)
      outputs.emplace_back("twice", e.call("Concat", {ids, ids}, {{"axis", int64_t{1}}}));
    for (const auto& [name, val] : outputs) {
      Value* value = GraphEmitter::unwrap(val);
      value->name = name;
      model.graph->add_output(value);
    }
    fs::create_directories(folder_ / "m/1");
    save_model(model, folder_ / "m/1/model.onnx");
  }
  void configure(const std::string& pad) {
    write(
        "m/config.pbtxt",
        "max_batch_size: 16 dynamic_batching { max_queue_delay_microseconds: 1000000 } parameters "
        "{ key: \"pad\" value { string_value: \"" +
            pad + "\" } } parameters { key: \"wait_for_delay\" value { string_value: \"true\" } }");
  }
  std::string message_of_load() {
    ModelRepository repository(options());
    const auto errors = repository.start();
    return errors.empty() ? "" : errors.begin()->second;
  }
};

TEST_F(PaddingTest, LengthsOfAJointRunMayDiffer) {
  configure("ids=7, mask=0");
  ModelRepository repository(options());
  ASSERT_THAT(repository.start(), ElementsAre());
  const auto model = repository.find("m", "");
  std::vector<std::future<InferResult>> answers;
  const std::vector<std::vector<float>> requests = {{1, 2, 3}, {4, 5, 6, 7}, {8, 9, 1}};
  for (const auto& values : requests) {
    const auto n = static_cast<int64_t>(values.size());
    InferRequest request;
    std::vector<NamedTensor> inputs;
    inputs.push_back({"ids", Tensor::of<float>(values, {1, n})});
    inputs.push_back({"mask", Tensor::of<float>(std::vector<float>(values.size(), 1), {1, n})});
    model->fill(request, std::move(inputs), {});
    const auto promise = std::make_shared<std::promise<InferResult>>();
    answers.push_back(promise->get_future());
    model->submit(std::move(request),
                  [promise](InferResult&& result) { promise->set_value(std::move(result)); });
  }
  for (size_t r = 0; r < requests.size(); ++r) {
    const InferResult result = answers[r].get();
    ASSERT_FALSE(result.error) << result.error->message();
    const auto n = static_cast<int64_t>(requests[r].size());
    std::vector<float> same;
    for (const float value : requests[r])
      same.insert(same.end(), {value, value});
    const auto values = [&](size_t output) {
      const auto all = result.outputs[output].tensor().values<float>();
      return std::vector<float>(all.begin(), all.end());
    };
    EXPECT_EQ(values(0)[0], std::accumulate(requests[r].begin(), requests[r].end(), 0.0f));
    EXPECT_EQ(result.outputs[1].tensor().shape(), (Shape{1, n, 2}));
    EXPECT_EQ(values(1), same);
  }
  EXPECT_EQ(model->statistics().snapshot().execution_count, 1u);
}

TEST_F(PaddingTest, WhatCanNotBePaddedIsSaid) {
  const std::pair<const char*, const char*> cases[] = {
      {"ids=0", "length n is that of an input, too"},
      {"ids=0, mask=0, other=1", "no input 'other'"},
      {"ids", "expected INPUT=NUMBER"},
      {"ids=x, mask=0", "expected INPUT=NUMBER"},
  };
  for (const auto& [setting, message] : cases) {
    configure(setting);
    EXPECT_THAT(message_of_load(), HasSubstr(message));
  }
  save(/*has_twice=*/true);
  configure("ids=0, mask=0");
  EXPECT_THAT(message_of_load(), HasSubstr("dim 1 of output 'twice'"));
}

class EnsembleTest : public RepositoryTest {
 protected:
  void SetUp() override {
    save_adder(folder_ / "one/1/model.onnx", 1);
    save_adder(folder_ / "ten/1/model.onnx", 10);
    save_adder(folder_ / "ten/2/model.onnx", 20);
  }
  // first + 1 + 20 and first + 1, of steps in no order.
  static std::string config(const std::string& version = "-1", const std::string& between = "b") {
    return R"(platform: "ensemble" max_batch_size: 8
      input { name: "first" data_type: TYPE_FP32 dims: [ 2 ] }
      output { name: "last" data_type: TYPE_FP32 dims: [ 2 ] }
      output { name: "b" data_type: TYPE_FP32 dims: [ 2 ] }
      ensemble_scheduling {
        step { model_name: "ten" model_version: )" +
           version + R"( input_map { key: "x" value: ")" + between +
           R"(" } output_map { key: "y" value: "last" } }
        step { model_name: "one" model_version: -1
               input_map { key: "x" value: "first" } output_map { key: "y" value: "b" } } })";
  }
  static std::vector<float> answers_of(const ModelRepository::ModelPointer& model) {
    InferRequest request;
    std::vector<NamedTensor> inputs;
    inputs.push_back({"first", Tensor::of<float>({0, 1}, {1, 2})});
    model->fill(request, std::move(inputs), {});
    std::promise<InferResult> promise;
    auto future = promise.get_future();
    model->submit(std::move(request),
                  [&](InferResult&& result) { promise.set_value(std::move(result)); });
    const InferResult result = future.get();
    if (result.error) return {};
    std::vector<float> all;
    for (const Datum& output : result.outputs) {
      const auto values = output.tensor().values<float>();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
};

TEST_F(EnsembleTest, IsOneGraphOfItsSteps) {
  write("both/config.pbtxt", config());
  ModelRepository repository(options());
  EXPECT_THAT(repository.start(), ElementsAre());
  const auto model = repository.find("both", "");
  EXPECT_THAT(answers_of(model), ElementsAre(21, 22, 1, 2));
  EXPECT_TRUE(model->config().is_ensemble());
  EXPECT_TRUE(model->config().scheduling.batches);
  write("both/config.pbtxt", config("1"));
  ModelRepository other(options());
  EXPECT_THAT(other.start(), ElementsAre());
  EXPECT_THAT(answers_of(other.find("both", "")), ElementsAre(11, 12, 1, 2));
}

TEST_F(EnsembleTest, ComesAndGoesWithItsParts) {
  write("both/config.pbtxt", config());
  ModelRepository repository(options(ControlMode::kExplicit));
  repository.start();
  repository.load("both");
  EXPECT_EQ(repository.index(true).size(), 3u);
  repository.unload("both");
  EXPECT_EQ(repository.index(true).size(), 2u);
  repository.load("both");
  repository.unload("both", /*and_dependents=*/true);
  EXPECT_EQ(repository.index(true).size(), 0u);
}

TEST_F(EnsembleTest, IsMadeAnewWhenAPartChanges) {
  write("both/config.pbtxt", config());
  ModelRepository repository(options(ControlMode::kPoll));
  repository.start();
  repository.poll();
  save_adder(folder_ / "ten/3/model.onnx", 30);
  repository.poll();
  repository.poll();
  EXPECT_THAT(answers_of(repository.find("both", "")), ElementsAre(31, 32, 1, 2));
}

TEST_F(EnsembleTest, WhatDoesNotFitIsSaid) {
  const auto message = [&](const std::string& text) {
    write("both/config.pbtxt", text);
    ModelRepository repository(options(ControlMode::kExplicit));
    repository.start();
    return error_from([&] { repository.load("both"); }).message();
  };
  EXPECT_THAT(message(config("7")), HasSubstr("'ten' has no version 7"));
  EXPECT_THAT(message(config("-1", "nowhere")), HasSubstr("needs tensor 'nowhere'"));
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string text = config();
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_THAT(message(replaced("\"one\"", "\"absent\"")), HasSubstr("no model 'absent'"));
  EXPECT_THAT(message(replaced("key: \"x\"", "key: \"z\"")), HasSubstr("no input 'z'"));
  EXPECT_THAT(message(replaced("key: \"y\"", "key: \"z\"")), HasSubstr("no output 'z'"));
  EXPECT_THAT(message(replaced("\"first\" data_type: TYPE_FP32", "\"first\" data_type: TYPE_FP64")),
              HasSubstr("FP64"));
  EXPECT_THAT(message(replaced("name: \"last\"", "name: \"end\"")), HasSubstr("output 'end'"));
}

// y = x + before, where the sum is the next request's `before`.
class SequenceTest : public RepositoryTest {
 protected:
  void SetUp() override {
    Model model;
    GraphEmitter e(*model.graph);
    const auto input = [&](const char* name) {
      return GraphEmitter::wrap(
          model.graph->add_input(name, Type::tensor(DType::kFloat, Dims{Dim::symbol("batch"), 1})));
    };
    const Val x = input("x"), before = input("before");
    Value* y = GraphEmitter::unwrap(e.call("Add", {x, before}));
    y->name = "y";
    model.graph->add_output(y);
    fs::create_directories(folder_ / "sum/1");
    save_model(model, folder_ / "sum/1/model.onnx");
  }

  void serve(const std::string& more) {
    write("sum/config.pbtxt", "max_batch_size: 4 sequence_batching { " + more + R"(
      state { input_name: "before" output_name: "y" data_type: TYPE_FP32 dims: [ 1 ] } })");
    repository_ = std::make_unique<ModelRepository>(options());
    EXPECT_TRUE(repository_->start().empty());
    served_ = repository_->find("sum", "");
  }
  std::future<InferResult> begin(uint64_t id, float value, bool start, bool end) {
    InferRequest request;
    request.sequence = {"", id, start, end};
    std::vector<NamedTensor> inputs;
    inputs.push_back({"x", Tensor::of<float>({value}, {1, 1})});
    served_->fill(request, std::move(inputs), {});
    const auto promise = std::make_shared<std::promise<InferResult>>();
    served_->submit(std::move(request),
                    [promise](InferResult&& result) { promise->set_value(std::move(result)); });
    return promise->get_future();
  }
  static float sum_of(std::future<InferResult> future) {
    const InferResult result = future.get();
    return result.error ? -1 : result.outputs[0].tensor().values<float>()[0];
  }
  float ask(uint64_t id, float value, bool start, bool end) {
    return sum_of(begin(id, value, start, end));
  }

  std::unique_ptr<ModelRepository> repository_;
  ModelRepository::ModelPointer served_;
};

TEST_F(SequenceTest, StatesGoFromOneRequestToTheNext) {
  serve("");
  EXPECT_THAT(begin(1, 5, false, false).get().error->message(), HasSubstr("START flag"));
  EXPECT_THAT(begin(0, 5, true, false).get().error->message(), HasSubstr("correlation ID"));
  EXPECT_EQ(ask(1, 5, true, false), 5);
  EXPECT_EQ(ask(2, 7, true, false), 7);
  EXPECT_EQ(ask(1, 1, false, false), 6);
  EXPECT_EQ(ask(2, 1, false, true), 8);
  EXPECT_EQ(ask(1, 1, false, false), 7);
  EXPECT_EQ(ask(2, 1, false, false), -1);  // has ended
}

TEST_F(SequenceTest, WhatFollowsAnEndNeedsAStartHoweverQuicklyItComes) {
  serve("");
  std::vector<std::future<InferResult>> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(begin(1, 1, true, false));
    all.push_back(begin(1, 2, false, true));
    all.push_back(begin(1, 3, false, false));
  }
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(sum_of(std::move(all[i])), i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : -1) << i;
}

TEST_F(SequenceTest, SequencesBeyondTheirNumberWaitForOneToEnd) {
  serve("oldest { max_candidate_sequences: 2 }");
  EXPECT_EQ(ask(1, 1, true, false), 1);
  EXPECT_EQ(ask(2, 2, true, false), 2);
  auto third = begin(3, 3, true, false);
  auto third_again = begin(3, 1, false, true);
  auto fourth = begin(4, 4, true, true);
  EXPECT_EQ(third.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  EXPECT_EQ(ask(1, 1, false, false), 2);  // those that have a place go on
  EXPECT_EQ(ask(1, 1, false, true), 3);
  EXPECT_EQ(sum_of(std::move(third)), 3);
  EXPECT_EQ(sum_of(std::move(third_again)), 4);
  EXPECT_EQ(sum_of(std::move(fourth)), 4);
}

TEST_F(SequenceTest, AnIdleSequenceLosesItsPlace) {
  serve("max_sequence_idle_microseconds: 100000 oldest { max_candidate_sequences: 1 }");
  EXPECT_EQ(ask(1, 1, true, false), 1);
  EXPECT_EQ(ask(2, 2, true, false), 2);  // waits for the first one's time to pass
  EXPECT_EQ(ask(1, 1, false, false), -1);
}

TEST_F(SequenceTest, WhatWaitsForAPlaceIsRefusedWhenTheModelGoes) {
  serve("oldest { max_candidate_sequences: 1 } max_sequence_idle_microseconds: 60000000");
  EXPECT_EQ(ask(1, 1, true, false), 1);
  auto waiting = begin(2, 2, true, false);
  served_.reset();
  repository_.reset();
  EXPECT_EQ(waiting.get().error->status(), Status::kUnavailable);
}

TEST_F(RepositoryTest, ThePublishedExampleRepositoryLoads) {
  const fs::path examples = test_data("oip/triton_examples");
  if (examples.empty()) GTEST_SKIP() << "no oip/triton_examples in SARDONYX_TEST_DATA";
  RepositoryOptions options;
  options.roots = {{examples, ""}};
  ModelRepository repository(options);
  EXPECT_THAT(repository.start(), ElementsAre());
  EXPECT_EQ(repository.index(true).size(), 5u);
}

}  // namespace
}  // namespace sardonyx::serving
