// Operators that are registered over the C interface.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "ir/custom_op.h"
#include "onnx_io/save.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

// y = x repeated as often as `times` says, plus the attribute `offset`; `labels` gives its words
// joined.
struct RepeatOp {
  std::atomic<int> inferred{0};

  static sx_status compute(void* user, sx_op_call* call);
  static sx_status infer(void* user, sx_op_inference* inference);
};

sx_status RepeatOp::compute(void*, sx_op_call* call) {
  sx_tensor x{.struct_size = sizeof x}, times{.struct_size = sizeof times};
  sx_status status = sx_op_call_input(call, 0, &x);
  if (status == SX_OK) status = sx_op_call_input(call, 1, &times);
  double offset = 0;
  sx_op_attributes* attributes = sx_op_call_attributes(call);
  if (status == SX_OK) status = sx_op_attribute_float(attributes, "offset", &offset);
  if (status != SX_OK) return status;
  const int64_t count = x.dims[0];
  const int64_t repeats =
      times.dtype == SX_UNDEFINED ? 1 : *static_cast<const int64_t*>(times.data);
  if (repeats < 0) return sx_set_last_error(SX_UNSUPPORTED, "times is negative");
  if (repeats == 7) return SX_CANCELLED;
  if (repeats == 8) return SX_INVALID_MODEL;
  const int64_t size = count * repeats;
  void* data = nullptr;
  status = sx_op_call_make_output(call, 0, SX_FLOAT, &size, 1, &data);
  if (status != SX_OK) return status;
  struct Work {
    const float* from;
    float* to;
    int64_t count;
    float offset;
  } work{static_cast<const float*>(x.data), static_cast<float*>(data), count,
         static_cast<float>(offset)};
  status = sx_op_call_parallel_for(
      call, size, 1000,
      [](void* argument, int64_t begin, int64_t end) {
        const auto& part = *static_cast<Work*>(argument);
        for (int64_t i = begin; i < end; ++i)
          part.to[i] = part.from[i % part.count] + part.offset;
      },
      &work);
  if (status != SX_OK || sx_op_call_output_count(call) < 2) return status;
  const char* const* words = nullptr;
  size_t word_count = 0;
  status = sx_op_attribute_strings(attributes, "words", &words, &word_count);
  if (status != SX_OK) return status;
  std::string joined;
  for (size_t i = 0; i < word_count; ++i)
    joined += words[i];
  const char* text = joined.c_str();
  sx_value* labels = nullptr;
  status = sx_value_create_strings(nullptr, 0, &text, nullptr, &labels);
  if (status == SX_OK) status = sx_op_call_set_output(call, 1, labels);
  sx_value_destroy(labels);
  return status;
}

sx_status RepeatOp::infer(void* user, sx_op_inference* inference) {
  ++static_cast<RepeatOp*>(user)->inferred;
  int32_t rank = 0;
  const int64_t* dims = nullptr;
  sx_status status = sx_op_inference_input(inference, 0, nullptr, &rank, &dims);
  if (status != SX_OK) return status;
  if (rank >= 0 && rank != 1) return sx_set_last_error(SX_INVALID_MODEL, "x must have one dim");
  if (sx_op_inference_output_count(inference) > 1) {
    status = sx_op_inference_set_output(inference, 1, SX_STRING, nullptr, 0);
    if (status != SX_OK) return status;
  }
  if (sx_op_inference_input_count(inference) < 2) return sx_op_inference_copy(inference, 0, 0);
  const int64_t* times = nullptr;
  size_t count = 0;
  status = sx_op_inference_elements(inference, 1, &times, &count);
  if (status != SX_OK) return status;
  const bool is_known = rank == 1 && dims[0] >= 0 && count == 1 && times[0] >= 0;
  const int64_t size = is_known ? dims[0] * times[0] : -1;
  return sx_op_inference_set_output(inference, 0, SX_FLOAT, &size, 1);
}

constexpr sx_attribute kAttributes[] = {
    {.name = "offset", .kind = SX_ATTRIBUTE_FLOAT, .default_float = 0.5},
    {.name = "words", .kind = SX_ATTRIBUTE_STRINGS},
};

sx_custom_op repeat_op(RepeatOp& user, const char* name) {
  return {.struct_size = sizeof(sx_custom_op),
          .domain = "test.c",
          .name = name,
          .since_version = 0,
          .shape_inputs = 2,
          .signature = "(x: float, times?: int64) -> (y: float, labels?: string)",
          .types = nullptr,
          .type_count = 0,
          .attributes = kAttributes,
          .attribute_count = std::size(kAttributes),
          .compute = RepeatOp::compute,
          .infer = RepeatOp::infer,
          .user = &user};
}

