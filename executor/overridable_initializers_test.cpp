// Initializers that are inputs as well are constants, until somebody gives others.
#include "executor/overridable_initializers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "executor/session.h"
#include "ir/core/memory/guard_pages.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "onnx_io/save.h"
#include "sardonyx/sardonyx.h"
#include "tests/support/allocation_count.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kRows = 24, kWidth = 160;

Tensor random_input(Shape shape, uint64_t seed) {
  return drawn_tensor(DType::kFloat, shape, -1, 1, seed);
}

struct BuiltModel {
  Model model;
  GraphEmitter e{*model.graph};
  BuiltModel() { model.ir_version = 8; }
  Val input(const char* name, DType dtype, const Dims& dims) {
    return GraphEmitter::wrap(model.graph->add_input(name, Type::tensor(dtype, dims)));
  }
  Val with_default(const char* name, const Tensor& value, const Dims& dims) {
    const Val val = input(name, value.dtype(), dims);
    GraphEmitter::unwrap(val)->default_value = std::make_shared<const Tensor>(value);
    return val;
  }
  Val with_default(const char* name, const Tensor& value) {
    return with_default(name, value, to_dims(value.shape()));
  }
  void output(const Val& val, const char* name) {
    model.graph->rename(*GraphEmitter::unwrap(val), name);
    model.graph->add_output(GraphEmitter::unwrap(val));
  }
  std::string bytes() const { return model_bytes(model); }
};

Session session_of(const std::string& bytes, SessionOptions options = {}) {
  return Session(std::as_bytes(std::span(bytes)), std::move(options));
}

// y = BatchNorm(x) of 32 channels, whose parameters have defaults.
void add_normalized(BuiltModel& built, const Val& x) {
  std::vector<Val> norm{x};
  for (const char* name : {"scale", "shift", "mean"})
    norm.push_back(built.with_default(name, random_input({32}, 4)));
  norm.push_back(built.with_default("var", Tensor::of(std::vector<float>(32, 1.5f), {32})));
  const OpDef& op = op_named("BatchNormalization");
  built.output(built.e.emit(op, norm, Attrs::parse(*op.attrs, {}), 1)[0], "y");
}

// y = BatchNorm(Conv(p, k)) for images, z = Relu(x transpose(w) + b) reshaped to `target`. All
// but x and p have defaults; b may be given with one row or as many as x has.
std::string network_with_defaults() {
  BuiltModel built;
  GraphEmitter& e = built.e;
  const Val x = built.input("x", DType::kFloat, Dims{Dim::symbol("n"), kWidth});
  const Val p = built.input("p", DType::kFloat, Dims{1, 16, Dim::symbol("h"), 9});
  const Val w = built.with_default("w", random_input({kWidth, kWidth}, 1));
  const Val b =
      built.with_default("b", random_input({1, kWidth}, 2), Dims{Dim::symbol("m"), kWidth});
  const Val target = built.with_default("target", Tensor::vector<int64_t>({-1, 8, kWidth / 8}));
  const Val product =
      e.call("MatMul", {x, e.call("Transpose", {w}, {{"perm", std::vector<int64_t>{1, 0}}})});
  const Val z = e.call("Relu", {e.call("Add", {product, b})});
  built.output(e.call("Reshape", {z, target}), "z");
  const Val k = built.with_default("k", random_input({32, 16, 3, 3}, 3));
  add_normalized(built, e.call("Conv", {p, k}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
  return built.bytes();
}

// What a run is given; the optional inputs of the network are drawn for a choice of them.
NamedData drawn_request(std::mt19937& random) {
  const auto below = [&](int64_t bound) { return static_cast<int64_t>(random() % bound); };
  const int64_t rows = 1 + below(2) * (kRows - 1);
  NamedData request{{"x", random_input({rows, kWidth}, random())},
                    {"p", random_input({1, 16, 3 + below(2), 9}, random())}};
  if (below(2) == 0) return request;
  if (below(2)) request["w"] = random_input({kWidth, kWidth}, random());
  if (below(2)) request["b"] = random_input({below(2) ? rows : 1, kWidth}, random());
  if (below(3) == 0) request["target"] = Tensor::vector<int64_t>({-1, 4, kWidth / 4});
  if (below(2)) request["k"] = random_input({32, 16, 3, 3}, random());
  if (below(3) == 0) request["mean"] = random_input({32}, random());
  return request;
}

void expect_same(const std::vector<Datum>& got, const std::vector<Datum>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i].tensor(), expected[i].tensor()) << "output " << i;
}

