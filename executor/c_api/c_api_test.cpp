// The C interface refuses arguments that would lead outside of what there is.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "executor/session.h"
#include "onnx_io/save.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

// y = -x, z = a sequence of x, t = the text s; x: float[n]
std::string model_of_all_kinds() {
  Model model;
  GraphEmitter e(*model.graph);
  const auto input = [&](const char* name, DType dtype) {
    const Type type = Type::tensor(dtype, Dims{Dim::symbol("n")});
    return GraphEmitter::wrap(model.graph->add_input(name, type));
  };
  const Val x = input("x", DType::kFloat), s = input("s", DType::kString);
  const Val results[] = {e.call("Neg", {x}), e.call("SequenceConstruct", {x}),
                         e.call("Identity", {s})};
  for (const Val& result : results)
    model.graph->add_output(GraphEmitter::unwrap(result));
  return model_bytes(model);
}

class CInterface : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string bytes = model_of_all_kinds();
    ASSERT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), nullptr, &session_), SX_OK);
    ASSERT_EQ(sx_binding_create(session_, &binding_), SX_OK);
  }
  void TearDown() override {
    sx_binding_destroy(binding_);
    sx_session_destroy(session_);
  }

  static void expect(sx_status got, const char* mention, sx_status wanted = SX_INVALID_ARGUMENT) {
    EXPECT_EQ(got, wanted) << mention;
    EXPECT_NE(std::string(sx_last_error()).find(mention), std::string::npos)
        << "expected \"" << mention << "\" in \"" << sx_last_error() << '"';
  }
  void run() {
    const int64_t one = 1;
    const char* strings[] = {"text"};
    ASSERT_EQ(sx_binding_set_input(binding_, 0, SX_FLOAT, &one, 1, &element_, sizeof element_),
              SX_OK);
    ASSERT_EQ(sx_binding_set_string_input(binding_, 1, &one, 1, strings, nullptr), SX_OK);
    ASSERT_EQ(sx_binding_run(binding_, nullptr), SX_OK) << sx_last_error();
  }

  sx_session* session_ = nullptr;
  sx_binding* binding_ = nullptr;
  float element_ = 2;
};

TEST_F(CInterface, SessionOptions) {
  sx_session* made = nullptr;
  sx_session_options options;
  const auto create = [&] { return sx_session_create_from_bytes("x", 1, &options, &made); };
  ASSERT_EQ(sx_session_options_init(&options, sizeof options), SX_OK);
  options.threads = -1;
  expect(create(), "threads: expected 0 to 1024, got -1");
  options.threads = 100000;
  expect(create(), "threads: expected 0 to 1024, got 100000");
  options.threads = 0;
  options.optimization_level = 99;
  expect(create(), "optimization_level: expected -1 to 2, got 99");
  options.optimization_level = 0;
  options.load_deadline_ms = -5;
  expect(create(), "load_deadline_ms: expected 0 to 1000000000000, got -5");
  options.load_deadline_ms = INT64_MAX;
  expect(create(), "load_deadline_ms: expected 0 to");
  options.load_deadline_ms = 0;
  options.bfloat16 = 2;
  expect(create(), "bfloat16: expected 0 to 1, got 2");
  options.bfloat16 = 0;
  options.log_level = 5;
  expect(create(), "log_level: expected -1 to 4, got 5");
  options.log_level = 0;
  options.read_external_data = -1;
  expect(create(), "read_external_data: expected 0 to 1, got -1");
  options.read_external_data = 0;
  sx_threads threads{};
  options.thread_source = &threads;
  expect(create(), "thread_source: struct_size is 0");
  threads.struct_size = sizeof threads;
  expect(create(), "thread_source: expected functions");
  options.thread_source = nullptr;
  options.own_threads = 2;
  expect(create(), "own_threads: expected 0 to 1, got 2");
  options.own_threads = 0;
  options.strict = 2;
  expect(create(), "strict: expected 0 to 1, got 2");
  options.strict = 0;
  options.max_nesting = uint64_t{1} << 40;
  expect(create(), "max_nesting: expected 0 to");
  options.max_nesting = 0;
  options.initializer_count = 1;
  expect(create(), "initializers: expected a pointer");
  options.initializer_count = 0;
  options.providers = "onednn,none";
  expect(create(), "provider none: there is none of this name");
  expect(sx_session_options_init(nullptr, sizeof options), "options: expected a pointer");
  expect(sx_session_options_init(&options, 3), "options: struct_size is 3");
  expect(sx_session_create_from_bytes("x", 1, nullptr, nullptr), "session: expected a pointer");
  expect(sx_session_create(nullptr, nullptr, &made), "path: expected a pointer");
  expect(sx_session_create_from_bytes(nullptr, 1, nullptr, &made), "bytes: expected a pointer");
}

