#include "executor/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "ir/core/memory/block_allocator.h"
#include "ir/core/sanitizers.h"
#include "tests/support/allocation_count.h"
#include "tests/support/expect_error.h"

namespace sardonyx {
namespace {

Tensor steps_of_quarters(Shape shape) {
  Tensor tensor = Tensor::allocate(DType::kFloat, std::move(shape));
  float value = -2;
  for (float& element : tensor.mutable_values<float>())
    element = value += 0.25f;
  return tensor;
}

// y = relu(x + 1) * w, x: [batch, 4]
Model small_model() {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("batch"), 4})));
  const Val sum = e.call("Add", {x, e.scalar(DType::kFloat, 1)});
  const Val y = e.call("Mul", {e.call("Relu", {sum}), e.constant(steps_of_quarters({4}))});
  model.graph->rename(*GraphEmitter::unwrap(sum), "sum");
  model.graph->rename(*GraphEmitter::unwrap(y), "y");
  model.graph->add_output(GraphEmitter::unwrap(y));
  return model;
}

std::vector<float> expected_of(const Tensor& x) {
  std::vector<float> expected;
  const Tensor w = steps_of_quarters({4});
  for (size_t i = 0; i < x.values<float>().size(); ++i)
    expected.push_back(std::max(x.values<float>()[i] + 1, 0.0f) * w.values<float>()[i % 4]);
  return expected;
}

std::vector<float> floats(const Datum& datum) {
  const auto values = datum.tensor().values<float>();
  return {values.begin(), values.end()};
}

TEST(Session, runs_at_any_size_and_plans_each_once) {
  const Session session(small_model());
  for (const int64_t batch : {1, 7, 0, 1, 7}) {
    const Tensor x = steps_of_quarters({batch, 4});
    EXPECT_EQ(floats(session.run({{"x", x}})[0]), expected_of(x));
  }
  EXPECT_EQ(session.stats().plans, 3u);
}

TEST(Session, names_of_a_temporary_one_outlive_it) {
  std::vector<std::string> names;
  for (const ValueInfo& input : Session(small_model()).inputs())
    names.push_back(input.name);
  EXPECT_EQ(names, std::vector<std::string>{"x"});
  EXPECT_EQ(Session(small_model()).outputs()[0].name, "y");
  EXPECT_TRUE(Session(small_model()).optional_inputs().empty());
}

// What has no element is not computed, so the size of its other dims is nobody's concern.
TEST(Session, gives_empty_results_of_any_other_size) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{1, 1, Dim::symbol("n")})));
  const Val y = e.call("CenterCropPad", {x, e.int64s({8, int64_t{1} << 62, 0})});
  model.graph->add_output(GraphEmitter::unwrap(y));
  const Session session(std::move(model));
  const Datum result = session.run({{"x", steps_of_quarters({1, 1, 2})}})[0];
  EXPECT_EQ(result.tensor().shape(), (Shape{8, int64_t{1} << 62, 0}));
}

TEST(Session, joins_more_inputs_than_a_word_has_bits) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x =
      GraphEmitter::wrap(model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim(1)})));
  Vals parts;
  std::vector<float> expected;
  for (int i = 0; i < 70; ++i) {
    parts.push_back(i % 32 == 0 ? e.constant(Tensor::of<float>({float(i)}, {1})) : x);
    expected.push_back(i % 32 == 0 ? float(i) : -1);
  }
  const OpDef& concat = op_named("Concat");
  const Attrs attrs = Attrs::parse(*concat.attrs, {{"axis", int64_t{0}}});
  model.graph->add_output(GraphEmitter::unwrap(e.emit(concat, parts, attrs, 1)[0]));
  const Session session(std::move(model));
  EXPECT_EQ(floats(session.run({{"x", Tensor::of<float>({-1}, {1})}})[0]), expected);
}

