// Runs through the C interface: options whose zeros are defaults, choice of outputs, fetching,
// preparation, asynchronous runs, cancellation, profiles, logs, errors in the caller's memory.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "executor/session.h"
#include "onnx_io/save.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

// y = -x, z = exp(w), shape = Shape(x), r = Reshape(x, s); x, w: float[n], s: int64[1]
std::string small_model() {
  Model model;
  model.producer_name = "a test";
  model.metadata = {{"classes", "3"}, {"author", "nobody"}};
  model.graph->name = "small";
  GraphEmitter e(*model.graph);
  const auto input = [&](const char* name, DType dtype, Dim size) {
    return GraphEmitter::wrap(model.graph->add_input(name, Type::tensor(dtype, Dims{size})));
  };
  const Val x = input("x", DType::kFloat, Dim::symbol("n"));
  const Val w = input("w", DType::kFloat, Dim::symbol("m"));
  const Val s = input("s", DType::kInt64, 1);
  const char* names[] = {"y", "z", "shape", "r"};
  const Val outputs[] = {e.call("Neg", {x}), e.call("Exp", {w}), e.call("Shape", {x}),
                         e.call("Reshape", {x, s})};
  for (size_t i = 0; i < 4; ++i) {
    Value* output = GraphEmitter::unwrap(outputs[i]);
    model.graph->rename(*output, names[i]);
    model.graph->add_output(output);
  }
  return model_bytes(model);
}

class CRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    session_ = created(nullptr);
    ASSERT_EQ(sx_binding_create(session_, &binding_), SX_OK);
    bind_inputs();
  }
  void TearDown() override {
    sx_binding_destroy(binding_);
    sx_session_destroy(session_);
  }
  static sx_session* created(const sx_session_options* options) {
    const std::string bytes = small_model();
    sx_session* session = nullptr;
    EXPECT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), options, &session), SX_OK)
        << sx_last_error();
    return session;
  }
  void bind_inputs() {
    ASSERT_EQ(sx_binding_set_input(binding_, 0, SX_FLOAT, &two_, 1, x_, sizeof x_), SX_OK);
    ASSERT_EQ(sx_binding_set_input(binding_, 1, SX_FLOAT, &two_, 1, w_, sizeof w_), SX_OK);
    ASSERT_EQ(sx_binding_set_input(binding_, 2, SX_INT64, &one_, 1, &s_, sizeof s_), SX_OK);
  }
  sx_tensor output(size_t index) const {
    sx_tensor tensor{};
    tensor.struct_size = sizeof tensor;
    EXPECT_EQ(sx_binding_output(binding_, index, &tensor), SX_OK) << sx_last_error();
    return tensor;
  }
  float first_of(size_t index) const { return *static_cast<const float*>(output(index).data); }

  const int64_t two_ = 2, one_ = 1;
  float x_[2] = {1, 2};
  float w_[2] = {0, 0};
  int64_t s_ = 2;
  sx_session* session_ = nullptr;
  sx_binding* binding_ = nullptr;
};

TEST_F(CRuns, zeroed_options_ask_for_the_defaults) {
  sx_session_options options{};
  options.struct_size = sizeof options;
  options.threads = 1;
  sx_session* session = created(&options);
  ASSERT_NE(session, nullptr);
  for (int i = 0; i < 2; ++i) {
    const int64_t size = 2 + i;
    const int64_t* dims[] = {&size, &size};
    const size_t ranks[] = {1, 1};
    sx_binding* binding = nullptr;
    ASSERT_EQ(sx_binding_create(session, &binding), SX_OK);
    const size_t y = 0;
    ASSERT_EQ(sx_binding_choose_outputs(binding, &y, 1), SX_OK);
    const std::vector<float> x(size);
    ASSERT_EQ(sx_binding_set_input(binding, 0, SX_FLOAT, dims[0], ranks[0], x.data(), 4 * size),
              SX_OK);
    EXPECT_EQ(sx_binding_run(binding, nullptr), SX_OK) << sx_last_error();
    sx_binding_destroy(binding);
  }
  sx_session_destroy(session);
}