// A grouped convolution, of whose weights a normalization is made part; both have defaults.
std::string grouped_network() {
  BuiltModel built;
  GraphEmitter& e = built.e;
  const Dims dims{Dim::symbol("n"), 20, Dim::symbol("h"), Dim::symbol("w")};
  const Val p = built.input("p", DType::kFloat, dims);
  const Val k = built.with_default("k", random_input({32, 5, 3, 3}, 3));
  add_normalized(built, e.call("Conv", {p, k}, {{"group", int64_t{4}}}));
  return built.bytes();
}

// Weights that passes have made are packed and let go by one plan, and read as they are by another.
TEST(Defaults, that_a_run_replaced_are_there_for_later_sizes) {
  const std::string bytes = grouped_network();
  const Session session = session_of(bytes);
  for (const int64_t side : {4, 26, 18, 9, 34, 12}) {
    const Tensor p = random_input({1 + side % 3, 20, side, side + 2}, 5);
    expect_same(session.run({{"p", p}}), session_of(bytes).run({{"p", p}}));
    const NamedData given{{"p", p}, {"k", random_input({32, 5, 3, 3}, 6)}};
    expect_same(session.run(given), session_of(bytes).run(given));
  }
}

TEST(Defaults, are_constants_of_the_plan) {
  const std::string bytes = network_with_defaults();
  const Session session = session_of(bytes);
  const std::vector<Datum> inputs{random_input({kRows, kWidth}, 1), random_input({1, 16, 9, 9}, 2)};
  const std::string folded = session.plan_text(inputs);
  EXPECT_THAT(folded, Not(HasSubstr("BatchNormalization")));
  EXPECT_THAT(folded, Not(HasSubstr("Transpose")));
  EXPECT_THAT(folded, Not(HasSubstr("data are known")));
  EXPECT_GE(session.stats().packed_weight_bytes, kWidth * kWidth * sizeof(float));
  EXPECT_EQ(session.graph().inputs().size(), 2u);
  EXPECT_EQ(session.inputs().size(), 2u);
  ASSERT_EQ(session.optional_inputs().size(), 8u);
  EXPECT_EQ(session.optional_inputs()[1].type.text(), "float[m, 160]");
  // Given: what depends on them is computed in the run, and nothing else.
  std::vector<Datum> given = inputs;
  given.resize(10);
  given[8] = random_input({32}, 5);  // mean
  EXPECT_THAT(session.plan_text(given), HasSubstr("BatchNormalization"));
  EXPECT_THAT(session.plan_text(given), Not(HasSubstr("Transpose")));
  EXPECT_EQ(session.plan_text(inputs), folded);
  EXPECT_GT(session.memory_plan(given).arena_bytes, 0u);
}

TEST(Defaults, alternate_with_what_is_given_bit_by_bit) {
  const std::string bytes = network_with_defaults();
  for (const int level : {0, 2}) {
    const SessionOptions options{.intra_op_threads = 1, .optimization_level = level};
    std::mt19937 random(7);
    std::vector<NamedData> requests;
    std::vector<std::vector<Datum>> expected;
    for (int i = 0; i < 16; ++i) {
      requests.push_back(drawn_request(random));
      expected.push_back(session_of(bytes, options).run(requests.back()));
    }
    for (const size_t max_plans : {1u, 32u}) {
      SessionOptions own = options;
      own.max_plans = max_plans;
      const Session session = session_of(bytes, own);
      for (int i = 0; i < 64; ++i) {
        const size_t chosen = random() % requests.size();
        expect_same(session.run(requests[chosen]), expected[chosen]);
      }
    }
  }
}

