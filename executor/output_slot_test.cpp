// Memory belongs to somebody: runs write into what is bound to outputs, or what is their own, and
// never into what outputs only show.
#include "executor/output_slot.h"

#include <gtest/gtest.h>

#include "executor/session.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "ir/value_compare.h"
#include "tests/support/expect_error.h"

namespace sardonyx {
namespace {

Tensor matrix_of(Shape shape, uint64_t seed = 1) {
  return drawn_tensor(DType::kFloat, shape, -2, 2, seed);
}

struct SlotModel {
  Model model;
  GraphEmitter e{*model.graph};
  Val input(const char* name, Type type) {
    return GraphEmitter::wrap(model.graph->add_input(name, std::move(type)));
  }
  // float[a, b]
  Val matrix(const char* name) {
    return input(name, Type::tensor(DType::kFloat, Dims{Dim::symbol("a"), Dim::symbol("b")}));
  }
  void output(const Val& value) { model.graph->add_output(GraphEmitter::unwrap(value)); }
};

// The output, which is left to the library, after each of `runs` through the same slot must be what
// a fresh evaluation gives, and all that went before must be as it was.
void expect_fresh(SlotModel& built, const std::vector<std::vector<Datum>>& runs,
                  SessionOptions options = {}) {
  std::vector<std::vector<Datum>> copies, expected;
  for (const std::vector<Datum>& inputs : runs) {
    for (std::vector<Datum>& copy = copies.emplace_back(); const Datum& input : inputs)
      copy.emplace_back(input.tensor().clone());
    expected.push_back(evaluate(*built.model.graph, copies.back()));
  }
  const Session session(std::move(built.model), std::move(options));
  std::vector<OutputSlot> slots(session.outputs().size());
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < runs.size(); ++i) {
      session.run_into(runs[i], slots);
      for (size_t k = 0; k < slots.size(); ++k) {
        const Comparison same = compare(slots[k].value(), expected[i][k], {0, 0, 0});
        EXPECT_TRUE(same) << "round " << round << ", run " << i << ", output " << k << ": "
                          << same.reason;
      }
    }
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t k = 0; k < runs[i].size(); ++k)
      EXPECT_EQ(runs[i][k].tensor(), copies[i][k].tensor()) << "run " << i << ", input " << k;
  }
}

TEST(Ownership, a_constant_of_a_plan_is_only_shown) {
  SlotModel built;
  const Val x = built.matrix("x");
  built.output(built.e.call("Shape", {x}));
  built.output(built.e.call("Size", {x}));
  expect_fresh(
      built, {{matrix_of({2, 3})}, {matrix_of({3, 2})}, {matrix_of({2, 4})}, {matrix_of({2, 3})}});
}

GraphPtr branch_giving(const Type& captured, std::string_view op) {
  auto branch = std::make_shared<Graph>();
  const std::vector<Value*> inputs(op == "Add" ? 2 : 1, branch->add_capture("w", captured));
  branch->add_output(branch->append(op_named(op), Attrs(), inputs, {"y"})->outputs[0]);
  return branch;
}

TEST(Ownership, a_weight_that_a_branch_gives_is_only_shown) {
  SlotModel built;
  const Val condition = built.input("c", Type::tensor(DType::kBool, Dims{}));
  const Val x = built.matrix("x");
  const Val weight = built.e.constant(matrix_of({2, 3}, 7));
  const Type captured = GraphEmitter::unwrap(weight)->type;
  const OpDef& op = op_named("If");
  const Attrs attrs = Attrs::parse(*op.attrs, {{"then_branch", branch_giving(captured, "Identity")},
                                               {"else_branch", branch_giving(captured, "Add")}});
  built.output(built.e.emit(op, std::vector<Val>{condition, weight}, attrs, 1, 1)[0]);
  built.output(built.e.call("Mul", {x, weight}));
  const Datum yes = Tensor::scalar(true), no = Tensor::scalar(false);
  expect_fresh(built,
               {{yes, matrix_of({2, 3})}, {no, matrix_of({2, 3})}, {yes, matrix_of({2, 3}, 3)}});
}

TEST(Ownership, an_input_that_is_given_out_is_only_shown) {
  for (const char* op : {"Identity", "Flatten"}) {
    SlotModel built;
    built.output(built.e.call(op, {built.matrix("x")}));
    expect_fresh(built, {{matrix_of({2, 3}, 1)}, {matrix_of({2, 3}, 2)}, {matrix_of({2, 3}, 3)}});
  }
}

TEST(Ownership, what_is_counted_in_data_is_shown_anew) {
  SlotModel built;
  const Val found = built.e.call("NonZero", {built.matrix("x")});
  built.output(built.e.call("Shape", {found}));
  built.output(found);
  const Tensor some = Tensor::of<float>({0, 1, 0, 2, 0, 0}, {2, 3});
  expect_fresh(built, {{matrix_of({2, 3})}, {some}, {matrix_of({2, 3}, 5)}, {some}});
}