std::string model_of(const char* name, bool has_times, size_t outputs, const AttrMap& attrs) {
  Model model;
  GraphEmitter e(*model.graph);
  const Type vector = Type::tensor(DType::kFloat, Dims{Dim::symbol("n")});
  Vals given{GraphEmitter::wrap(model.graph->add_input("x", vector))};
  if (has_times) {
    const Type scalar = Type::tensor(DType::kInt64, Dims{});
    given.push_back(GraphEmitter::wrap(model.graph->add_input("times", scalar)));
  }
  for (const Val& result : e.call_many(std::string("test.c::") + name, given, attrs, outputs))
    model.graph->add_output(GraphEmitter::unwrap(result));
  return model_bytes(model);
}

class CCustomOp : public ::testing::Test {
 protected:
  void SetUp() override {
    const sx_custom_op op = repeat_op(op_, "Repeat");
    ASSERT_EQ(sx_custom_op_register(&op), SX_OK) << sx_last_error();
  }
  void TearDown() override {
    sx_binding_destroy(binding_);
    sx_session_destroy(session_);
    EXPECT_EQ(sx_custom_op_unregister("test.c", "Repeat"), SX_OK);
  }
  void load(bool has_times, size_t outputs, const AttrMap& attrs = {}) {
    const std::string bytes = model_of("Repeat", has_times, outputs, attrs);
    ASSERT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), nullptr, &session_), SX_OK)
        << sx_last_error();
    ASSERT_EQ(sx_binding_create(session_, &binding_), SX_OK);
  }
  sx_status run(const std::vector<float>& x, const int64_t* times) {
    const auto count = static_cast<int64_t>(x.size());
    sx_binding_set_input(binding_, 0, SX_FLOAT, &count, 1, x.data(), x.size() * sizeof(float));
    if (times) sx_binding_set_input(binding_, 1, SX_INT64, nullptr, 0, times, sizeof *times);
    return sx_binding_run(binding_, nullptr);
  }
  std::vector<float> output() {
    sx_tensor y{.struct_size = sizeof y};
    EXPECT_EQ(sx_binding_output(binding_, 0, &y), SX_OK) << sx_last_error();
    const auto* first = static_cast<const float*>(y.data);
    return {first, first + y.size / sizeof(float)};
  }

  RepeatOp& op_ = *new RepeatOp;  // as long as the process, as is asked for
  sx_session* session_ = nullptr;
  sx_binding* binding_ = nullptr;
};

TEST_F(CCustomOp, computes_what_it_was_told_with_optional_inputs_and_outputs) {
  load(/*has_times=*/false, 1, {{"offset", 2.0f}});
  sx_value_info info{.struct_size = sizeof info};
  ASSERT_EQ(sx_session_output(session_, 0, &info), SX_OK);
  EXPECT_STREQ(info.type, "float[n]");
  ASSERT_EQ(run({1, 2}, nullptr), SX_OK) << sx_last_error();
  EXPECT_EQ(output(), (std::vector<float>{3, 4}));
  EXPECT_GE(op_.inferred, 1);
}

TEST_F(CCustomOp, sizes_follow_from_elements_and_strings_are_values) {
  load(/*has_times=*/true, 2, {{"words", std::vector<std::string>{"a", "bc"}}});
  for (const int64_t times : {2, 1, 0, 3}) {
    ASSERT_EQ(run({1, 2}, &times), SX_OK) << sx_last_error();
    std::vector<float> expected;
    for (int64_t k = 0; k < times; ++k)
      expected.insert(expected.end(), {1.5f, 2.5f});
    EXPECT_EQ(output(), expected);
    const char* label = nullptr;
    size_t length = 0;
    ASSERT_EQ(sx_binding_output_string(binding_, 1, 0, &label, &length), SX_OK);
    EXPECT_EQ(std::string(label, length), "abc");
  }
}

TEST_F(CCustomOp, its_status_is_that_of_the_run) {
  load(/*has_times=*/true, 1);
  int64_t times = -1;
  EXPECT_EQ(run({1}, &times), SX_UNSUPPORTED);
  EXPECT_NE(std::strstr(sx_last_error(), "test.c::Repeat: times is negative"), nullptr)
      << sx_last_error();
  EXPECT_STRNE(sx_last_error_node(), "");
  times = 7;
  EXPECT_EQ(run({1}, &times), SX_CANCELLED);
  EXPECT_NE(std::strstr(sx_last_error(), "its function gave the status cancelled"), nullptr)
      << sx_last_error();
  times = 8;
  EXPECT_EQ(run({1}, &times), SX_INVALID_MODEL) << sx_last_error();
  times = 1;
  EXPECT_EQ(run({1}, &times), SX_OK);
}

