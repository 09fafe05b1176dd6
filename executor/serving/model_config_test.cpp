#include "executor/serving/model_config.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "executor/serving/model_config_proto.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::serving {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ServingError& error) {
    return error.message();
  }
  return "";
}

TEST(ModelConfig, StringsAreUtf8) {
  for (const char* text :
       {"name: \"\\377\"", "parameters { key: \"\\377\" value { string_value: \"a\" } }",
        "ensemble_scheduling { step { model_name: \"\\377\" } }"}) {
    EXPECT_THAT(message_of([&] { config_from_text(text, "m"); }), HasSubstr("not UTF-8")) << text;
  }
}

TEST(ModelConfig, LevelsThatMeanNothingAreSaid) {
  for (const int level : {-2, 99}) {
    const std::string text = "optimization { graph { level: " + std::to_string(level) + " } }";
    EXPECT_THAT(config_from_text(text, "m").without_effect,
                ElementsAre(HasSubstr("optimization.graph.level")));
  }
  EXPECT_TRUE(config_from_text("optimization { graph { level: -1 } }", "m").without_effect.empty());
}

TEST(ModelConfig, ReadsWhatIsServed) {
  const ModelConfig config = config_from_text(R"(
    name: "m" platform: "onnxruntime_onnx" max_batch_size: 8
    input [{ name: "x" data_type: TYPE_FP32 dims: [ 3, -1 ] }]
    output [{ name: "y" data_type: TYPE_STRING dims: [ 4 ] reshape { shape: [ 2, 2 ] } }]
    version_policy { specific { versions: [ 1, 3 ] } }
    instance_group [{ count: 2 kind: KIND_CPU }]
    dynamic_batching {
      preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 100 priority_levels: 3
      default_priority_level: 2
      default_queue_policy { max_queue_size: 5 }
      priority_queue_policy { key: 1 value { timeout_action: DELAY default_timeout_microseconds: 7 } }
    }
    parameters { key: "deterministic" value { string_value: "true" } })",
                                              "m");
  EXPECT_EQ(config.max_batch_size, 8);
  EXPECT_THAT(config.inputs[0].dims, ElementsAre(3, -1));
  EXPECT_EQ(config.outputs[0].dtype, DType::kString);
  EXPECT_THAT(*config.outputs[0].reshape, ElementsAre(2, 2));
  EXPECT_THAT(config.versions.specific, ElementsAre(1, 3));
  const SchedulingPolicy& policy = config.scheduling;
  EXPECT_EQ(policy.instances, 2);
  EXPECT_TRUE(policy.batches);
  EXPECT_TRUE(policy.deterministic);
  EXPECT_THAT(policy.preferred, ElementsAre(4, 8));
  EXPECT_EQ(policy.default_queue.max_size, 5u);
  EXPECT_TRUE(policy.queues.at(1).delays_after_timeout);
  const auto json = nlohmann::json::parse(config_as_json(config));
  EXPECT_EQ(json["input"][0]["dims"], nlohmann::json({3, -1}));
  EXPECT_EQ(json["input"][0]["data_type"], "TYPE_FP32");
  EXPECT_EQ(json["dynamic_batching"]["max_queue_delay_microseconds"], 100);
  EXPECT_EQ(json["dynamic_batching"]["priority_queue_policy"]["1"]["timeout_action"], "DELAY");
  // What is answered can be given back.
  EXPECT_EQ(config_from_json(json.dump(), "m").wire, config.wire);
}