TEST(Ownership, memory_that_is_no_longer_bound_is_not_written) {
  SlotModel built;
  const Val a = built.e.call("Neg", {built.matrix("x")});
  built.output(a);
  built.output(built.e.call("Flatten", {a}));
  const Session session(std::move(built.model));
  const Tensor memory = Tensor::zeros(DType::kFloat, {2, 3});
  std::vector<OutputSlot> slots(2);
  slots[0] = OutputSlot::bound(memory);
  session.run_into(std::vector<Datum>{matrix_of({2, 3}, 1)}, slots);
  EXPECT_EQ(slots[1].value().tensor().raw(), memory.raw());
  slots[0] = OutputSlot();
  const Tensor before = memory.clone();
  for (uint64_t seed = 2; seed < 5; ++seed) {
    session.run_into(std::vector<Datum>{matrix_of({2, 3}, seed)}, slots);
    EXPECT_EQ(memory, before);
    EXPECT_EQ(slots[0].value().tensor(), slots[1].value().tensor());
  }
}

TEST(Ownership, a_result_that_somebody_holds_stays_as_it_is) {
  SlotModel built;
  const Val a = built.e.call("Neg", {built.matrix("x")});
  built.output(a);
  built.output(built.e.call("Flatten", {a}));
  const Session session(std::move(built.model));
  std::vector<OutputSlot> slots(2);
  session.run_into(std::vector<Datum>{matrix_of({2, 3}, 1)}, slots);
  for (const size_t held : {0u, 1u}) {
    const Datum result = slots[held].value();
    const Tensor copy = result.tensor().clone();
    session.run_into(std::vector<Datum>{matrix_of({2, 3}, 2 + held)}, slots);
    EXPECT_EQ(result.tensor(), copy);
  }
}