TEST_F(CRuns, threads_come_from_the_program) {
  static std::atomic<int> asked;
  asked = 0;
  sx_threads threads{};
  threads.struct_size = sizeof threads;
  threads.submit = [](void*, void (*work)(void*), void* argument) { work(argument); };
  threads.concurrency = [](void* user) {
    ++asked;
    return *static_cast<int*>(user);
  };
  int two = 2;
  threads.user = &two;
  sx_session_options options{};
  options.struct_size = sizeof options;
  options.thread_source = &threads;
  sx_session* session = created(&options);
  EXPECT_GT(asked, 0);
  sx_session_destroy(session);
  options.thread_source = nullptr;
  options.own_threads = 1;
  sx_session_destroy(created(&options));
}

TEST_F(CRuns, options_of_the_first_version_mean_what_they_meant) {
  sx_session_options options{};
  options.struct_size = offsetof(sx_session_options, error);
  options.memory_limit = 1 << 20;
  for (const auto& [level, accepted] : {std::pair(0, true), {1, true}, {2, true}, {-1, false}}) {
    options.optimization_level = level;
    const std::string bytes = small_model();
    sx_session* session = nullptr;
    EXPECT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), &options, &session) == SX_OK,
              accepted);
    sx_session_destroy(session);
  }
}

TEST_F(CRuns, metadata_and_operator_sets) {
  sx_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(sx_session_model_info(session_, &info), SX_OK);
  EXPECT_STREQ(info.producer_name, "a test");
  EXPECT_STREQ(info.graph_name, "small");
  EXPECT_STREQ(info.domain, "");
  EXPECT_GT(info.ir_version, 0);
  ASSERT_EQ(info.metadata_count, 2u);
  const char *key = nullptr, *value = nullptr;
  ASSERT_EQ(sx_session_metadata(session_, 0, &key, &value), SX_OK);
  EXPECT_STREQ(key, "author");
  ASSERT_EQ(sx_session_find_metadata(session_, "classes", &value), SX_OK);
  EXPECT_STREQ(value, "3");
  EXPECT_EQ(sx_session_find_metadata(session_, "none", &value), SX_INVALID_ARGUMENT);
  EXPECT_EQ(value, nullptr);
  EXPECT_EQ(sx_session_metadata(session_, 2, &key, &value), SX_INVALID_ARGUMENT);
  ASSERT_GE(info.opset_count, 1u);
  int64_t version = 0;
  ASSERT_EQ(sx_session_opset(session_, 0, &key, &version), SX_OK);
  EXPECT_STREQ(key, "");
  EXPECT_GT(version, 0);
}

TEST_F(CRuns, chosen_outputs_need_only_their_inputs) {
  ASSERT_EQ(sx_binding_run(binding_, nullptr), SX_OK) << sx_last_error();
  for (size_t i = 0; i < 3; ++i)
    ASSERT_EQ(sx_binding_clear_input(binding_, i), SX_OK);
  ASSERT_EQ(sx_binding_set_input(binding_, 1, SX_FLOAT, &two_, 1, w_, sizeof w_), SX_OK);
  const size_t z[] = {1, 1};
  ASSERT_EQ(sx_binding_choose_outputs(binding_, z, 2), SX_OK);
  float bound[2] = {};
  ASSERT_EQ(sx_binding_set_output(binding_, 1, SX_FLOAT, &two_, 1, bound, sizeof bound), SX_OK);
  ASSERT_EQ(sx_binding_run(binding_, nullptr), SX_OK) << sx_last_error();
  EXPECT_EQ(bound[0], 1);
  EXPECT_EQ(output(1).written, 1);
  sx_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  EXPECT_EQ(sx_binding_output(binding_, 0, &tensor), SX_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sx_last_error()).find("not among the chosen"), std::string::npos);
  ASSERT_EQ(sx_binding_choose_outputs(binding_, nullptr, 0), SX_OK);
  EXPECT_EQ(sx_binding_run(binding_, nullptr), SX_INVALID_ARGUMENT) << "x is needed again";
  const size_t none = 4;
  EXPECT_EQ(sx_binding_choose_outputs(binding_, &none, 1), SX_INVALID_ARGUMENT);
}

