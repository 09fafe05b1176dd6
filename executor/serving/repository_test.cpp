#include "executor/serving/repository.h"

#include <thread>

#include "executor/serving/repository_for_test.h"
#include "executor/serving/repository_layout.h"
#include "tests/support/test_data.h"

namespace sardonyx::serving {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

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

TEST_F(RepositoryTest, AModelThatTwoFoldersHaveIsNotServedAndOthersAre) {
  save_adder(folder_ / "one/a/1/model.onnx", 1);
  save_adder(folder_ / "one/b/1/model.onnx", 2);
  save_adder(folder_ / "two/a/1/model.onnx", 3);
  RepositoryOptions given = options();
  given.roots = {{folder_ / "one", ""}, {folder_ / "two", ""}};
  {
    ModelRepository repository(given);
    EXPECT_THAT(repository.start(), ElementsAre(Pair("a", HasSubstr("two or more repositories"))));
    EXPECT_EQ(answer_of(repository.find("b", "")), 3);
    const auto states = repository.index(false);
    ASSERT_EQ(states.size(), 2u);
    EXPECT_EQ(states[1].name, "a");
    EXPECT_EQ(states[1].state, ModelState::State::kUnavailable);
    EXPECT_THAT(states[1].reason, HasSubstr("model appears in two or more repositories"));
  }
  given.control = ControlMode::kExplicit;
  given.startup_models = {"b"};
  ModelRepository repository(given);
  EXPECT_THAT(repository.start(), ElementsAre());
  EXPECT_THAT(error_from([&] { repository.load("a"); }).message(), HasSubstr("two or more"));
  fs::remove_all(folder_ / "two/a");
  repository.load("a");
  EXPECT_EQ(answer_of(repository.find("a", "")), 2);
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
  EXPECT_NO_THROW(repository.unload("absent"));
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

TEST_F(RepositoryTest, PollingTellsOfAVersionWithoutAModel) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  ModelRepository repository(options(ControlMode::kPoll));
  repository.start();
  fs::create_directories(folder_ / "b/1/model.onnx");  // a folder
  repository.poll();
  repository.poll();
  EXPECT_THAT(error_from([&] { repository.find("b", ""); }).message(),
              HasSubstr("model.onnx' is not there"));
}

TEST_F(RepositoryTest, NamesCanBeToldToClients) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  save_adder(folder_ / "b\xff/1/model.onnx", 1);
  save_adder(folder_ / "c\nd/1/model.onnx", 1);
  RepositoryOptions given = options(ControlMode::kExplicit);
  given.startup_models = {"*"};
  std::vector<std::string> lines;
  given.log = [&](LogLevel level, const std::string& line) {
    if (level == LogLevel::kError) lines.push_back(line);
  };
  ModelRepository repository(given);
  EXPECT_TRUE(repository.start().empty());
  ASSERT_EQ(repository.index(/*ready_only=*/false).size(), 1u);
  EXPECT_THAT(lines, ElementsAre(HasSubstr("UTF-8"), HasSubstr("c\\nd")));
  for (const char* name : {"b\xff", "c\nd", ""}) {
    EXPECT_EQ(error_from([&] { repository.load(name); }).status(), Status::kInvalidArgument);
  }
  EXPECT_EQ(repository.index(/*ready_only=*/false).size(), 1u);
  given.roots = {{folder_ / "b\xff", ""}};
  ModelRepository none(given);
  EXPECT_THAT(error_from([&] { none.start(); }).message(), HasSubstr("UTF-8"));
}

TEST_F(RepositoryTest, AConfigurationNamesInputsOnce) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  const char* const input = "{ name: \"x\" data_type: TYPE_FP32 dims: [ 2 ] }";
  write("a/config.pbtxt", std::string("max_batch_size: 2 input [") + input + "," + input + "]");
  ModelRepository repository(options());
  EXPECT_THAT(repository.start(), ElementsAre(Pair("a", HasSubstr("input 'x' twice"))));
}

TEST_F(RepositoryTest, WhatAFailedStartLeavesOutIsNamed) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  write("b/1/model.onnx", "broken");
  write("c/config.pbtxt", "platform: \"pytorch_libtorch\"");
  save_adder(folder_ / "d/1/other.onnx", 1);
  write("d/config.pbtxt", "default_model_filename: \"named.onnx\"");
  save_adder(folder_ / "e/model.onnx", 1);
  write("e/config.pbtxt", "default_model_filename: \"named.onnx\"");
  const auto once = [](const std::string& name) {
    const std::string where = "model '" + name + "', version 1: ";
    return AllOf(StartsWith(where), HasSubstr("named.onnx"), HasSubstr("default_model_filename"),
                 Not(HasSubstr(where + where)));
  };
  ModelRepository repository(options());
  EXPECT_THAT(repository.start(), ElementsAre(Pair("b", HasSubstr("model 'b', version 1")),
                                              Pair("c", HasSubstr("pytorch_libtorch")),
                                              Pair("d", once("d")), Pair("e", once("e"))));
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
