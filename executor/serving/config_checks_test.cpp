#include "executor/serving/config_checks.h"

#include <gmock/gmock.h>

#include "executor/serving/repository_for_test.h"

namespace sardonyx::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

ServingError refusal_of(const std::string& text) {
  return error_from([&] { config_from_text(text, "m"); });
}

struct Refused {
  std::string text, message;
};

void expect_refused(const std::vector<Refused>& cases, Status status = Status::kInvalidArgument) {
  for (const auto& [text, message] : cases) {
    const ServingError error = refusal_of(text);
    EXPECT_THAT(error.message(), HasSubstr(message)) << text;
    EXPECT_EQ(error.status(), status) << text;
  }
}

TEST(ConfigChecks, TensorsAndVersions) {
  const std::string image = "input { name: \"x\" data_type: TYPE_FP32 dims: [ 3, 8, 8 ] format: ";
  EXPECT_EQ(refusal_of(image + "FORMAT_NCHW }").message(), "");
  expect_refused({
      {"input { name: \"x\" dims: [ 4 ] format: FORMAT_NCHW }",
       "format FORMAT_NCHW is of 3 dims, got 1"},
      {"input { name: \"x\" dims: [ 1, 8, 8, 3 ] format: FORMAT_NHWC }", "leave format out"},
      {"input { name: \"x\" dims: [ 2, -1, 3 ] reshape { shape: [ 3, -1, 2 ] } }",
       "before, between"},
      {"input { name: \"x\" dims: [ -1, -1 ] reshape { shape: [ -1 ] } }", "reshape"},
      {"version_policy { latest { num_versions: 0 } }", "num_versions 0"},
      {"version_policy { latest { } }", "num_versions 0"},
      {"version_policy { }", "latest, all or specific"},
      {"version_policy { specific { versions: [ 0 ] } }", "specific version 0"},
  });
  EXPECT_THAT(config_from_text("version_policy { specific { versions: [ 3, 1, 3 ] } }", "m")
                  .versions.specific,
              ElementsAre(1, 3));
}

TEST(ConfigChecks, Instances) {
  expect_refused({
      {"instance_group { kind: KIND_CPU gpus: [ 0 ] }", "has gpus, but kind KIND_CPU"},
      {"instance_group { kind: KIND_MODEL gpus: [ 0 ] }", "has gpus, but kind KIND_MODEL"},
      {"instance_group { count: -1 }", "count -1"},
      {"instance_group { count: 1000 } instance_group { count: 25 }", "1025 instances"},
      {"instance_group { passive: true }", "all are passive"},
  });
  expect_refused({{"instance_group { profile: [ \"0\" ] }", "profile"}}, Status::kUnsupported);
  EXPECT_EQ(config_from_text("instance_group { count: 2 } instance_group { } "
                             "instance_group { count: 9 passive: true }",
                             "m")
                .scheduling.instances,
            3);
}

TEST(ConfigChecks, AnOrderThatIsKeptHasNothingThatChangesIt) {
  const std::string kept = "max_batch_size: 4 dynamic_batching { preserve_ordering: true ";
  const std::string late = "{ timeout_action: DELAY default_timeout_microseconds: 5 } ";
  EXPECT_EQ(refusal_of(kept + "priority_levels: 1 default_priority_level: 1 }").message(), "");
  EXPECT_EQ(refusal_of(kept + "default_queue_policy { timeout_action: DELAY } }").message(), "");
  expect_refused({
      {kept + "priority_levels: 2 default_priority_level: 1 }", "priority_levels 2"},
      {kept + "default_queue_policy " + late + "}", "timeout_action DELAY"},
      {kept + "priority_levels: 1 default_priority_level: 1 priority_queue_policy { key: 1 value " +
           late + "} }",
       "timeout_action DELAY"},
  });
}

std::string with_controls(const std::string& controls) {
  return "sequence_batching { " + controls + " }";
}

