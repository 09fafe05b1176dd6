// Values that are in each other: parts of an input, and inputs that are in a Concat's output.
#include <gtest/gtest.h>

#include <random>

#include "executor/plan/view_offsets.h"
#include "executor/session.h"
#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

Tensor counting(Shape shape, float start = -2) {
  Tensor tensor = Tensor::allocate(DType::kFloat, std::move(shape));
  for (float& element : tensor.mutable_values<float>())
    element = start += 0.25f;
  return tensor;
}

// A model under construction, with one input "x".
struct Built {
  Model model;
  GraphEmitter e{*model.graph};
  Val x;
  explicit Built(Shape shape)
      : x(GraphEmitter::wrap(
            model.graph->add_input("x", Type::tensor(DType::kFloat, to_dims(shape))))) {}

  Val relu(const Val& value) { return e.call("Relu", {value}); }
  Val slice(const Val& value, int64_t begin, int64_t end, int64_t axis) {
    return e.call("Slice", {value, e.int64s({begin}), e.int64s({end}), e.int64s({axis})});
  }
  Val concat(std::vector<Val> parts, int64_t axis) {
    return e.call_many("Concat", parts, {{"axis", axis}}, 1)[0];
  }
  void output(const Val& value) { model.graph->add_output(GraphEmitter::unwrap(value)); }
};

// Runs twice with buffers of the caller's and compares with the reference; gives the plan's text.
std::string run_and_compare(Built& built, const Tensor& x) {
  const std::vector<Datum> inputs{x};
  const std::vector<Datum> expected = evaluate(*built.model.graph, inputs);
  const Session session(std::move(built.model), {.optimization_level = 0});
  std::vector<OutputSlot> bound;
  for (const Datum& datum : expected)
    bound.push_back(OutputSlot::bound(Tensor::zeros(DType::kFloat, datum.tensor().shape())));
  for (int i = 0; i < 2; ++i) {
    session.run_into(inputs, bound);
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(bound[k].value().tensor().to_doubles(), expected[k].tensor().to_doubles())
          << "output " << k << ", run " << i << '\n'
          << session.plan_text(inputs);
      EXPECT_TRUE(bound[k].is_written()) << "output " << k;
    }
  }
  return session.plan_text(inputs);
}

// Steps whose line has this part; "\nSlice " is one of that op.
size_t count_of(const std::string& plan, const std::string& part) {
  const std::string text = '\n' + plan;
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(Views, parts_along_the_outermost_dim_need_no_step) {
  Built built({1, 6, 4});
  const Vals halves = built.e.call_many("Split", {&built.x, 1}, {{"axis", int64_t{1}}}, 2);
  const Val row = built.e.call("Gather", {built.x, built.e.int64s({-2})}, {{"axis", int64_t{1}}});
  built.output(built.relu(built.slice(halves[1], 1, 3, 1)));
  built.output(built.relu(row));
  built.output(built.relu(built.slice(built.slice(built.x, 2, 3, 1), 1, 3, 2)));
  const std::string plan = run_and_compare(built, counting({1, 6, 4}));
  for (const char* op : {"\nSplit", "\nSlice", "\nGather"})
    EXPECT_EQ(count_of(plan, op), 0u) << plan;
}

TEST(Views, scattered_and_stepped_parts_are_copied) {
  Built built({4, 6});
  built.output(built.relu(built.slice(built.x, 1, 3, 1)));
  const Val stepped = built.e.call("Slice", {built.x, built.e.int64s({3}), built.e.int64s({-9}),
                                             built.e.int64s({0}), built.e.int64s({-2})});
  built.output(built.relu(stepped));
  EXPECT_EQ(count_of(run_and_compare(built, counting({4, 6})), "\nSlice "), 2u);
}

TEST(Views, a_part_that_is_still_read_is_not_written_over) {
  Built built({4, 3});
  const Val whole = built.relu(built.x);
  const Val part = built.slice(whole, 1, 3, 0);
  const Val changed = built.e.call("Neg", {part});
  built.output(built.e.call("Add", {changed, part}));
  built.output(built.e.call("Mul", {whole, whole}));
  run_and_compare(built, counting({4, 3}));
}

TEST(Views, a_part_that_leaves_the_graph_is_a_copy) {
  Built built({4, 3});
  const Val whole = built.relu(built.x);
  built.output(built.slice(whole, 2, 4, 0));
  built.output(built.x);
  run_and_compare(built, counting({4, 3}));
}

TEST(Views, inputs_of_a_concat_are_computed_in_its_output) {
  Built built({2, 3});
  const Val a = built.relu(built.x), b = built.e.call("Neg", {built.x});
  const Val joined = built.concat({a, b, a, built.x}, 0);
  built.output(built.relu(joined));
  built.output(built.e.call("Abs", {a}));
  const std::string plan = run_and_compare(built, counting({2, 3}));
  EXPECT_EQ(count_of(plan, ": copy;"), 2u) << plan;  // the second `a`, and the graph's input
}

TEST(Views, a_concat_of_concats_fills_one_buffer) {
  Built built({1, 2, 3});
  Val all = built.relu(built.x);
  for (int i = 0; i < 4; ++i)
    all = built.concat({all, built.e.call("Neg", {built.slice(all, 0, 2, 1)})}, 1);
  built.output(built.relu(all));
  const std::string plan = run_and_compare(built, counting({1, 2, 3}));
  EXPECT_EQ(count_of(plan, "\nConcat"), 0u) << plan;
}

TEST(Views, a_concat_that_leaves_the_graph_is_written_into_the_callers_buffer) {
  Built built({2, 3});
  const Val a = built.relu(built.x), b = built.e.call("Neg", {a});
  built.output(built.concat({a, b}, 0));
  built.output(b);  // must not be in the other output
  run_and_compare(built, counting({2, 3}));
}

// Random graphs of these ops against the reference.
TEST(Views, random_graphs_agree_with_the_reference) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t limit) { return static_cast<size_t>(random()) % limit; };
    Built built({3, 2});
    std::vector<Val> values{built.x};
    for (int i = 0; i < 12; ++i) {
      const Val a = values[below(values.size())], b = values[below(values.size())];
      const int64_t rows = built.e.type(a).known_shape()->at(0);
      switch (below(5)) {
        case 0:
          values.push_back(built.relu(a));
          break;
        case 1:
          values.push_back(built.e.call("Neg", {a}));
          break;
        case 2:
          if (rows <= 24) values.push_back(built.concat({a, b}, 0));
          break;
        case 3:
          values.push_back(
              built.slice(a, static_cast<int64_t>(below(static_cast<size_t>(rows))), rows, 0));
          break;
        default:
          values.push_back(built.e.call("Add", {a, built.slice(b, 0, 1, 0)}));
      }
    }
    for (int i = 0; i < 3; ++i)
      built.output(built.e.call("Abs", {values[below(values.size())]}));
    built.output(values.back());
    SCOPED_TRACE(seed);
    run_and_compare(built, counting({3, 2}));
  }
}

}  // namespace
}  // namespace sardonyx