TEST(Ownership, results_of_one_run_are_not_the_buffers_of_another) {
  SlotModel built;
  built.output(built.e.call("Shape", {built.matrix("x")}));
  const Session session(std::move(built.model));
  const Tensor shape = session.run(std::vector<Datum>{matrix_of({2, 3})})[0].tensor();
  std::vector<OutputSlot> slots{OutputSlot::bound(Tensor::zeros(DType::kInt64, {2}))};
  session.run_into(std::vector<Datum>{matrix_of({5, 7})}, slots);
  EXPECT_EQ(shape.to_int64s(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(session.run(std::vector<Datum>{matrix_of({2, 3})})[0].tensor(), shape);
}

TEST(Ownership, items_of_a_sequence_are_saved_from_what_is_copied_over_them) {
  SlotModel built;
  const Val x = built.matrix("x");
  built.output(built.e.call("SequenceConstruct", {x}));
  built.output(built.e.call("Transpose", {x}));
  const Tensor memory = matrix_of({3, 3});
  const Tensor before = memory.clone();
  const std::vector<Datum> expected = evaluate(*built.model.graph, std::vector<Datum>{before});
  const Session session(std::move(built.model));
  std::vector<OutputSlot> slots(2);
  slots[1] = OutputSlot::bound(memory);
  session.run_into(std::vector<Datum>{memory}, slots);
  EXPECT_TRUE(slots[1].is_written());
  EXPECT_EQ(memory, expected[1].tensor());
  EXPECT_EQ(slots[0].value().sequence().items.at(0).tensor(), before);
}

// ---- What a slot tells

Model doubled() {
  SlotModel built;
  const Val x = built.matrix("x");
  built.output(built.e.call("Add", {x, x}));
  return std::move(built.model);
}

TEST(OutputSlot, tells_whether_bound_memory_was_written) {
  const Session session(doubled());
  std::vector<OutputSlot> slots(1);
  EXPECT_FALSE(slots[0].is_bound());
  slots[0] = OutputSlot::bound(Tensor::zeros(DType::kFloat, {2, 3}));
  EXPECT_TRUE(slots[0].is_bound());
  EXPECT_FALSE(slots[0].value().defined());
  for (int i = 0; i < 2; ++i) {
    session.run_into(std::vector<Datum>{matrix_of({2, 3})}, slots);
    EXPECT_TRUE(slots[0].is_written());
    session.run_into(std::vector<Datum>{matrix_of({3, 2})}, slots);
    EXPECT_FALSE(slots[0].is_written());
    EXPECT_EQ(slots[0].value().tensor().shape(), (Shape{3, 2}));
  }
  EXPECT_TRUE(slots[0].take().defined());
  EXPECT_FALSE(slots[0].value().defined());
  expect_refusal(ErrorCode::kInvalidArgument, "bound to an undefined tensor",
                 [] { OutputSlot::bound(Tensor()); });
}

TEST(OutputSlot, shows_nothing_after_a_run_that_failed) {
  const Session session(doubled());
  std::vector<OutputSlot> slots(1);
  session.run_into(std::vector<Datum>{matrix_of({2, 3})}, slots);
  EXPECT_THROW(session.run_into(std::vector<Datum>{matrix_of({2})}, slots), Error);
  EXPECT_FALSE(slots[0].value().defined());
  session.run_into(std::vector<Datum>{matrix_of({2, 3})}, slots);
  EXPECT_TRUE(slots[0].value().defined());
}

TEST(OutputSlot, memory_of_two_outputs_must_not_overlap) {
  SlotModel built;
  const Val x = built.matrix("x");
  for (const char* op : {"Neg", "Relu", "Abs"})
    built.output(built.e.call(op, {x}, {}));
  for (size_t i = 0; i < 3; ++i)
    built.model.graph->outputs()[i]->name = std::string(1, static_cast<char>('p' + i));
  const Session session(std::move(built.model));
  const Tensor memory = Tensor::zeros(DType::kFloat, {20});
  const auto part = [&](size_t first) {
    return OutputSlot::bound(Tensor(DType::kFloat, {2, 3}, memory.buffer(), first * sizeof(float)));
  };
  std::vector<OutputSlot> slots{part(11), OutputSlot(), part(6)};
  expect_refusal(ErrorCode::kInvalidArgument,
                 "output r is bound to memory that overlaps that of output p", [&] {
                   session.run_into(std::vector<Datum>{matrix_of({2, 3})}, slots);
                 });
  slots[2] = part(5);
  session.run_into(std::vector<Datum>{matrix_of({2, 3})}, slots);
}

// ---- Strict outputs

struct Strict {
  Session session;
  std::vector<OutputSlot> slots;
  explicit Strict(SlotModel& built)
      : session(std::move(built.model)), slots(session.outputs().size()) {}
  void bind(size_t index, DType dtype, const Shape& shape) {
    slots[index] = OutputSlot::bound(Tensor::zeros(dtype, shape));
  }
  void run(const Datum& input) {
    session.run_into(std::vector<Datum>{input}, slots, {.strict_outputs = true});
  }
  void expect(std::string_view part, const Datum& input) {
    expect_refusal(ErrorCode::kInvalidArgument, std::string(part), [&] { run(input); });
  }
};

TEST(StrictOutputs, refuse_memory_of_another_type_or_shape) {
  SlotModel built;
  const Val y = built.e.call("Neg", {built.matrix("x")});
  GraphEmitter::unwrap(y)->name = "y";
  built.output(y);
  built.output(built.e.call("Relu", {y}));
  Strict strict(built);
  strict.bind(0, DType::kFloat16, {2, 3});
  strict.expect("output y: the model gives float[", matrix_of({2, 3}));
  strict.expect("but memory for float16[2, 3] is bound", matrix_of({2, 3}));
  strict.bind(0, DType::kFloat, {6});
  strict.expect("but memory for float[6] is bound", matrix_of({2, 3}));
  strict.bind(0, DType::kFloat, {3, 2});
  strict.expect("output y: the model gives float[2, 3], but memory for float[3, 2] is bound",
                matrix_of({2, 3}));
  strict.run(matrix_of({3, 2}));
  EXPECT_TRUE(strict.slots[0].is_written());
  EXPECT_FALSE(strict.slots[1].is_bound());
}

TEST(StrictOutputs, refuse_shapes_that_the_data_decides_before_anything_is_copied) {
  SlotModel built;
  const Val x = built.matrix("x");
  const Val found = built.e.call("NonZero", {x});
  GraphEmitter::unwrap(found)->name = "found";
  built.output(found);
  built.output(built.e.call("Identity", {x}));
  Strict strict(built);
  strict.bind(0, DType::kInt64, {2, 5});
  strict.bind(1, DType::kFloat, {2, 3});
  strict.expect("output found: the model gives int64[2, 6], but memory for int64[2, 5] is bound",
                matrix_of({2, 3}));
  EXPECT_EQ(strict.slots[1].memory(), Tensor::zeros(DType::kFloat, {2, 3}));
  strict.run(Tensor::of<float>({1, 2, 3, 0, 4, 5}, {2, 3}));
  EXPECT_TRUE(strict.slots[0].is_written() && strict.slots[1].is_written());
}

TEST(StrictOutputs, refuse_memory_for_what_is_no_tensor) {
  SlotModel built;
  built.output(built.e.call("SequenceConstruct", {built.matrix("x")}));
  Strict strict(built);
  strict.bind(0, DType::kFloat, {2, 3});
  strict.expect("the model gives seq(float", matrix_of({2, 3}));
}

}  // namespace
}  // namespace sardonyx