TEST(Session, tells_its_log_what_it_does) {
  std::vector<std::string> lines;
  SessionOptions options;
  options.log_level = LogLevel::kInfo;
  options.log = [&](LogLevel level, std::string_view line) {
    EXPECT_EQ(level, LogLevel::kInfo);
    lines.emplace_back(line);
  };
  const Session session(small_model(), options);
  EXPECT_EQ(lines.size(), 2u);  // read, optimized
  for (const int64_t batch : {1, 7, 1})
    session.run({{"x", steps_of_quarters({batch, 4})}});
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[3].starts_with("planned the graph for x float[7, 4]: ")) << lines[3];
}

TEST(Session, keeps_no_more_plans_than_asked_for) {
  const Session session(small_model(), {.max_plans = 2});
  for (int64_t batch = 1; batch < 9; ++batch)
    session.run({{"x", steps_of_quarters({batch, 4})}});
  EXPECT_EQ(session.stats().plans, 2u);
}

TEST(Session, a_repeated_bound_run_allocates_nothing) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "watched blocks come from the heap";
  const Session session(small_model(), {.intra_op_threads = 1});
  const std::vector<Datum> in{steps_of_quarters({64, 4})};
  std::vector<OutputSlot> out(1);
  session.run_into(in, out);
  session.run_into(in, out);
  const void* made = out[0].value().tensor().raw();
  const AllocationCount count;
  for (int i = 0; i < 10; ++i)
    session.run_into(in, out);
  EXPECT_EQ(count.own(), 0u);
  EXPECT_EQ(out[0].value().tensor().raw(), made);
}

void expect_error(const Session& session, const NamedData& feeds, std::string_view part) {
  try {
    session.run(feeds);
    FAIL() << "expected an error with " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
  }
}

TEST(Session, wrong_inputs_are_named_and_leave_it_usable) {
  const Session session(small_model());
  expect_error(session, {}, "input x (float[batch, 4]) was not given");
  expect_error(session, {{"z", steps_of_quarters({1, 4})}}, "no input z; its inputs are x");
  expect_error(session, {{"x", steps_of_quarters({1, 5})}},
               "expected shape float[batch, 4], got float[1, 5]");
  expect_error(session, {{"x", Tensor::zeros(DType::kInt64, {1, 4})}}, "got int64[1, 4]");
  EXPECT_EQ(session.run({{"x", steps_of_quarters({2, 4})}}).size(), 1u);
}

TEST(Session, an_input_that_no_node_reads_may_be_left_out) {
  for (const int level : {0, 2}) {
    Model model;
    const Type type = Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), 4});
    model.graph->add_input("unread", type);
    GraphEmitter e(*model.graph);
    const Val x = GraphEmitter::wrap(model.graph->add_input("x", type));
    model.graph->add_output(GraphEmitter::unwrap(e.call("Relu", {x})));
    Value* passed = model.graph->add_input("passed", type);
    model.graph->add_output(passed);
    const Session session(std::move(model), {.optimization_level = level});
    for (const int64_t rows : {1, 3, 1}) {
      const Tensor given = steps_of_quarters({rows, 4});
      for (const bool all : {false, true, false}) {
        NamedData feeds{{"x", given}, {"passed", given}};
        if (all) feeds["unread"] = given;
        EXPECT_EQ(session.run(feeds)[1].tensor().shape(), (Shape{rows, 4}));
      }
    }
    const Tensor given = steps_of_quarters({1, 4});
    expect_error(session, {{"x", given}}, "input passed (float[n, 4]) was not given");
    expect_error(session, {{"passed", given}}, "input x (float[n, 4]) was not given");
    expect_error(session, {{"x", given}, {"passed", given}, {"unread", steps_of_quarters({4})}},
                 "input unread: expected shape");
  }
}