std::string control(const std::string& input, const std::string& kind, const std::string& values) {
  return "control_input { name: \"" + input + "\" control { kind: CONTROL_SEQUENCE_" + kind + " " +
         values + " } } ";
}

TEST(ConfigChecks, ControlsOfSequences) {
  const std::string values = "int32_false_true: [ 0, 1 ]";
  EXPECT_EQ(refusal_of(with_controls(control("a", "START", values) + control("b", "END", values) +
                                     control("c", "CORRID", "data_type: TYPE_INT64")))
                .message(),
            "");
  expect_refused({
      {with_controls(control("", "START", values)), "without a name"},
      {with_controls(control("a", "START", values) + control("a", "END", values)),
       "'a' is there twice"},
      {with_controls(control("a", "START", values) + control("b", "START", values)),
       "CONTROL_SEQUENCE_START has an input already"},
      {with_controls("control_input { name: \"a\" }"), "has 0 controls"},
      {with_controls(control("a", "READY", "")), "expected one of int32_false_true"},
      {with_controls(control("a", "READY", values + " fp32_false_true: [ 0, 1 ]")), "got 2"},
      {with_controls(control("a", "READY", "bool_false_true: [ true ]")), "[ false, true ]"},
      {with_controls(control("a", "CORRID", values + " data_type: TYPE_INT32")), "no values"},
      {with_controls(control("a", "CORRID", "data_type: TYPE_INT8")), "data_type TYPE_INT8"},
      {with_controls("direct { minimum_slot_utilization: 1.5 }"), "minimum_slot_utilization 1.5"},
      {with_controls("direct { minimum_slot_utilization: nan }"), "minimum_slot_utilization"},
      {with_controls("oldest { max_candidate_sequences: -1 }"), "max_candidate_sequences -1"},
  });
}

TEST(ConfigChecks, StatesOfSequences) {
  const auto state = [](const std::string& initial, const std::string& output = "o") {
    return with_controls("state { input_name: \"i\" output_name: \"" + output +
                         "\" data_type: TYPE_FP32 dims: [ -1, 2 ] " + initial + " }");
  };
  const std::string good =
      "initial_state { name: \"zero\" data_type: TYPE_FP32 dims: [ 4, 2 ] zero_data: true } ";
  EXPECT_EQ(refusal_of(state(good)).message(), "");
  expect_refused({
      {state("", ""), "needs input_name and output_name"},
      {state(good + good), "two initial states"},
      {state("initial_state { data_type: TYPE_FP32 dims: [ 4, 2 ] }"), "neither zero_data"},
      {state("initial_state { data_type: TYPE_FP64 dims: [ 4, 2 ] zero_data: true }"),
       "has data_type TYPE_FP64, but the state TYPE_FP32"},
      {state("initial_state { data_type: TYPE_FP32 dims: [ 4, 3 ] zero_data: true }"), "not those"},
      {state("initial_state { data_type: TYPE_FP32 dims: [ -1, 2 ] zero_data: true }"),
       "not those"},
      {state("initial_state { data_type: TYPE_FP32 dims: [ 4, 2 ] data_file: \"../x\" }"),
       "folder 'initial_state'"},
  });
}

TEST(ConfigChecks, WarmUps) {
  const auto warmup = [](const std::string& input, const std::string& more = "") {
    return "model_warmup { name: \"w\" " + more + " inputs { key: \"x\" value: { " + input +
           " } } }";
  };
  EXPECT_EQ(refusal_of(warmup("data_type: TYPE_FP32 dims: [ 2 ] random_data: true")).message(), "");
  expect_refused({
      {warmup("dims: [ 2 ] zero_data: true"), "'x': it needs data_type"},
      {warmup("data_type: TYPE_FP32 dims: [ 2 ]"), "one of zero_data"},
      {warmup("data_type: TYPE_FP32 dims: [ -1 ] zero_data: true"), "must be sizes"},
      {warmup("data_type: TYPE_FP32 dims: [ 2 ] input_data_file: \"/etc/passwd\""),
       "folder 'warmup'"},
      {warmup("data_type: TYPE_FP32 dims: [ 2 ] zero_data: true", "count: 20000"), "count 20000"},
  });
}

