// Outputs that are bound to memory of inputs.
#include <gtest/gtest.h>

#include "executor/session.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "ir/value_compare.h"
#include "tests/support/allocation_count.h"

namespace sardonyx {
namespace {

Tensor random_tensor(Shape shape, uint64_t seed = 1) {
  return drawn_tensor(DType::kFloat, shape, -2, 2, seed);
}

struct InPlaceGraph {
  Model model;
  GraphEmitter e{*model.graph};
  Val input(const char* name, DType dtype, const Shape& shape) {
    return GraphEmitter::wrap(model.graph->add_input(name, Type::tensor(dtype, to_dims(shape))));
  }
  Val input(const char* name, const Shape& shape) { return input(name, DType::kFloat, shape); }
  Val concat(std::vector<Val> parts, int64_t axis) {
    return e.call_many("Concat", parts, {{"axis", axis}}, 1)[0];
  }
  void output(const Val& value) { model.graph->add_output(GraphEmitter::unwrap(value)); }
};

// Elements `shape` of `memory` from `first` on.
Tensor part(const Tensor& memory, Shape shape, size_t first = 0) {
  return Tensor(memory.dtype(), std::move(shape), memory.buffer(), first * sizeof(float));
}

// Outputs, of which the undefined ones are left to the library.
std::vector<OutputSlot> slots_for(const std::vector<Tensor>& bound) {
  std::vector<OutputSlot> slots;
  for (const Tensor& memory : bound)
    slots.push_back(memory.defined() ? OutputSlot::bound(memory) : OutputSlot());
  return slots;
}

// Runs with `inputs` and writes into `bound`, some of which are in inputs; all results must be as
// the reference has them.
void run_and_compare(InPlaceGraph& built, const std::vector<Datum>& inputs,
                     const std::vector<Tensor>& bound, SessionOptions options = {}) {
  std::vector<Datum> copies;
  for (const Datum& input : inputs)
    copies.push_back(input.is_tensor() ? Datum(input.tensor().clone()) : input);
  const std::vector<Datum> expected = evaluate(*built.model.graph, copies);
  const Session session(std::move(built.model), std::move(options));
  const std::vector<Datum> fresh =
      session.run(copies);  // the plan does not depend on what is bound
  std::vector<OutputSlot> outputs = slots_for(bound);
  session.run_into(inputs, outputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(compare(fresh[i], expected[i], {1e-5, 1e-6, 0}));
    const Comparison same = compare(outputs[i].value(), fresh[i], {0, 0, 0});
    EXPECT_TRUE(same) << "output " << i << ": " << same.reason << '\n' << session.plan_text(copies);
    EXPECT_EQ(outputs[i].is_written(), bound[i].defined());
  }
}

// Nothing is computed apart: that would need a buffer.
void expect_in_place(InPlaceGraph& built, const std::vector<Datum>& inputs,
                     const std::vector<Tensor>& bound) {
  const Session session(std::move(built.model));
  std::vector<OutputSlot> outputs = slots_for(bound);
  session.run_into(inputs, outputs);
  const AllocationCount count;
  session.run_into(inputs, outputs);
  EXPECT_EQ(count.own(), 0u) << session.plan_text(inputs);
}

struct Scatter : InPlaceGraph {
  Val past = input("past", {2, 3, 8, 4});
  Val update = input("update", {2, 3, 1, 4});
  Val starts = input("starts", DType::kInt64, {2});
  Val present = e.call("TensorScatter", {past, update, starts});
  Tensor memory = random_tensor({2, 3, 8, 4});
  std::vector<Datum> inputs{memory, random_tensor({2, 3, 1, 4}, 2),
                            Tensor::vector<int64_t>({5, 2})};
};

TEST(InPlace, a_cache_that_is_scattered_to_stays_where_it_is) {
  Scatter built;
  built.output(built.present);
  built.output(built.e.call("Neg", {built.present}));
  run_and_compare(built, built.inputs, {built.memory, {}});
}

TEST(InPlace, only_the_update_of_a_cache_is_copied) {
  Scatter built;
  built.output(built.present);
  expect_in_place(built, built.inputs, {built.memory});
}

TEST(InPlace, a_cache_that_is_read_later_is_kept_until_then) {
  Scatter built;
  built.output(built.present);
  built.output(built.e.call("Sub", {built.present, built.past}));
  run_and_compare(built, built.inputs, {built.memory, {}});
}

TEST(InPlace, a_view_of_the_cache_that_is_read_later_is_kept_as_well) {
  Scatter built;
  const Val view = built.e.call("Reshape", {built.past, built.e.int64s({6, 32})});
  built.output(built.present);
  built.output(built.e.call("Neg", {view}));
  built.output(view);
  run_and_compare(built, built.inputs, {built.memory, {}, Tensor::zeros(DType::kFloat, {6, 32})});
}

TEST(InPlace, a_wrong_index_leaves_the_cache_as_it_was) {
  Scatter built;
  built.output(built.present);
  const Session session(std::move(built.model));
  const Tensor before = built.memory.clone();
  built.inputs[2] = Tensor::vector<int64_t>({0, 8});
  std::vector<OutputSlot> outputs{OutputSlot::bound(built.memory)};
  EXPECT_THROW(session.run_into(built.inputs, outputs), Error);
  EXPECT_TRUE(built.memory == before);
}

// Past and present begin at one place; there is space behind the past.
struct Append : InPlaceGraph {
  Val past = input("past", {1, 3, 2, 4});
  Val fresh = input("fresh", {1, 1, 2, 4});
  Tensor memory = random_tensor({64});
  std::vector<Datum> inputs{part(memory, {1, 3, 2, 4}), random_tensor({1, 1, 2, 4}, 2)};
};

TEST(InPlace, a_cache_that_is_appended_to_stays_where_it_is) {
  Append built;
  const Val present = built.concat({built.past, built.fresh}, 1);
  built.output(present);
  built.output(built.e.call("Relu", {built.past}));
  built.output(built.e.call("Neg", {present}));
  run_and_compare(built, built.inputs, {part(built.memory, {1, 4, 2, 4}), {}, {}});
}

TEST(InPlace, only_what_is_appended_to_a_cache_is_copied) {
  Append built;
  built.output(built.concat({built.past, built.fresh}, 1));
  expect_in_place(built, built.inputs, {part(built.memory, {1, 4, 2, 4})});
}

TEST(InPlace, what_is_appended_may_be_computed) {
  Append built;
  const Val fresh = built.e.call("Relu", {built.fresh});
  built.output(built.concat({built.past, fresh}, 1));
  run_and_compare(built, built.inputs, {part(built.memory, {1, 4, 2, 4})});
}

TEST(InPlace, a_cache_that_is_put_behind_is_copied) {
  Append built;
  built.output(built.concat({built.fresh, built.past}, 1));
  run_and_compare(built, built.inputs, {part(built.memory, {1, 4, 2, 4})});
}

TEST(InPlace, a_cache_with_dims_before_the_axis_is_copied) {
  Append built;
  const Val present = built.concat({built.past, built.e.call("Relu", {built.past})}, 2);
  built.output(present);
  built.output(built.e.call("Neg", {built.fresh}));
  run_and_compare(built, built.inputs, {part(built.memory, {1, 3, 4, 4}), {}});
}

TEST(InPlace, outputs_that_overlap_an_input_otherwise_are_computed_apart) {
  for (const size_t first : {0u, 3u, 8u}) {
    Append built;
    built.output(built.e.call("Relu", {built.past}));
    built.output(built.e.call("Neg", {built.past}));
    run_and_compare(built, built.inputs, {part(built.memory, {1, 3, 2, 4}, first), {}});
  }
}

TEST(InPlace, an_elementwise_op_may_write_over_its_input) {
  Append built;
  built.output(built.e.call("Neg", {built.past}));
  built.output(built.e.call("Relu", {built.fresh}));
  run_and_compare(built, built.inputs, {part(built.memory, {1, 3, 2, 4}), {}});
}

TEST(InPlace, an_input_that_is_handed_out_is_saved_from_what_is_written_over_it) {
  Append built;
  built.output(built.e.call("Identity", {built.past}));
  built.output(built.e.call("Neg", {built.past}));
  run_and_compare(built, built.inputs, {{}, part(built.memory, {1, 3, 2, 4})});
}

TEST(InPlace, an_input_that_is_the_result_may_overlap_where_it_goes) {
  for (const size_t from : {0u, 2u, 700u}) {
    for (const size_t to : {0u, 3u, 600u}) {
      InPlaceGraph built;
      built.output(built.e.call("Flatten", {built.input("x", {20, 51})}));
      const Tensor memory = random_tensor({2000});
      run_and_compare(built, {part(memory, {20, 51}, from)}, {part(memory, {20, 51}, to)});
    }
  }
}

TEST(InPlace, strings_that_are_the_result_may_overlap_where_they_go) {
  for (const bool is_before : {false, true}) {
    InPlaceGraph built;
    built.output(built.e.call("Flatten", {built.input("x", DType::kString, {1, 4})}));
    const Tensor memory = Tensor::vector<std::string>({"a", "b", "c", "d", "e", "f"});
    const auto strings = [&](size_t first) {
      return Tensor(DType::kString, {1, 4}, memory.buffer(), first * sizeof(std::string));
    };
    const Session session(std::move(built.model));
    std::vector<OutputSlot> outputs = slots_for({strings(is_before ? 0 : 2)});
    const std::vector<std::string> expected{"b", "c", "d", "e"};
    session.run_into(std::vector<Datum>{strings(1)}, outputs);
    const auto got = outputs[0].value().tensor().values<std::string>();
    EXPECT_EQ(std::vector<std::string>(got.begin(), got.end()), expected);
  }
}

// What is written over an input comes behind all that reads it.

TEST(InPlace, an_intermediate_value_is_not_made_over_an_input_that_is_read_later) {
  for (const int level : {0, 2}) {
    InPlaceGraph built;
    const Val x = built.input("x", {2, 8});
    const Val rest = built.e.call("Sub", {x, built.e.call("Softmax", {x})});
    built.output(built.e.call("Tanh", {rest}));
    const Tensor memory = random_tensor({2, 8});
    run_and_compare(built, {memory}, {memory}, {.optimization_level = level});
  }
}

TEST(InPlace, a_chain_is_made_over_its_input_from_where_that_is_read_last) {
  InPlaceGraph built;
  const Val x = built.input("x", {2, 8});
  const Val first = built.e.call("Neg", {x});
  built.output(built.e.call("Relu", {built.e.call("Add", {first, x})}));
  const Tensor memory = random_tensor({2, 8});
  run_and_compare(built, {memory}, {memory}, {.optimization_level = 0});
}

TEST(InPlace, a_cache_that_is_changed_once_it_was_appended_to_is_kept_until_it_was_read) {
  Append built;
  const Val present = built.concat({built.past, built.fresh}, 1);
  built.output(built.e.call("Tanh", {present}));
  built.output(built.e.call("Neg", {built.past}));
  run_and_compare(built, built.inputs, {part(built.memory, {1, 4, 2, 4}), {}},
                  {.optimization_level = 0});
}

TEST(InPlace, an_input_that_a_sequence_holds_is_kept) {
  Append built;
  built.output(built.e.call("SequenceConstruct", {built.past, built.past}));
  built.output(built.e.call("Neg", {built.past}));
  run_and_compare(built, built.inputs, {{}, part(built.memory, {1, 3, 2, 4})});
}

TEST(InPlace, an_item_of_an_input_is_kept_until_it_was_read) {
  InPlaceGraph built;
  const Val items = GraphEmitter::wrap(
      built.model.graph->add_input("items", Type::sequence(Type::tensor(DType::kFloat, Dims{4}))));
  const Val x = built.input("x", {4});
  const Val zero = built.e.constant(Tensor::scalar<int64_t>(0));
  built.output(built.e.call("Neg", {x}));
  built.output(built.e.call("SequenceAt", {items, zero}));
  const Tensor memory = random_tensor({4});
  const std::vector<Datum> given{Sequence{Type::tensor(DType::kFloat), {memory}},
                                 random_tensor({4}, 2)};
  const Tensor before = memory.clone();
  const Session session(std::move(built.model));
  std::vector<OutputSlot> outputs = slots_for({memory, {}});
  session.run_into(given, outputs);
  EXPECT_TRUE(outputs[0].is_written());
  EXPECT_EQ(outputs[1].value().tensor(), before);
}

TEST(InPlace, inputs_in_the_same_memory_are_both_kept_until_they_were_read) {
  Append built;
  const Val doubled = built.e.call("Add", {built.past, built.past});
  const Val other = built.input("other", {1, 3, 2, 4});
  built.output(built.e.call("Neg", {doubled}));
  built.output(built.e.call("Sub", {doubled, other}));
  const Tensor memory = part(built.memory, {1, 3, 2, 4});
  built.inputs.push_back(memory);
  run_and_compare(built, built.inputs, {memory, {}}, {.optimization_level = 0});
}

TEST(InPlace, inputs_may_change_places) {
  InPlaceGraph built;
  const Val a = built.input("a", {5}), b = built.input("b", {5});
  built.output(built.e.call("Identity", {b}));
  built.output(built.e.call("Identity", {a}));
  const Tensor first = random_tensor({5}, 1), second = random_tensor({5}, 2);
  run_and_compare(built, {first, second}, {first, second});
}

}  // namespace
}  // namespace sardonyx