TEST(ModelConfig, SaysWhatIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"name: \"other\"", "the folder is 'm'"},
      {"max_batch_size: \"x\"", "line 1, column 17"},
      {"no_such_field: 1", "no_such_field"},
      {"max_batch_size: -1", "negative"},
      {"platform: \"tensorflow_savedmodel\"", "platform 'tensorflow_savedmodel'"},
      {"backend: \"python\"", "backend 'python'"},
      {"input { name: \"x\" dims: [ 0 ] }", "'x': 0 in dims"},
      {"input { name: \"x\" allow_ragged_batch: true }", "allow_ragged_batch"},
      {"input { name: \"x\" dims: [ 4 ] reshape { shape: [ 3 ] } }", "reshape"},
      {"max_batch_size: 4 dynamic_batching { preferred_batch_size: 5 }", "preferred_batch_size 5"},
      {"dynamic_batching { priority_levels: 2 }", "default_priority_level 0"},
      {"model_transaction_policy { decoupled: true }", "decoupled"},
      {"version_policy { specific { } }", "specific without versions"},
      {"default_model_filename: \"../m.onnx\"", "no name of a file"},
      {"ensemble_scheduling { }", "no step"},
      {"parameters { key: \"deterministic\" value { string_value: \"maybe\" } }", "'maybe'"},
  };
  for (const auto& one : cases) {
    EXPECT_THAT(message_of([&] { config_from_text(one.text, "m"); }), HasSubstr(one.message))
        << one.text;
  }
  EXPECT_THAT(message_of([] { config_from_json("{", "m"); }), HasSubstr("model 'm'"));
}

TEST(ModelConfig, IsDerivedFromAModelWithABatch) {
  const auto batched = [](const char* symbol) {
    return Type::tensor(DType::kFloat, Dims{Dim::symbol(symbol), Dim(3)});
  };
  const std::vector<ValueInfo> inputs = {{"x", batched("batch_size")}};
  const std::vector<ValueInfo> outputs = {{"y", batched("batch_size")}};
  ModelConfig config = config_from_text("", "m");
  complete_config(config, false, inputs, {}, outputs, 16);
  EXPECT_EQ(config.max_batch_size, 16);
  EXPECT_TRUE(config.scheduling.batches);
  EXPECT_THAT(config.inputs[0].dims, ElementsAre(3));

  // A length in time is open as well, and no batch.
  const std::vector<ValueInfo> times = {{"x", batched("time")}}, later = {{"y", batched("time")}};
  ModelConfig whole = config_from_text("", "m");
  complete_config(whole, false, times, {}, later, 16);
  EXPECT_EQ(whole.max_batch_size, 0);
  EXPECT_THAT(whole.inputs[0].dims, ElementsAre(-1, 3));

  // An output that has no item for each of the input's.
  const std::vector<ValueInfo> sum = {{"y", Type::tensor(DType::kFloat, Dims{Dim(1)})}};
  ModelConfig reduced = config_from_text("", "m");
  complete_config(reduced, false, inputs, {}, sum, 16);
  EXPECT_EQ(reduced.max_batch_size, 0);
}

TEST(ModelConfig, IsHeldToTheModel) {
  const std::vector<ValueInfo> inputs = {
      {"x", Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), Dim(3)})}};
  const auto complete = [&](const char* text) {
    ModelConfig config = config_from_text(text, "m");
    complete_config(config, true, inputs, {}, inputs, 16);
  };
  EXPECT_EQ(message_of([&] { complete("max_batch_size: 4 input { name: \"x\" dims: [ 3 ] }"); }),
            "");
  EXPECT_EQ(message_of([&] { complete("input { name: \"x\" dims: [ 7, 3 ] }"); }), "");
  EXPECT_THAT(message_of([&] { complete("input { name: \"x\" dims: [ 2, 4 ] }"); }),
              HasSubstr("'x' is float[n, 3]"));
  EXPECT_THAT(message_of([&] { complete("input { name: \"z\" dims: [ 3 ] }"); }),
              HasSubstr("not 'x'"));
  EXPECT_THAT(
      message_of([&] { complete("input { name: \"x\" data_type: TYPE_FP64 dims: [ -1, 3 ] }"); }),
      HasSubstr("FP64"));
  const std::vector<ValueInfo> complex = {{"x", Type::tensor(DType::kComplex64, Dims{Dim(3)})}};
  ModelConfig config = config_from_text("", "m");
  EXPECT_THAT(message_of([&] { complete_config(config, false, complex, {}, inputs, 0); }),
              HasSubstr("can't express"));
}

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