// Inputs a, b of float[n], each with its negative as an output.
std::string model_of_one_symbol() {
  Model model;
  GraphEmitter e(*model.graph);
  const Type type = Type::tensor(DType::kFloat, Dims{Dim::symbol("n")});
  for (const char* name : {"a", "b"}) {
    const Val input = GraphEmitter::wrap(model.graph->add_input(name, type));
    model.graph->add_output(GraphEmitter::unwrap(e.call("Neg", {input})));
  }
  return model_bytes(model);
}

TEST_F(CInterface, StrictSessionsRefuseWhatOthersWarnOf) {
  const std::string bytes = model_of_one_symbol();
  for (const int32_t strict : {0, 1}) {
    sx_session_options options{};
    options.struct_size = sizeof options;
    options.log_level = SX_LOG_OFF;
    options.strict = strict;
    sx_session* session = nullptr;
    sx_binding* binding = nullptr;
    ASSERT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), &options, &session), SX_OK);
    ASSERT_EQ(sx_binding_create(session, &binding), SX_OK);
    const float values[] = {1, 2};
    for (const int64_t count : {1, 2}) {
      ASSERT_EQ(sx_binding_set_input(binding, static_cast<size_t>(count - 1), SX_FLOAT, &count, 1,
                                     values, static_cast<size_t>(count) * sizeof(float)),
                SX_OK);
    }
    const sx_status status = sx_binding_run(binding, nullptr);
    EXPECT_EQ(status, strict == 1 ? SX_INVALID_ARGUMENT : SX_OK) << sx_last_error();
    sx_binding_destroy(binding);
    sx_session_destroy(session);
  }
}

TEST_F(CInterface, Values) {
  sx_value_info info{};
  size_t index = 0;
  expect(sx_session_input(session_, 0, &info), "info: struct_size is 0");
  info.struct_size = sizeof info;
  expect(sx_session_input(nullptr, 0, &info), "session: expected a pointer");
  expect(sx_session_input(session_, 0, nullptr), "info: expected a pointer");
  expect(sx_session_input(session_, 2, &info), "index: there are 2 inputs, got 2");
  expect(sx_session_output(session_, 3, &info), "index: there are 3 outputs, got 3");
  expect(sx_session_find_input(session_, "q", &index), "name: the model has no input q");
  expect(sx_session_find_output(session_, "q", &index), "name: the model has no output q");
  expect(sx_session_find_input(session_, nullptr, &index), "name: expected a pointer");
  expect(sx_session_find_input(session_, "x", nullptr), "index: expected a pointer");
  expect(sx_session_stats(session_, nullptr), "stats: expected a pointer");
  expect(sx_session_trim(nullptr), "session: expected a pointer");
  expect(sx_binding_create(session_, nullptr), "binding: expected a pointer");
  expect(sx_cancellation_create(nullptr), "cancellation: expected a pointer");
  expect(sx_cancellation_reset(nullptr), "cancellation: expected a pointer");
  expect(sx_profile_create(nullptr), "profile: expected a pointer");
  expect(sx_copy_last_error(nullptr), "error: expected a pointer");
}