TEST_F(CRuns, any_value_can_be_fetched) {
  const char* names[] = {"z", "x", "z"};
  sx_value* values[3];
  ASSERT_EQ(sx_binding_fetch(binding_, names, 3, nullptr, values), SX_OK) << sx_last_error();
  for (sx_value* value : values) {
    sx_tensor tensor{};
    tensor.struct_size = sizeof tensor;
    ASSERT_EQ(sx_value_tensor(value, &tensor), SX_OK);
    EXPECT_EQ(*static_cast<const float*>(tensor.data), 1);
    sx_value_destroy(value);
  }
  names[1] = "nothing";
  EXPECT_EQ(sx_binding_fetch(binding_, names, 2, nullptr, values), SX_INVALID_ARGUMENT);
  EXPECT_EQ(values[0], nullptr);
  EXPECT_NE(std::string(sx_last_error()).find("no value nothing"), std::string::npos);
}

TEST_F(CRuns, a_bound_output_says_whether_it_was_written_and_strict_ones_must_be) {
  float bound[3] = {7, 7, 7};
  const int64_t three = 3;
  ASSERT_EQ(sx_binding_set_output(binding_, 0, SX_FLOAT, &three, 1, bound, sizeof bound), SX_OK);
  ASSERT_EQ(sx_binding_run(binding_, nullptr), SX_OK) << sx_last_error();
  EXPECT_EQ(output(0).written, 0);
  EXPECT_EQ(first_of(0), -1);
  sx_run_options options{};
  options.struct_size = sizeof options;
  options.strict_outputs = 1;
  EXPECT_EQ(sx_binding_run(binding_, &options), SX_INVALID_ARGUMENT);
  EXPECT_EQ(bound[0], 7);
  ASSERT_EQ(sx_binding_set_output(binding_, 0, SX_FLOAT, &two_, 1, bound, 8), SX_OK);
  ASSERT_EQ(sx_binding_run(binding_, &options), SX_OK) << sx_last_error();
  EXPECT_EQ(output(0).written, 1);
  EXPECT_EQ(bound[0], -1);
}

TEST_F(CRuns, errors_come_in_the_callers_memory_as_well) {
  char message[24], node[8];
  sx_error error{};
  error.struct_size = sizeof error;
  error.message = message;
  error.message_size = sizeof message;
  error.node = node;
  error.node_size = sizeof node;
  sx_run_options options{};
  options.struct_size = sizeof options;
  options.error = &error;
  s_ = 5;  // no two elements can be five
  EXPECT_EQ(sx_binding_run(binding_, &options), SX_INVALID_ARGUMENT);
  EXPECT_EQ(error.status, SX_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(message), std::string(sx_last_error()).substr(0, sizeof message - 1));
  sx_error copy = error;
  copy.status = 0;
  ASSERT_EQ(sx_copy_last_error(&copy), SX_OK);
  EXPECT_EQ(copy.status, SX_INVALID_ARGUMENT);
  s_ = 2;
  EXPECT_EQ(sx_binding_run(binding_, &options), SX_OK);
  EXPECT_EQ(error.status, SX_OK);
  EXPECT_STREQ(message, "");
  sx_session_options session_options{};
  session_options.struct_size = sizeof session_options;
  session_options.error = &error;
  sx_session* session = nullptr;
  EXPECT_EQ(sx_session_create("no such file", &session_options, &session), SX_INVALID_ARGUMENT);
  EXPECT_EQ(error.status, SX_INVALID_ARGUMENT);
}

TEST_F(CRuns, an_error_without_a_size_is_refused) {
  sx_error error{};
  sx_run_options options{};
  options.struct_size = sizeof options;
  options.error = &error;
  const auto expect_refused = [](sx_status status) {
    EXPECT_EQ(status, SX_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sx_last_error()).find("options: error: struct_size is 0"),
              std::string::npos)
        << sx_last_error();
  };
  expect_refused(sx_binding_run(binding_, &options));
  expect_refused(sx_binding_run_async(binding_, &options, nullptr, nullptr));
  expect_refused(sx_binding_prepare(binding_, &options));
  sx_session_options session_options{};
  session_options.struct_size = sizeof session_options;
  session_options.error = &error;
  sx_session* session = nullptr;
  expect_refused(sx_session_create("no such file", &session_options, &session));
}