TEST(Defaults, agree_with_the_meaning_of_the_ops) {
  const std::string bytes = network_with_defaults();
  const Model model = load_model(std::as_bytes(std::span(bytes)));
  const Session session = session_of(bytes);
  std::mt19937 random(11);
  for (int i = 0; i < 12; ++i) {
    const NamedData request = drawn_request(random);
    std::vector<Datum> inputs;
    for (const Value* input : model.graph->inputs()) {
      const auto given = request.find(input->name);
      inputs.push_back(given != request.end() ? given->second : Datum(*input->default_value));
    }
    const std::vector<Datum> expected = evaluate(*model.graph, inputs), got = session.run(request);
    for (size_t k = 0; k < got.size(); ++k) {
      ASSERT_EQ(got[k].tensor().shape(), expected[k].tensor().shape());
      for (int64_t at = 0; at < got[k].tensor().count(); ++at) {
        ASSERT_NEAR(got[k].tensor().values<float>()[at], expected[k].tensor().values<float>()[at],
                    2e-4);
      }
    }
  }
}

TEST(Defaults, serve_many_threads_that_give_different_ones) {
  const std::string bytes = network_with_defaults();
  const SessionOptions options{.intra_op_threads = 1, .max_plans = 4};
  const Session session = session_of(bytes, options);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<NamedData> requests;
      std::vector<std::vector<Datum>> expected;
      for (int i = 0; i < 4; ++i) {
        requests.push_back(drawn_request(random));
        expected.push_back(session_of(bytes, options).run(requests.back()));
      }
      for (int i = 0; i < 24; ++i) {
        const size_t chosen = random() % 4;
        const std::vector<Datum> got = session.run(requests[chosen]);
        const bool is_right = got[0].tensor() == expected[chosen][0].tensor() &&
                              got[1].tensor() == expected[chosen][1].tensor();
        wrong[t] += !is_right;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(Defaults, make_no_memory_in_repeated_runs_with_some_given) {
  if (memory_guard() != MemoryGuard::kNone) GTEST_SKIP() << "gaps between values are kept in lists";
  const Session session = session_of(network_with_defaults(), {.intra_op_threads = 1});
  std::vector<Datum> plain{random_input({kRows, kWidth}, 1), random_input({1, 16, 9, 9}, 2)},
      given = plain;
  given.resize(10);
  given[3] = random_input({1, kWidth}, 3);
  std::vector<OutputSlot> slots(2), others(2);
  for (int i = 0; i < 3; ++i) {
    session.run_into(plain, slots);
    session.run_into(given, others);
  }
  const AllocationCount count;
  session.run_into(plain, slots);
  session.run_into(given, others);
  EXPECT_EQ(count.own(), 0u);
}

TEST(Defaults, are_chosen_with_outputs_fetched_and_prepared) {
  const std::string bytes = network_with_defaults();
  const Session session = session_of(bytes);
  std::vector<Datum> given{random_input({kRows, kWidth}, 1), random_input({1, 16, 9, 9}, 2)};
  given.resize(10);
  given[3] = random_input({1, kWidth}, 3);
  const std::vector<Datum> all = session.run(given);
  std::vector<OutputSlot> slots(2);
  const std::vector<size_t> z = {0};
  session.run_into(given, slots, {.outputs = z});
  EXPECT_EQ(slots[0].value().tensor(), all[0].tensor());
  const std::vector<std::string> names{"y", "b", "z"};
  const std::vector<Datum> fetched = session.fetch(given, names);
  EXPECT_EQ(fetched[1].tensor(), given[3].tensor());
  EXPECT_EQ(fetched[2].tensor().shape(), all[0].tensor().shape());
  const Session fresh = session_of(bytes);
  std::vector<std::optional<Shape>> shapes(10);
  shapes[0] = Shape{kRows, kWidth};
  shapes[1] = Shape{1, 16, 9, 9};
  fresh.prepare(shapes);
  EXPECT_EQ(fresh.stats().plans, 1u);
  shapes[3] = Shape{kRows, kWidth};
  fresh.prepare(shapes);
  EXPECT_EQ(fresh.stats().plans, 2u);
  given[3] = random_input({kRows, kWidth}, 4);
  fresh.run(given);
  EXPECT_EQ(fresh.stats().plans, 2u);
}

TEST(Defaults, must_be_given_with_types_and_shapes_that_the_model_allows) {
  const Session session = session_of(network_with_defaults());
  NamedData request{{"x", random_input({2, kWidth}, 1)}, {"p", random_input({1, 16, 9, 9}, 2)}};
  const std::vector<Datum> expected = session.run(request);
  const std::vector<std::pair<const char*, Tensor>> wrong{
      {"w", random_input({kWidth, 3}, 1)},           {"k", random_input({32, 16, 3}, 1)},
      {"mean", Tensor::zeros(DType::kDouble, {32})}, {"target", Tensor::vector<int64_t>({7, 7, 7})},
      {"b", random_input({3, kWidth}, 1)},
  };
  for (const auto& [name, value] : wrong) {
    NamedData bad = request;
    bad[name] = value;
    try {
      session.run(bad);
      ADD_FAILURE() << name << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    }
    expect_same(session.run(request), expected);
  }
}

// A default that stands for a shape alone, as of weights that each run is to give: the model loads,
// and what is missing is told where nothing is given.
TEST(Defaults, that_nodes_cannot_take_stay_inputs) {
  BuiltModel built;
  const Val x = built.input("x", DType::kFloat, Dims{Dim::symbol("n"), 4});
  const Val target =
      built.with_default("target", Tensor::vector<int64_t>({0, 3}), Dims{Dim::symbol("r")});
  built.output(built.e.call("Reshape", {x, target}), "y");
  const Session session = session_of(built.bytes());
  const Tensor four = random_input({2, 4}, 1);
  EXPECT_THROW(session.run({{"x", four}}), Error);
  for (const Shape& shape : {Shape{8}, Shape{2, 4}, Shape{1, 2, 4}}) {
    const Tensor wanted = Tensor::vector<int64_t>(std::vector<int64_t>(shape.begin(), shape.end()));
    EXPECT_EQ(session.run({{"x", four}, {"target", wanted}})[0].tensor(), four.reshaped(shape));
  }
  EXPECT_THROW(session.run({{"x", four}}), Error);
}

// The file declares what one of the defaults contradicts.
TEST(Defaults, count_more_than_declared_shapes) {
  BuiltModel built;
  const Val x = built.input("x", DType::kFloat, Dims{2, 6});
  const Val target =
      built.with_default("target", Tensor::vector<int64_t>({3, 4}), Dims{Dim::symbol("r")});
  const Val y = built.e.call("Reshape", {x, target});
  GraphEmitter::unwrap(y)->type = Type::tensor(DType::kFloat, Dims{4, 3});
  built.output(built.e.call("Neg", {y}), "y");
  std::vector<std::string> lines;
  SessionOptions options;
  options.log_level = LogLevel::kWarning;
  options.log = [&](LogLevel, std::string_view line) { lines.emplace_back(line); };
  const Session session(std::move(built.model), options);
  EXPECT_EQ(session.run({{"x", random_input({2, 6}, 1)}})[0].tensor().shape(), (Shape{3, 4}));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("declared-shape"));
}

// The symbols of a file whose constants are not known yet must not outlive what they turn out to
// be.
TEST(Defaults, leave_no_symbol_of_the_time_before_them) {
  BuiltModel built;
  const Val places = built.e.call("NonZero", {built.input("x", DType::kFloat, {2, 3})});
  const Val target = built.with_default("target", Tensor::vector<int64_t>({0, 0}));
  built.output(places, "places");
  built.output(built.e.call("Reshape", {places, target}), "y");
  Graph& graph = *built.model.graph;
  infer_types(graph);
  const auto are_of_one_size = [&] {
    return graph.outputs()[0]->type.shape->back() == graph.outputs()[1]->type.shape->back();
  };
  EXPECT_FALSE(are_of_one_size());
  defaults_to_constants(
      graph, [](const std::string&) { return false; },
      [](const Error& contradiction) { ADD_FAILURE() << contradiction.what(); });
  EXPECT_TRUE(are_of_one_size()) << graph.outputs()[1]->type;
}

// One name for the size of a default and of an input that is given with another size.
TEST(Defaults, may_share_a_symbol_with_inputs_of_other_sizes) {
  BuiltModel built;
  const Dims dims{Dim::symbol("n"), 2};
  const Val x = built.input("x", DType::kFloat, dims);
  const Val w = built.with_default("w", random_input({3, 2}, 1), dims);
  built.output(built.e.call("Add", {x, w}), "sum");
  built.output(built.e.call("Concat", {built.e.call("Neg", {x}), w}, {{"axis", int64_t{0}}}),
               "both");
  const Session session(std::move(built.model), {.log_level = LogLevel::kOff});
  for (const int64_t rows : {3, 1, 3, 1}) {
    const auto out = session.run({{"x", random_input({rows, 2}, 4)}});
    EXPECT_EQ(out[0].tensor().shape(), (Shape{3, 2}));
    EXPECT_EQ(out[1].tensor().shape(), (Shape{rows + 3, 2}));
    const auto given =
        session.run({{"x", random_input({rows, 2}, 4)}, {"w", random_input({1, 2}, 5)}});
    EXPECT_EQ(given[1].tensor().shape(), (Shape{rows + 1, 2}));
  }
}

GraphPtr branch(const Type& captured, std::string_view op) {
  auto branch = std::make_shared<Graph>();
  const std::vector<Value*> inputs(op == "Add" ? 2 : 1, branch->add_capture("w", captured));
  branch->add_output(branch->append(op_named(op), Attrs(), inputs, {"y"})->outputs[0]);
  return branch;
}

// Defaults that branches see, that decide on branches, and that are given out.
TEST(Defaults, reach_into_branches_and_out_of_the_graph) {
  BuiltModel built;
  const Val yes = built.with_default("c", Tensor::scalar(true));
  const Val w = built.with_default("w", random_input({2, 3}, 7));
  const Val x = built.input("x", DType::kFloat, Dims{2, 3});
  const Type captured = GraphEmitter::unwrap(w)->type;
  const OpDef& op = op_named("If");
  const Attrs attrs = Attrs::parse(*op.attrs, {{"then_branch", branch(captured, "Neg")},
                                               {"else_branch", branch(captured, "Add")}});
  built.output(built.e.call("Mul", {built.e.emit(op, std::vector<Val>{yes, w}, attrs, 1, 1)[0], x}),
               "y");
  built.output(w, "w");
  const std::string bytes = built.bytes();
  const Session session = session_of(bytes);
  const std::vector<NamedData> requests{
      {},
      {{"c", Tensor::scalar(false)}},
      {{"w", random_input({2, 3}, 8)}},
      {{"c", Tensor::scalar(false)}, {"w", random_input({2, 3}, 9)}},
  };
  std::vector<OutputSlot> slots(2);
  for (int round = 0; round < 3; ++round) {
    for (NamedData request : requests) {
      request["x"] = random_input({2, 3}, 10);
      const std::vector<Datum> expected = session_of(bytes).run(request);
      expect_same(session.run(request), expected);
      std::vector<Datum> ordered{request["x"], Datum(), Datum()};
      if (request.contains("c")) ordered[1] = request["c"];
      if (request.contains("w")) ordered[2] = request["w"];
      session.run_into(ordered, slots);
      expect_same({slots[0].value(), slots[1].value()}, expected);
    }
  }
}

// Weights of a file are let go when they are packed, defaults like others, and come back for runs
// that give some.
TEST(Defaults, of_a_file_are_let_go_and_come_back) {
  const auto build = [](bool are_inputs) {
    BuiltModel built;
    const Val x = built.input("x", DType::kFloat, Dims{64, 256});
    const Tensor weights = random_input({256, 256}, 1);
    const Val w = are_inputs ? built.with_default("w", weights) : built.e.constant(weights);
    const Val v = are_inputs ? built.with_default("v", random_input({1, 256}, 2))
                             : built.e.constant(random_input({1, 256}, 2));
    built.output(built.e.call("Add", {built.e.call("MatMul", {x, w}), v}), "y");
    return std::move(built.model);
  };
  const TemporaryFolder folder;
  save_model(build(true), folder.path() / "inputs.onnx");
  save_model(build(false), folder.path() / "constants.onnx");
  usleep(50'000);  // a file that was just written has no identity
  const Session session(folder.path() / "inputs.onnx"), whole(folder.path() / "constants.onnx");
  const Tensor x = random_input({64, 256}, 3);
  EXPECT_EQ(session.run({{"x", x}})[0].tensor(), whole.run({{"x", x}})[0].tensor());
  EXPECT_LE(session.stats().memory_used, whole.stats().memory_used + 2 * 1024);
  const Tensor zero = Tensor::zeros(DType::kFloat, {1, 256});
  const Tensor without = session.run({{"x", x}, {"v", zero}})[0].tensor();
  const Tensor other = session.run({{"x", x}, {"w", random_input({256, 256}, 9)}})[0].tensor();
  EXPECT_NE(without, other);
  EXPECT_EQ(
      session.run({{"x", x}, {"w", random_input({256, 256}, 1)}, {"v", zero}})[0].tensor().shape(),
      without.shape());
  EXPECT_EQ(session.run({{"x", x}})[0].tensor(), whole.run({{"x", x}})[0].tensor());
}

TEST(Defaults, count_against_the_memory_limit) {
  if (memory_guard() != MemoryGuard::kNone) GTEST_SKIP() << "where memory is watched none is kept";
  const std::string bytes = network_with_defaults();
  const Session roomy = session_of(bytes);
  NamedData request{{"x", random_input({kRows, kWidth}, 1)}, {"p", random_input({1, 16, 9, 9}, 2)}};
  roomy.run(request);
  const size_t enough = roomy.stats().memory_peak;
  request["mean"] = random_input({32}, 1);
  request["w"] = random_input({kWidth, kWidth}, 1);
  // As much as runs without them take, and little more.
  const Session session = session_of(bytes, {.memory_limit = enough + 4096});
  for (int i = 0; i < 3; ++i) {
    try {
      session.run(request);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted) << error.what();
    }
    EXPECT_LE(session.stats().memory_used, enough + 4096);
    session.run({{"x", request["x"]}, {"p", request["p"]}});
  }
}

// Through C, with one binding.
TEST(Defaults, are_given_and_taken_back_through_c) {
  const std::string bytes = network_with_defaults();
  sx_session* session = nullptr;
  ASSERT_EQ(sx_session_create_from_bytes(bytes.data(), bytes.size(), nullptr, &session), SX_OK);
  sx_binding* binding = nullptr;
  ASSERT_EQ(sx_binding_create(session, &binding), SX_OK);
  const auto set = [&](size_t index, const Tensor& tensor) {
    ASSERT_EQ(sx_binding_set_input(binding, index, static_cast<sx_dtype>(tensor.dtype()),
                                   tensor.shape().data(), tensor.shape().size(), tensor.raw(),
                                   tensor.bytes()),
              SX_OK)
        << sx_last_error();
  };
  const Tensor x = random_input({kRows, kWidth}, 1), p = random_input({1, 16, 9, 9}, 2);
  set(0, x);
  set(1, p);
  const auto expect = [&](const NamedData& request) {
    ASSERT_EQ(sx_binding_run(binding, nullptr), SX_OK) << sx_last_error();
    const std::vector<Datum> expected = session_of(bytes).run(request);
    for (size_t i = 0; i < 2; ++i) {
      sx_tensor tensor{};
      tensor.struct_size = sizeof tensor;
      ASSERT_EQ(sx_binding_output(binding, i, &tensor), SX_OK);
      const Tensor& wanted = expected[i].tensor();
      ASSERT_EQ(tensor.size, wanted.bytes());
      EXPECT_EQ(std::memcmp(tensor.data, wanted.raw(), wanted.bytes()), 0) << "output " << i;
    }
  };
  const NamedData plain{{"x", x}, {"p", p}};
  expect(plain);
  for (uint64_t seed = 1; seed < 4; ++seed) {
    const Tensor b = random_input({seed == 2 ? kRows : 1, kWidth}, seed),
                 k = random_input({32, 16, 3, 3}, seed);
    NamedData given = plain;
    set(3, b);
    given["b"] = b;
    expect(given);
    set(5, k);
    given["k"] = k;
    expect(given);
    ASSERT_EQ(sx_binding_clear_input(binding, 3), SX_OK);
    given.erase("b");
    expect(given);
    ASSERT_EQ(sx_binding_clear_input(binding, 5), SX_OK);
    expect(plain);
  }
  sx_binding_destroy(binding);
  sx_session_destroy(session);
}

}  // namespace
}  // namespace sardonyx