// Kernels take the bytes of all items for those of the first one's type.
TEST(Session, items_of_sequences_and_optionals_are_checked) {
  Model joins;
  GraphEmitter e(*joins.graph);
  const Type floats_type = Type::tensor(DType::kFloat);
  const Val s = GraphEmitter::wrap(joins.graph->add_input("s", Type::sequence(floats_type)));
  joins.graph->add_output(
      GraphEmitter::unwrap(e.call("ConcatFromSequence", {s}, {{"axis", int64_t{0}}})));
  const Session session(std::move(joins));
  const Tensor one = steps_of_quarters({1}), byte = Tensor::zeros(DType::kInt8, {1 << 20});
  expect_error(session, {{"s", Sequence{floats_type, {one, byte}}}},
               "input s: item 1 is int8[1048576], expected float");
  expect_error(session, {{"s", Sequence{floats_type, {Tensor::zeros(DType::kDouble, {1})}}}},
               "item 0 is double[1], expected float");
  EXPECT_EQ(session.run({{"s", Sequence{floats_type, {one, one}}}})[0].tensor().count(), 2);

  Model opens;
  GraphEmitter inner(*opens.graph);
  const Val o = GraphEmitter::wrap(opens.graph->add_input("o", Type::optional(floats_type)));
  opens.graph->add_output(GraphEmitter::unwrap(inner.call("OptionalGetElement", {o})));
  const Session optional(std::move(opens));
  expect_error(optional, {{"o", OptionalDatum{floats_type, {byte}}}}, "item 0 is int8[1048576]");
}

TEST(Session, wrong_counts_and_names_are_refused) {
  const Session session(small_model());
  const std::vector<Datum> two{steps_of_quarters({1, 4}), steps_of_quarters({1, 4})};
  expect_refusal(ErrorCode::kInvalidArgument, "expected 1 inputs, got 2",
                 [&] { session.run(std::span(two)); });
  std::vector<OutputSlot> results(2);
  expect_refusal(ErrorCode::kInvalidArgument, "expected 1 outputs, got 2",
                 [&] { session.run_into(std::span(two).first(1), results); });
  const std::string name = "nothing";
  expect_refusal(ErrorCode::kInvalidArgument, "the model has no value nothing", [&] {
    session.fetch({{"x", two[0]}}, {&name, 1});
  });
  expect_refusal(ErrorCode::kInvalidArgument, "provider odd: there is none of this name",
                 [] { Session(small_model(), {.providers = {"odd"}}); });
}

TEST(Session, a_symbol_names_one_size_where_loading_is_strict) {
  Model model;
  GraphEmitter e(*model.graph);
  Vals inputs;
  for (const char* name : {"a", "b"}) {
    const Type type = Type::tensor(DType::kFloat, Dims{2, Dim::symbol("n")});
    inputs.push_back(GraphEmitter::wrap(model.graph->add_input(name, type)));
  }
  model.graph->add_output(GraphEmitter::unwrap(e.call("Add", {inputs[0], inputs[1]})));
  SessionOptions strict;
  strict.load.strict = true;
  const Session session(std::move(model), strict);
  expect_error(session, {{"a", steps_of_quarters({2, 3})}, {"b", steps_of_quarters({2, 1})}},
               "input b: dim 1 is 1, but input a gave 3 for the same n");
  EXPECT_EQ(
      session.run({{"a", steps_of_quarters({2, 3})}, {"b", steps_of_quarters({2, 3})}}).size(), 1u);
}