// Bytes of a model whose subgraphs are in each other.
std::string nested_model(int levels) {
  Model model;
  GraphEmitter e(*model.graph);
  const Type flag = Type::tensor(DType::kBool, Dims{});
  const Val condition = GraphEmitter::wrap(model.graph->add_input("c", flag));
  GraphPtr inner;
  for (int level = 0; level < levels; ++level) {
    auto graph = std::make_shared<Graph>();
    GraphEmitter body(*graph);
    const Val on = body.constant(Tensor::scalar<bool>(true));
    const Val result = inner
                           ? body.call("If", {on}, {{"then_branch", inner}, {"else_branch", inner}})
                           : body.call("Not", {on});
    graph->add_output(GraphEmitter::unwrap(result));
    inner = graph;
  }
  model.graph->add_output(GraphEmitter::unwrap(
      e.call("If", {condition}, {{"then_branch", inner}, {"else_branch", inner}})));
  return model_bytes(model);
}

TEST(CSession, limits_and_names_of_options_are_told_apart) {
  const std::string bytes = nested_model(3);
  const auto expect_status = [&](const sx_session_options& options, sx_status expected,
                                 const char* message) {
    sx_session* session = nullptr;
    EXPECT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), &options, &session),
              expected)
        << sx_last_error();
    EXPECT_NE(std::string(sx_last_error()).find(message), std::string::npos) << sx_last_error();
    sx_session_destroy(session);
  };
  sx_session_options options{};
  options.struct_size = sizeof options;
  options.max_nesting = 5;
  expect_status(options, SX_RESOURCE_EXHAUSTED, "nested more than 5 levels deep");
  options.max_nesting = 50;
  expect_status(options, SX_OK, "");
  options.disabled_passes = "fold-constants,no-such-pass";
  expect_status(options, SX_INVALID_ARGUMENT, "disabled_passes: there is no pass \"no-such-pass\"");
  options.disabled_passes = "fold-constants";
  expect_status(options, SX_OK, "");
  options.providers = ",";
  expect_status(options, SX_INVALID_ARGUMENT, "provider \"\": there is none");
}

TEST_F(CRuns, sessions_are_prepared_by_shapes_and_by_what_is_bound) {
  sx_stats stats{};
  stats.struct_size = sizeof stats;
  const auto plans = [&] {
    EXPECT_EQ(sx_session_stats(session_, &stats), SX_OK);
    return stats.plans;
  };
  const int64_t* dims[] = {&two_, &two_};
  const size_t ranks[] = {1, 1};
  EXPECT_EQ(sx_session_prepare(session_, dims, ranks, 2, nullptr), SX_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sx_last_error()).find("input s: its value decides shapes"),
            std::string::npos)
      << sx_last_error();
  EXPECT_EQ(sx_session_prepare(session_, dims, ranks, 1, nullptr), SX_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sx_last_error()).find("input w"), std::string::npos) << sx_last_error();
  EXPECT_EQ(sx_session_prepare(session_, dims, ranks, 9, nullptr), SX_INVALID_ARGUMENT);
  EXPECT_EQ(plans(), 0u);
  ASSERT_EQ(sx_binding_prepare(binding_, nullptr), SX_OK) << sx_last_error();
  EXPECT_EQ(plans(), 1u);
  ASSERT_EQ(sx_binding_run(binding_, nullptr), SX_OK);
  EXPECT_EQ(plans(), 1u) << "the run finds what was prepared";
}

