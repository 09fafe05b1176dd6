#include "executor/serving/ensemble.h"

#include "executor/serving/repository_for_test.h"

namespace sardonyx::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
    const InferResult result = result_of(model, "first", Tensor::of<float>({0, 1}, {1, 2}));
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

}  // namespace
}  // namespace sardonyx::serving