TEST(ConfigChecks, Ensembles) {
  const auto ensemble = [](const std::string& step, const std::string& kind = "ensemble") {
    return "platform: \"" + kind +
           "\" input { name: \"a\" data_type: TYPE_FP32 dims: [ 2 ] } "
           "output { name: \"b\" data_type: TYPE_FP32 dims: [ 2 ] } "
           "ensemble_scheduling { step { " +
           step + " } }";
  };
  const std::string in = "input_map { key: \"x\" value: \"a\" } ";
  const std::string out = "output_map { key: \"y\" value: \"b\" } ";
  const std::string named = "model_name: \"m1\" model_version: -1 ";
  EXPECT_EQ(refusal_of(ensemble(named + in + out)).message(), "");
  EXPECT_EQ(refusal_of(ensemble(named + in + out, "")).message(), "");
  expect_refused({
      {ensemble(named + in + out, "onnxruntime_onnx"), "got platform 'onnxruntime_onnx'"},
      {ensemble(named + in + out) + " backend: \"onnxruntime\"", "backend 'onnxruntime'"},
      {"platform: \"ensemble\"", "needs ensemble_scheduling"},
      {ensemble(in + out), "step 0: it needs model_name"},
      {ensemble("model_name: \"m1\" model_version: -2 " + in + out), "model_version -2"},
      {ensemble(named + out), "needs input_map"},
      {ensemble(named + in), "needs output_map"},
      {ensemble(named + in + out + "output_map { key: \"z\" value: \"nobody\" }"),
       "'nobody', which 'm1' gives"},
  });
}

TEST(ConfigChecks, WhatHasNoEffectIsListed) {
  const auto listed = [](const std::string& text) {
    return config_from_text(text, "m").without_effect;
  };
  EXPECT_THAT(listed("optimization { priority: PRIORITY_MAX eager_batching: true "
                     "gather_kernel_buffer_threshold: 1 input_pinned_memory { enable: true } }"),
              UnorderedElementsAre("optimization.priority", "optimization: pinned memory",
                                   "optimization.gather_kernel_buffer_threshold",
                                   "optimization.eager_batching"));
  EXPECT_THAT(
      listed("metric_tags { key: \"a\" value: \"b\" } instance_group { host_policy: \"p\" }"),
      UnorderedElementsAre("metric_tags", "instance_group.host_policy"));
  EXPECT_THAT(listed("parameters { key: \"execution_mode\" value { string_value: \"1\" } } "
                     "parameters { key: \"deterministic\" value { string_value: \"true\" } }"),
              ElementsAre("parameter 'execution_mode'"));
  EXPECT_THAT(listed("max_batch_size: 2 dynamic_batching { }"), IsEmpty());
}

class ConfigAgainstModel : public RepositoryTest {
 protected:
  // Why the adder of two floats can't be served so; "": it can.
  std::string refused(const std::string& config, uint64_t total_memory = 0) {
    save_adder(folder_ / "a/1/model.onnx", 1);
    write("a/config.pbtxt", config);
    RepositoryOptions given = options();
    given.total_memory = total_memory;
    ModelRepository repository(given);
    const auto errors = repository.start();
    return errors.empty() ? "" : errors.at("a");
  }
  static std::string warmup(const std::string& batch, const std::string& size = "2") {
    return "model_warmup { name: \"w\" " + batch +
           " inputs { key: \"x\" value: { data_type: "
           "TYPE_FP32 dims: [ " +
           size + " ] random_data: true } } }";
  }
};