TEST_F(CRuns, asynchronous_runs_complete_exactly_once) {
  std::atomic<int> completions = 0;
  const auto count = [](void* user, const sx_error* error) {
    EXPECT_EQ(error->status, SX_OK) << error->message;
    ++*static_cast<std::atomic<int>*>(user);
  };
  for (int i = 1; i <= 100; ++i) {
    ASSERT_EQ(sx_binding_run_async(binding_, nullptr, count, &completions), SX_OK);
    ASSERT_EQ(sx_binding_wait(binding_), SX_OK) << sx_last_error();
    ASSERT_EQ(completions, i);
    ASSERT_EQ(first_of(0), -1);
  }
  s_ = 5;
  ASSERT_EQ(sx_binding_run_async(binding_, nullptr, nullptr, nullptr), SX_OK);
  EXPECT_EQ(sx_binding_wait(binding_), SX_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sx_last_error()).find("Reshape"), std::string::npos) << sx_last_error();
}

TEST_F(CRuns, a_binding_at_work_is_left_alone) {
  std::promise<void> entered, leave;
  struct Hold {
    std::promise<void>& entered;
    std::shared_future<void> leave;
  } hold{entered, leave.get_future().share()};
  sx_session* session = created(nullptr);
  sx_binding* binding = nullptr;
  ASSERT_EQ(sx_binding_create(session, &binding), SX_OK);
  // A run whose callback is held: the binding is free in it. One that is queued behind is not.
  const auto held = [](void* user, const sx_error*) {
    auto& told = *static_cast<Hold*>(user);
    told.entered.set_value();
    told.leave.wait();
  };
  ASSERT_EQ(sx_binding_run_async(binding, nullptr, held, &hold), SX_OK);
  entered.get_future().wait();
  ASSERT_EQ(sx_binding_run_async(binding, nullptr, nullptr, nullptr), SX_OK);
  EXPECT_EQ(sx_binding_run(binding, nullptr), SX_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sx_last_error()).find("asynchronous run is under way"), std::string::npos);
  EXPECT_EQ(sx_binding_clear_input(binding, 0), SX_INVALID_ARGUMENT);
  EXPECT_EQ(sx_binding_run_async(binding, nullptr, nullptr, nullptr), SX_INVALID_ARGUMENT);
  sx_session_destroy(session);  // the binding keeps what it needs
  leave.set_value();
  EXPECT_EQ(sx_binding_wait(binding), SX_INVALID_ARGUMENT) << "no input was bound";
  sx_binding_destroy(binding);
}

TEST_F(CRuns, a_callback_may_run_again_and_destroy_its_binding) {
  struct Chain {
    sx_binding* binding;
    int left;
    std::promise<void> done;
  } chain{nullptr, 10, {}};
  ASSERT_EQ(sx_binding_create(session_, &chain.binding), SX_OK);
  std::swap(binding_, chain.binding);
  bind_inputs();
  std::swap(binding_, chain.binding);
  static constexpr sx_run_callback kNext = [](void* user, const sx_error* error) {
    auto& links = *static_cast<Chain*>(user);
    EXPECT_EQ(error->status, SX_OK) << error->message;
    EXPECT_EQ(sx_binding_wait(links.binding), SX_OK);
    if (--links.left > 0) {
      EXPECT_EQ(sx_binding_run_async(links.binding, nullptr, kNext, user), SX_OK);
      return;
    }
    sx_binding_destroy(links.binding);
    links.done.set_value();
  };
  ASSERT_EQ(sx_binding_run_async(chain.binding, nullptr, kNext, &chain), SX_OK);
  chain.done.get_future().wait();
  EXPECT_EQ(chain.left, 0);
}

TEST_F(CRuns, a_callback_may_destroy_its_binding_behind_a_run_that_it_begins) {
  struct Last {
    sx_binding* binding;
    int ended = 0;
    std::promise<void> done;
  } last{nullptr, 0, {}};
  ASSERT_EQ(sx_binding_create(session_, &last.binding), SX_OK);
  std::swap(binding_, last.binding);
  bind_inputs();
  std::swap(binding_, last.binding);
  static constexpr sx_run_callback kCount = [](void* user, const sx_error* error) {
    EXPECT_EQ(error->status, SX_OK) << error->message;
    ++static_cast<Last*>(user)->ended;
  };
  const auto destroy = [](void* user, const sx_error*) {
    auto& told = *static_cast<Last*>(user);
    EXPECT_EQ(sx_binding_run_async(told.binding, nullptr, kCount, user), SX_OK);
    sx_binding_destroy(told.binding);
    EXPECT_EQ(told.ended, 1);
    told.done.set_value();
  };
  ASSERT_EQ(sx_binding_run_async(last.binding, nullptr, destroy, &last), SX_OK);
  last.done.get_future().wait();
}

