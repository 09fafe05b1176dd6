// What callers and exporters do against the letter of a model's inputs is taken as it is meant,
// with a warning once in a session.
#include <gtest/gtest.h>

#include <algorithm>

#include "executor/session.h"

namespace sardonyx {
namespace {

struct Logged {
  std::vector<std::string> lines;
  SessionOptions options(bool strict = false) {
    SessionOptions options;
    options.log_level = LogLevel::kWarning;
    options.log = [this](LogLevel, std::string_view line) { lines.emplace_back(line); };
    options.load.strict = strict;
    return options;
  }
  size_t count(std::string_view name) const {
    return static_cast<size_t>(std::ranges::count_if(
        lines, [&](const std::string& line) { return line.find(name) != std::string::npos; }));
  }
};

Tensor counted(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  float next = 0;
  for (float& value : tensor.mutable_values<float>())
    value = next++;
  return tensor;
}

// a, b of float[n, 2]: the sums of each, a joined with b, and a expanded to the shape of b.
Model two_inputs_of_one_symbol() {
  Model model;
  GraphEmitter e(*model.graph);
  const Type type = Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), 2});
  const Val a = GraphEmitter::wrap(model.graph->add_input("a", type));
  const Val b = GraphEmitter::wrap(model.graph->add_input("b", type));
  const auto give = [&](const Val& val) { model.graph->add_output(GraphEmitter::unwrap(val)); };
  give(e.call("ReduceSum", {a}, {{"keepdims", int64_t{0}}}));
  give(e.call("ReduceSum", {b}, {{"keepdims", int64_t{0}}}));
  give(e.call("Concat", {a, e.call("Relu", {b})}, {{"axis", int64_t{0}}}));
  give(e.call("Reshape", {b, e.call("Shape", {b})}));
  // Equal where the sizes are: inference may leave this Expand out.
  give(e.call("Expand", {a, e.call("Shape", {b})}));
  return model;
}

TEST(SessionLeniency, OneNameForTwoSizesBecomesTwoNames) {
  for (const int level : {0, 2}) {
    Logged logged;
    SessionOptions options = logged.options();
    options.optimization_level = level;
    const Session session(two_inputs_of_one_symbol(), options);
    for (int round = 0; round < 2; ++round) {
      for (const auto& [rows_a, rows_b] :
           std::vector<std::pair<int64_t, int64_t>>{{3, 3}, {1, 4}, {2, 2}, {1, 3}}) {
        const std::vector<Datum> out =
            session.run({{"a", counted({rows_a, 2})}, {"b", counted({rows_b, 2})}});
        const auto sum = [](int64_t rows) { return static_cast<float>(rows * (2 * rows - 1)); };
        EXPECT_EQ(out[0].tensor(), Tensor::scalar(sum(rows_a)));
        EXPECT_EQ(out[1].tensor(), Tensor::scalar(sum(rows_b)));
        EXPECT_EQ(out[2].tensor().shape(), (Shape{rows_a + rows_b, 2}));
        EXPECT_EQ(out[3].tensor(), counted({rows_b, 2}));
        EXPECT_EQ(out[4].tensor().shape(), (Shape{rows_b, 2}));
      }
    }
    EXPECT_EQ(logged.count("reused-dim-name"), 1u);
  }
}

TEST(SessionLeniency, SizesThatDoNotFitTogetherAreStillRefused) {
  Model model;
  GraphEmitter e(*model.graph);
  const Type type = Type::tensor(DType::kFloat, Dims{Dim::symbol("n")});
  const Val a = GraphEmitter::wrap(model.graph->add_input("a", type));
  const Val b = GraphEmitter::wrap(model.graph->add_input("b", type));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Add", {a, b})));
  Logged logged;
  const Session session(std::move(model), logged.options());
  EXPECT_THROW(session.run({{"a", counted({2})}, {"b", counted({3})}}), Error);
  EXPECT_EQ(session.run({{"a", counted({1})}, {"b", counted({3})}})[0].tensor(), counted({3}));
  EXPECT_EQ(session.run({{"a", counted({3})}, {"b", counted({3})}})[0].tensor().count(), 3);
}

TEST(SessionLeniency, AnyValueIsFetchedWhateverTheNames) {
  Logged logged;
  Model model = two_inputs_of_one_symbol();
  const std::vector<std::string> names{model.graph->outputs()[2]->name};
  const Session session(std::move(model), logged.options());
  const auto out = session.fetch({{"a", counted({1, 2})}, {"b", counted({4, 2})}}, names);
  EXPECT_EQ(out[0].tensor().shape(), (Shape{5, 2}));
}

TEST(SessionLeniency, OneElementStandsForAScalar) {
  const auto model = [] {
    Model model;
    GraphEmitter e(*model.graph);
    const Val a =
        GraphEmitter::wrap(model.graph->add_input("a", Type::tensor(DType::kFloat, Dims{})));
    model.graph->add_output(GraphEmitter::unwrap(e.call("Neg", {a})));
    return model;
  };
  Logged logged;
  const Session session(model(), logged.options());
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1, 1}}) {
    const Tensor given = Tensor::of<float>({5}, shape);
    EXPECT_EQ(session.run({{"a", given}})[0].tensor(), Tensor::scalar(-5.0f));
  }
  EXPECT_EQ(logged.count("one-element-scalar"), 1u);
  EXPECT_THROW(session.run({{"a", counted({2})}}), Error);
  EXPECT_THROW(session.run({{"a", Tensor::of<double>({5}, {1})}}), Error);
  const Session strict(model(), logged.options(/*strict=*/true));
  EXPECT_THROW(strict.run({{"a", counted({1})}}), Error);
  EXPECT_EQ(strict.run({{"a", Tensor::scalar(5.0f)}})[0].tensor(), Tensor::scalar(-5.0f));
}

TEST(SessionLeniency, StrictSessionsHoldInputsToTheirNames) {
  Logged logged;
  const Session session(two_inputs_of_one_symbol(), logged.options(/*strict=*/true));
  try {
    session.run({{"a", counted({1, 2})}, {"b", counted({4, 2})}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error.what(), "input b: dim 0 is 4, but input a gave 1 for the same n");
  }
  EXPECT_TRUE(logged.lines.empty());
}

}  // namespace
}  // namespace sardonyx
