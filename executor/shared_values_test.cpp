// Sequences, optionals and maps that runs give out: their memory serves again once nobody holds
// them, and not before.
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "executor/session.h"
#include "ir/core/sanitizers.h"
#include "ir/reference_evaluator.h"
#include "ir/value_compare.h"
#include "tests/support/allocation_count.h"

namespace sardonyx {
namespace {

// [i, cond, sequence, v] -> [cond, sequence with v, v + v]
GraphPtr growing_body() {
  auto body = std::make_shared<Graph>();
  body->add_input("i", Type::tensor(DType::kInt64, Dims{}));
  Value* condition = body->add_input("cond", Type::tensor(DType::kBool, Dims{}));
  Value* sequence = body->add_input("sequence", Type::sequence(Type::tensor(DType::kFloat)));
  Value* v = body->add_input("v", Type::tensor(DType::kFloat));
  body->add_output(condition);
  for (const std::string_view op : {"SequenceInsert", "Add"}) {
    const std::vector<Value*> inputs{op == "Add" ? v : sequence, v};
    body->add_output(body->append(op_named(op), Attrs(), inputs, {""})->outputs[0]);
  }
  return body;
}

// Of x [n, 2]: its rows as a sequence; the same after a loop has grown it, and all of that in one
// tensor; an optional; a map of each row.
Model model_of_all_kinds() {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), 2})));
  const Val rows = e.call("SplitToSequence", {x});
  const OpDef& loop = op_named("Loop");
  const Vals state{e.constant(Tensor::scalar<int64_t>(3)), Val(), rows, x};
  const Val grown =
      e.emit(loop, state, Attrs::parse(*loop.attrs, {{"body", growing_body()}}), 2)[0];
  const Vals outputs{
      rows, grown, e.call("ConcatFromSequence", {grown}, {{"axis", int64_t{0}}}),
      e.call("Optional", {e.call("Relu", {x})}),
      e.call("ai.onnx.ml::ZipMap", {x}, {{"classlabels_int64s", std::vector<int64_t>{7, 4}}})};
  for (const Val& output : outputs)
    model.graph->add_output(GraphEmitter::unwrap(output));
  return model;
}

Datum input_of(int64_t rows, float begin) {
  Tensor x = Tensor::allocate(DType::kFloat, {rows, 2});
  for (float& element : x.mutable_values<float>())
    element = begin += 0.5f;
  return x;
}

std::vector<Datum> values_of(std::span<const OutputSlot> outputs) {
  std::vector<Datum> values;
  for (const OutputSlot& output : outputs)
    values.push_back(output.value());
  return values;
}

void expect_same(std::span<const Datum> got, std::span<const Datum> expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const Comparison same = compare(got[i], expected[i], {0, 0, 0});
    EXPECT_TRUE(same) << "output " << i << ": " << same.reason;
  }
}

TEST(SharedValues, of_a_repeated_run_are_made_in_the_memory_of_the_last_ones) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "watched blocks come from the heap";
  const Model model = model_of_all_kinds();
  const std::vector<Datum> inputs{input_of(4, -3)};
  const std::vector<Datum> expected = evaluate(*model.graph, inputs);
  const Session session(model_of_all_kinds(), {.intra_op_threads = 1});
  std::vector<OutputSlot> outputs(expected.size());
  for (int i = 0; i < 4; ++i)
    session.run_into(inputs, outputs);
  const AllocationCount count;
  session.run_into(inputs, outputs);
  EXPECT_EQ(count.own(), 0u);
  expect_same(values_of(outputs), expected);
}

TEST(SharedValues, keep_what_they_are_as_long_as_they_are_held) {
  const Model model = model_of_all_kinds();
  const Session session(model_of_all_kinds());
  std::vector<std::vector<Datum>> inputs, held;
  std::vector<OutputSlot> outputs(5);
  for (const int64_t rows : {3, 5, 1, 0, 5, 5, 2}) {
    inputs.push_back({input_of(rows, static_cast<float>(inputs.size()))});
    for (int i = 0; i < 3; ++i)
      session.run_into(inputs.back(), outputs);
    held.push_back(values_of(outputs));
  }
  for (size_t i = 0; i < held.size(); ++i)
    expect_same(held[i], evaluate(*model.graph, inputs[i]));
}

// Each thread fills its own slots again and again, and all read what others gave out before, which
// they let go at any time.
TEST(SharedValues, may_be_read_and_let_go_by_other_threads) {
  const Session session(model_of_all_kinds());
  constexpr int kThreads = 3, kRuns = 60;
  const Model model = model_of_all_kinds();
  std::vector<std::vector<Datum>> inputs, expected;
  for (int64_t rows = 1; rows < 5; ++rows) {
    inputs.push_back({input_of(rows, static_cast<float>(rows))});
    expected.push_back(evaluate(*model.graph, inputs.back()));
  }
  std::mutex mutex;
  std::vector<std::vector<Datum>> given(inputs.size());  // the last outputs, by input
  const auto work = [&](size_t thread) {
    std::vector<OutputSlot> outputs(expected[0].size());
    for (size_t i = 0; i < kRuns; ++i) {
      const size_t which = (i + thread) % inputs.size();
      session.run_into(inputs[which], outputs);
      std::vector<Datum> other;
      const size_t read = (i + 1) % inputs.size();
      {
        const std::lock_guard lock(mutex);
        given[which] = values_of(outputs);
        other = given[read];
      }
      if (!other.empty()) expect_same(other, expected[read]);
    }
  };
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < kThreads; ++i)
    threads.emplace_back(work, i);
}

}  // namespace
}  // namespace sardonyx