TEST(Session, many_threads_get_what_one_gets) {
  const Session session(small_model(), {.intra_op_threads = 1});
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 50; ++i) {
        const Tensor x = steps_of_quarters({1 + (i + t) % 5, 4});
        wrong += floats(session.run({{"x", x}})[0]) != expected_of(x);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

// A service asks for statistics while other threads plan; ThreadSanitizer watches.
TEST(Session, reports_while_threads_run) {
  const Session session(small_model(), {.intra_op_threads = 1, .max_plans = 3});
  std::atomic<bool> are_done{false};
  std::jthread reporter([&] {
    while (!are_done) {
      const Session::Stats stats = session.stats();
      EXPECT_LE(stats.plans, 3u);
      EXPECT_LE(stats.memory_used, stats.memory_peak);
    }
  });
  for (int64_t i = 0; i < 100; ++i) {
    const Tensor x = steps_of_quarters({1 + i % 7, 4});
    EXPECT_EQ(floats(session.run({{"x", x}})[0]), expected_of(x));
  }
  are_done = true;
}

TEST(Session, fetches_values_that_passes_may_have_removed) {
  const Session session(small_model());
  const std::string name = "sum";
  const Tensor x = steps_of_quarters({1, 4});
  const auto sum = session.fetch({{"x", x}}, {&name, 1});
  ASSERT_EQ(sum.size(), 1u);
  EXPECT_EQ(floats(sum[0]), (std::vector<float>{-0.75f, -0.5f, -0.25f, 0}));
}

TEST(Session, a_memory_limit_is_an_error_that_leaves_it_usable) {
  const Session session(small_model(), {.memory_limit = 1 << 16});
  Tensor large = Tensor::zeros(DType::kFloat, {1 << 16, 4});
  try {
    session.run({{"x", large}});
    FAIL() << "expected the limit to be reached";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  }
  EXPECT_EQ(session.run({{"x", steps_of_quarters({2, 4})}}).size(), 1u);
}

// Counts the bytes that it has given.
class CountingSource : public MemorySource {
 public:
  void* allocate(size_t bytes) override {
    ++taken;
    in_use += bytes;
    return take_block(bytes);
  }
  void give_back(void* block, size_t bytes) override {
    in_use -= bytes;
    give_back_block(block, bytes);
  }
  std::atomic<size_t> in_use = 0, taken = 0;
};

TEST(Session, takes_all_memory_from_a_source_that_it_is_given) {
  const auto source = std::make_shared<CountingSource>();
  auto session = std::make_unique<Session>(small_model(), SessionOptions{.memory_source = source});
  const Tensor x = steps_of_quarters({2, 4});
  std::vector<Datum> outputs = session->run({{"x", x}});
  EXPECT_EQ(floats(outputs.front()), expected_of(x));
  EXPECT_GT(source->taken, 0u);
  session.reset();
  EXPECT_GE(source->in_use, outputs.front().tensor().bytes());
  outputs.clear();
  EXPECT_EQ(source->in_use, 0u);
  EXPECT_EQ(source.use_count(), 1);
}

TEST(Session, a_source_that_has_no_memory_left_is_an_error_that_leaves_it_usable) {
  struct Empty : CountingSource {
    void* allocate(size_t bytes) override {
      return bytes > 1 << 16 ? nullptr : CountingSource::allocate(bytes);
    }
  };
  const Session session(small_model(), {.memory_source = std::make_shared<Empty>()});
  const Tensor large = Tensor::zeros(DType::kFloat, {1 << 14, 4});
  EXPECT_THROW(session.run({{"x", large}}), Error);
  EXPECT_EQ(session.run({{"x", steps_of_quarters({2, 4})}}).size(), 1u);
}

// Indices of the positive elements, and those elements: shapes that only the run can tell.
TEST(Session, goes_on_where_shapes_depend_on_data) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("n")})));
  const Val places = e.call("NonZero", {e.call("Relu", {x})});
  const Val picked = e.call("Gather", {x, e.call("Squeeze", {places, e.int64s({0})})});
  const Val doubled = e.call("Mul", {picked, e.scalar(DType::kFloat, 2)});
  model.graph->add_output(GraphEmitter::unwrap(doubled));
  const Session session(std::move(model));
  for (const auto& given : std::vector<std::vector<float>>{{1, -1, 3}, {-1, -2}, {5}, {4, -1, 6}}) {
    std::vector<float> expected;
    for (const float value : given) {
      if (value > 0) expected.push_back(2 * value);
    }
    EXPECT_EQ(floats(session.run({{"x", Tensor::vector(given)}})[0]), expected);
  }
}

TEST(Session, plans_by_the_value_of_a_shape_input) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x =
      GraphEmitter::wrap(model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{6})));
  const Val shape =
      GraphEmitter::wrap(model.graph->add_input("shape", Type::tensor(DType::kInt64, Dims{2})));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Neg", {e.call("Reshape", {x, shape})})));
  const Session session(std::move(model));
  for (const Shape& wanted : {Shape{2, 3}, Shape{3, 2}, Shape{6, 1}, Shape{2, 3}}) {
    const NamedData feeds{{"x", steps_of_quarters({6})}, {"shape", Tensor::vector(wanted)}};
    EXPECT_EQ(session.run(feeds)[0].tensor().shape(), wanted);
  }
}

}  // namespace
}  // namespace sardonyx