TEST_F(CInterface, Tensors) {
  const int64_t one = 1, none = 0, negative = -1;
  int64_t many[65];
  std::fill(std::begin(many), std::end(many), 1);
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  const auto set = [&](size_t index, int dtype, const int64_t* dims, size_t rank, const void* data,
                       size_t size) {
    return sx_binding_set_input(binding_, index, static_cast<sx_dtype>(dtype), dims, rank, data,
                                size);
  };
  expect(set(2, SX_FLOAT, &one, 1, &element_, 4), "index: there are 2 inputs, got 2");
  expect(set(0, SX_FLOAT, many, 65, &element_, 4), "rank: expected at most 64, got 65");
  expect(set(0, SX_FLOAT, nullptr, 1, &element_, 4), "dims: expected a pointer");
  expect(set(0, SX_FLOAT, &negative, 1, &element_, 4), "dims: expected at least 0, got -1");
  expect(set(0, SX_FLOAT, huge, 2, &element_, 4), "", SX_RESOURCE_EXHAUSTED);
  for (const int dtype : {-1, 0, 99, static_cast<int>(SX_STRING)})
    expect(set(0, dtype, &one, 1, &element_, 4),
           ("no strings, got " + std::to_string(dtype)).c_str());
  expect(set(0, SX_FLOAT, &one, 1, &element_, 5), "size: float[1] takes 4 bytes, got 5");
  expect(set(0, SX_FLOAT, &one, 1, nullptr, 4), "data: expected a pointer");
  EXPECT_EQ(set(0, SX_FLOAT, &none, 1, nullptr, 0), SX_OK);
  const char* strings[] = {nullptr};
  expect(sx_binding_set_string_input(binding_, 2, &one, 1, strings, nullptr), "there are 2 inputs");
  expect(sx_binding_set_string_input(binding_, 1, &one, 1, nullptr, nullptr),
         "strings: expected a pointer");
  expect(sx_binding_set_string_input(binding_, 1, &one, 1, strings, nullptr),
         "strings: expected a pointer");
  expect(sx_binding_clear_input(binding_, 2), "index: there are 2 inputs, got 2");
  expect(sx_binding_set_output(binding_, 3, SX_FLOAT, &one, 1, &element_, 4),
         "index: there are 3 outputs, got 3");
  expect(sx_binding_clear_output(binding_, 3), "index: there are 3 outputs, got 3");
}

TEST_F(CInterface, Runs) {
  sx_run_options options;
  ASSERT_EQ(sx_run_options_init(&options, sizeof options), SX_OK);
  options.deadline_ms = -1;
  expect(sx_binding_run(binding_, &options), "deadline_ms: expected 0 to 1000000000000, got -1");
  options.deadline_ms = 0;
  options.strict_outputs = 2;
  expect(sx_binding_run(binding_, &options), "strict_outputs: expected 0 to 1, got 2");
  expect(sx_binding_run(nullptr, nullptr), "binding: expected a pointer");
  expect(sx_run_options_init(nullptr, sizeof options), "options: expected a pointer");
}

TEST_F(CInterface, Results) {
  sx_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  const char* string = nullptr;
  size_t length = 0;
  expect(sx_binding_output(binding_, 0, &tensor), "output 0: it is not there");
  run();
  expect(sx_binding_output(nullptr, 0, &tensor), "binding: expected a pointer");
  expect(sx_binding_output(binding_, 0, nullptr), "tensor: expected a pointer");
  expect(sx_binding_output(binding_, 3, &tensor), "index: there are 3 outputs, got 3");
  expect(sx_binding_output(binding_, 1, &tensor), "which is no tensor", SX_UNSUPPORTED);
  EXPECT_EQ(sx_binding_output(binding_, 0, &tensor), SX_OK);
  EXPECT_EQ(*static_cast<const float*>(tensor.data), -2);
  expect(sx_binding_output_string(binding_, 0, 0, &string, &length),
         "elements are float, asked for as string");
  expect(sx_binding_output_string(binding_, 2, 1, &string, &length),
         "index: there are 1 elements, got 1");
  expect(sx_binding_output_string(binding_, 2, 0, nullptr, &length), "string: expected a pointer");
  expect(sx_binding_output_string(binding_, 2, 0, &string, nullptr), "length: expected a pointer");
  EXPECT_EQ(sx_binding_output_string(binding_, 2, 0, &string, &length), SX_OK);
  EXPECT_EQ(std::string(string, length), "text");
}

TEST(CSession, takes_a_plan_cache) {
  const std::string bytes = model_of_all_kinds();
  const std::string path = testing::TempDir() + "/c_api_plan_cache";
  std::ofstream(path) << "something else";
  sx_session_options options;
  ASSERT_EQ(sx_session_options_init(&options, sizeof options), SX_OK);
  EXPECT_EQ(options.plan_cache, nullptr);
  options.plan_cache = path.c_str();
  sx_session* session = nullptr;
  EXPECT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), &options, &session),
            SX_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sx_last_error()).find(path), std::string::npos) << sx_last_error();
  std::filesystem::remove(path);
  ASSERT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), &options, &session), SX_OK);
  sx_session_destroy(session);
}

}  // namespace
}  // namespace sardonyx