TEST_F(ConfigAgainstModel, WarmUpsAreNoLargerThanRequests) {
  EXPECT_EQ(refused("max_batch_size: 4 " + warmup("batch_size: 4")), "");
  EXPECT_THAT(refused("max_batch_size: 4 " + warmup("batch_size: 5")),
              HasSubstr("batch_size 5, but max_batch_size is 4"));
  constexpr uint64_t kGigabyte = 1'000'000'000;
  EXPECT_THAT(refused("max_batch_size: 4 " + warmup("", "1099511627776"), kGigabyte),
              HasSubstr("all models may take"));
  EXPECT_THAT(refused("max_batch_size: 4 " + warmup("batch_size: 4", "9223372036854775807")),
              HasSubstr("exceed maximum size"));
}

TEST_F(ConfigAgainstModel, StatesHaveTheModelsTypes) {
  const auto state = [](const std::string& dims) {
    return "max_batch_size: 4 sequence_batching { state { input_name: \"x\" output_name: \"y\" "
           "data_type: TYPE_FP32 dims: [ " +
           dims + " ] } }";
  };
  EXPECT_EQ(refused(state("2")), "");
  EXPECT_THAT(refused(state("3")), HasSubstr("state 'x' is float[batch, 2] in the model"));
  EXPECT_THAT(refused(state("1, 2")), HasSubstr("state 'x'"));
}

TEST_F(ConfigAgainstModel, TheNewestOfSpecificVersionsIsTheStepsOfAnEnsemble) {
  save_adder(folder_ / "a/1/model.onnx", 1);
  save_adder(folder_ / "a/3/model.onnx", 3);
  write("a/config.pbtxt", "version_policy { specific { versions: [ 3, 1 ] } }");
  write("b/config.pbtxt", R"(platform: "ensemble" max_batch_size: 8
      input { name: "x" data_type: TYPE_FP32 dims: [ 2 ] }
      output { name: "z" data_type: TYPE_FP32 dims: [ 2 ] }
      ensemble_scheduling { step { model_name: "a" model_version: -1
        input_map { key: "x" value: "x" } output_map { key: "y" value: "z" } } })");
  ModelRepository repository(options());
  EXPECT_THAT(repository.start(), IsEmpty());
  EXPECT_EQ(answer_of(repository.find("b", "")), answer_of(repository.find("a", "")));
}

// x and y: float[batch, rows, 6, columns]; clients see [rows, columns] with 2 x 3 between them.
TEST_F(ConfigAgainstModel, AReshapeKeepsSeveralOpenDims) {
  Model model;
  GraphEmitter e(*model.graph);
  const Dims dims{Dim::symbol("batch"), Dim::symbol("rows"), Dim(6), Dim::symbol("columns")};
  const Val x = GraphEmitter::wrap(model.graph->add_input("x", Type::tensor(DType::kFloat, dims)));
  Value* y = GraphEmitter::unwrap(e.call("Neg", {x}));
  y->name = "y";
  model.graph->add_output(y);
  fs::create_directories(folder_ / "r/1");
  save_model(model, folder_ / "r/1/model.onnx");
  const std::string shape =
      "data_type: TYPE_FP32 dims: [ -1, 2, 3, -1 ] reshape { shape: [ -1, 6, -1 ] } }";
  write("r/config.pbtxt",
        "max_batch_size: 4 input { name: \"x\" " + shape + " output { name: \"y\" " + shape);
  ModelRepository repository(options());
  EXPECT_THAT(repository.start(), IsEmpty());
  for (const Shape& given : {Shape{2, 5, 2, 3, 7}, Shape{1, 0, 2, 3, 4}}) {
    const InferResult result =
        result_of(repository.find("r", ""), "x", Tensor::zeros(DType::kFloat, given));
    ASSERT_FALSE(result.error) << result.error->message();
    EXPECT_EQ(result.outputs[0].tensor().shape(), given);
  }
}

}  // namespace
}  // namespace sardonyx::serving