TEST_F(CRuns, a_cancellation_is_reset_and_serves_again) {
  sx_run_options options{};
  options.struct_size = sizeof options;
  ASSERT_EQ(sx_cancellation_create(&options.cancellation), SX_OK);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sx_binding_run(binding_, &options), SX_OK) << sx_last_error();
    sx_cancellation_request(options.cancellation);
    EXPECT_EQ(sx_binding_run(binding_, &options), SX_CANCELLED);
    ASSERT_EQ(sx_cancellation_reset(options.cancellation), SX_OK);
  }
  sx_session_options load{};
  load.struct_size = sizeof load;
  load.cancellation = options.cancellation;
  sx_session* session = created(&load);
  ASSERT_NE(session, nullptr);
  sx_session_destroy(session);
  sx_cancellation_request(options.cancellation);
  const std::string bytes = small_model();
  EXPECT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), &load, &session),
            SX_CANCELLED);
  sx_cancellation_destroy(options.cancellation);
}

TEST_F(CRuns, requests_and_resets_from_many_threads) {
  sx_cancellation* cancellation = nullptr;
  ASSERT_EQ(sx_cancellation_create(&cancellation), SX_OK);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 1000; ++round) {
        if (i < 2)
          sx_cancellation_request(cancellation);
        else
          EXPECT_EQ(sx_cancellation_reset(cancellation), SX_OK);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  ASSERT_EQ(sx_cancellation_reset(cancellation), SX_OK);
  sx_run_options options{};
  options.struct_size = sizeof options;
  options.cancellation = cancellation;
  EXPECT_EQ(sx_binding_run(binding_, &options), SX_OK);
  sx_cancellation_destroy(cancellation);
}

TEST_F(CRuns, a_profile_has_the_steps_of_its_runs) {
  sx_run_options options{};
  options.struct_size = sizeof options;
  ASSERT_EQ(sx_profile_create(&options.profile), SX_OK);
  ASSERT_EQ(sx_binding_run(binding_, &options), SX_OK);
  const size_t steps = sx_profile_step_count(options.profile);
  ASSERT_GT(steps, 0u);
  ASSERT_EQ(sx_binding_run(binding_, &options), SX_OK);
  EXPECT_EQ(sx_profile_step_count(options.profile), 2 * steps);
  sx_step step{};
  step.struct_size = sizeof step;
  ASSERT_EQ(sx_profile_step(options.profile, 0, &step), SX_OK);
  EXPECT_STRNE(step.op, "");
  EXPECT_STRNE(step.implementation, "");
  EXPECT_NE(std::string(step.types).find("->"), std::string::npos);
  EXPECT_GE(step.seconds, 0);
  EXPECT_EQ(sx_profile_step(options.profile, 2 * steps, &step), SX_INVALID_ARGUMENT);
  sx_profile_clear(options.profile);
  EXPECT_EQ(sx_profile_step_count(options.profile), 0u);
  sx_profile_destroy(options.profile);
}

TEST_F(CRuns, log_lines_go_to_the_callers_function) {
  std::vector<std::pair<int32_t, std::string>> lines;
  sx_session_options options{};
  options.struct_size = sizeof options;
  options.log = [](void* user, int32_t level, const char* line) {
    static_cast<decltype(lines)*>(user)->emplace_back(level, line);
  };
  options.log_user = &lines;
  for (const auto& [level, wants] : {std::pair(SX_LOG_INFO, true), {SX_LOG_OFF, false}}) {
    lines.clear();
    options.log_level = level;
    sx_session_destroy(created(&options));
    EXPECT_EQ(!lines.empty(), wants);
    for (const auto& [told, line] : lines)
      EXPECT_EQ(told, SX_LOG_INFO) << line;
  }
}

}  // namespace
}  // namespace sardonyx