void expect_same(const EnumDescriptor& ours, const EnumDescriptor& theirs) {
  ASSERT_EQ(ours.value_count(), theirs.value_count()) << ours.full_name();
  for (int i = 0; i < ours.value_count(); ++i) {
    const auto* other = theirs.FindValueByName(ours.value(i)->name());
    ASSERT_TRUE(other) << ours.value(i)->full_name();
    EXPECT_EQ(ours.value(i)->number(), other->number()) << ours.value(i)->full_name();
  }
}

void expect_same(const Descriptor& ours, const Descriptor& theirs) {
  EXPECT_EQ(ours.field_count(), theirs.field_count()) << ours.full_name();
  for (int i = 0; i < ours.field_count(); ++i) {
    const FieldDescriptor& field = *ours.field(i);
    const FieldDescriptor* other = theirs.FindFieldByName(field.name());
    ASSERT_TRUE(other) << field.full_name();
    EXPECT_EQ(field.number(), other->number()) << field.full_name();
    EXPECT_EQ(field.type(), other->type()) << field.full_name();
    EXPECT_EQ(field.label(), other->label()) << field.full_name();
    EXPECT_EQ(field.containing_oneof() ? field.containing_oneof()->name() : "",
              other->containing_oneof() ? other->containing_oneof()->name() : "");
    if (field.message_type()) {
      EXPECT_EQ(field.message_type()->full_name(), other->message_type()->full_name());
    }
    if (field.enum_type()) {
      EXPECT_EQ(field.enum_type()->full_name(), other->enum_type()->full_name());
    }
  }
  ASSERT_EQ(ours.nested_type_count(), theirs.nested_type_count()) << ours.full_name();
  for (int i = 0; i < ours.nested_type_count(); ++i) {
    const Descriptor* other = theirs.FindNestedTypeByName(ours.nested_type(i)->name());
    ASSERT_TRUE(other) << ours.nested_type(i)->full_name();
    expect_same(*ours.nested_type(i), *other);
  }
  ASSERT_EQ(ours.enum_type_count(), theirs.enum_type_count()) << ours.full_name();
  for (int i = 0; i < ours.enum_type_count(); ++i)
    expect_same(*ours.enum_type(i), *theirs.FindEnumTypeByName(ours.enum_type(i)->name()));
}

TEST(ModelConfig, HasTheFieldsOfThePublishedSchema) {
  const char* data = getenv("SARDONYX_TEST_DATA");
  const std::string folder = data ? std::string(data) + "/oip" : "";
  if (folder.empty() || !std::ifstream(folder + "/triton_model_config.proto"))
    GTEST_SKIP() << "no published schema in SARDONYX_TEST_DATA";
  const TemporaryFolder temporary;
  const std::string set = (temporary / "schema").string();
  const std::string command = "protoc --proto_path='" + folder + "' --descriptor_set_out='" + set +
                              "' triton_model_config.proto";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  google::protobuf::FileDescriptorSet files;
  std::ifstream file(set, std::ios::binary);
  ASSERT_TRUE(files.ParseFromIstream(&file));
  google::protobuf::DescriptorPool pool;
  const auto* theirs = pool.BuildFile(files.file(0));
  ASSERT_TRUE(theirs);
  const auto* ours = inference::ModelConfig::descriptor()->file();
  ASSERT_EQ(ours->message_type_count(), theirs->message_type_count());
  for (int i = 0; i < ours->message_type_count(); ++i) {
    const Descriptor* other = theirs->FindMessageTypeByName(ours->message_type(i)->name());
    ASSERT_TRUE(other) << ours->message_type(i)->name();
    expect_same(*ours->message_type(i), *other);
  }
  expect_same(*ours->FindEnumTypeByName("DataType"), *theirs->FindEnumTypeByName("DataType"));
}

// Both would register and destroy the same objects.
TEST(ModelConfig, OneProtobufLibraryIsLoaded) {
  std::ifstream maps("/proc/self/maps");
  const std::string text((std::istreambuf_iterator<char>(maps)), {});
  EXPECT_EQ(text.find("libprotobuf-lite"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx::serving