TEST_F(CCustomOp, what_is_not_well_formed_is_refused) {
  const auto refused = [&](const char* mention, const auto& change) {
    sx_custom_op op = repeat_op(op_, "Other");
    change(op);
    EXPECT_EQ(sx_custom_op_register(&op), SX_INVALID_ARGUMENT) << mention;
    EXPECT_NE(std::strstr(sx_last_error(), mention), nullptr) << sx_last_error();
  };
  refused("struct_size", [](sx_custom_op& op) { op.struct_size = 0; });
  refused("domain: expected a pointer", [](sx_custom_op& op) { op.domain = nullptr; });
  refused("name: expected a pointer", [](sx_custom_op& op) { op.name = nullptr; });
  refused("signature: expected a pointer", [](sx_custom_op& op) { op.signature = nullptr; });
  refused("compute: expected a function", [](sx_custom_op& op) { op.compute = nullptr; });
  refused("attributes: expected a pointer", [](sx_custom_op& op) { op.attributes = nullptr; });
  refused("there is an operator of this name", [](sx_custom_op& op) { op.name = "Repeat"; });
  refused("is_impure", [](sx_custom_op& op) { op.is_impure = 2; });
  const int32_t bad_dtype = 99;
  const sx_type_constraint constraint{"T", &bad_dtype, 1};
  refused("types: T: expected one of sx_dtype, got 99", [&](sx_custom_op& op) {
    op.types = &constraint;
    op.type_count = 1;
  });
  const sx_attribute attribute{.name = "a", .kind = 8};
  refused("attribute a: expected a kind of sx_attribute_kind, got 8", [&](sx_custom_op& op) {
    op.attributes = &attribute;
    op.attribute_count = 1;
  });
  EXPECT_EQ(sx_custom_op_register(nullptr), SX_INVALID_ARGUMENT);
  EXPECT_EQ(sx_custom_op_unregister("test.c", "Nothing"), SX_INVALID_ARGUMENT);
}

// Functions of calls and inferences with arguments that lead outside of what there is.
sx_status misuse(void*, sx_op_call* call) {
  const auto expect = [](sx_status status) { EXPECT_EQ(status, SX_INVALID_ARGUMENT); };
  sx_tensor tensor{.struct_size = sizeof tensor};
  sx_value* value = nullptr;
  void* data = nullptr;
  const int64_t size = 1, negative = -1;
  int64_t number = 0;
  expect(sx_op_call_input(call, 9, &tensor));
  expect(sx_op_call_input(call, 0, nullptr));
  expect(sx_op_call_input(nullptr, 0, &tensor));
  expect(sx_op_call_input_value(call, 9, &value));
  expect(sx_op_call_make_output(call, 9, SX_FLOAT, &size, 1, &data));
  expect(sx_op_call_make_output(call, 0, SX_FLOAT, &negative, 1, &data));
  expect(sx_op_call_make_output(call, 0, SX_STRING, &size, 1, &data));
  expect(sx_op_call_make_output(call, 0, static_cast<sx_dtype>(99), &size, 1, &data));
  expect(sx_op_call_set_output(call, 0, nullptr));
  expect(sx_op_call_parallel_for(call, 1, 1, nullptr, nullptr));
  expect(sx_op_attribute_int(sx_op_call_attributes(call), "offset", &number));
  expect(sx_op_attribute_int(sx_op_call_attributes(call), "nothing", &number));
  expect(sx_op_attribute_int(nullptr, "offset", &number));
  EXPECT_EQ(sx_op_call_attributes(nullptr), nullptr);
  EXPECT_EQ(sx_op_call_input_count(nullptr), 0u);
  return sx_op_call_make_output(call, 0, SX_FLOAT, &size, 1, &data);
}

TEST_F(CCustomOp, misused_functions_refuse) {
  sx_custom_op op = repeat_op(op_, "Misused");
  op.compute = misuse;
  op.infer = nullptr;
  ASSERT_EQ(sx_custom_op_register(&op), SX_OK) << sx_last_error();
  const std::string bytes = model_of("Misused", false, 1, {});
  ASSERT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), nullptr, &session_), SX_OK);
  ASSERT_EQ(sx_binding_create(session_, &binding_), SX_OK);
  EXPECT_EQ(run({1}, nullptr), SX_OK) << sx_last_error();
  EXPECT_EQ(sx_custom_op_unregister("test.c", "Misused"), SX_OK);
}

}  // namespace
}  // namespace sardonyx
