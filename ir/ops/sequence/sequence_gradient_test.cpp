// Gradients through sequences and optionals.
#include "ir/ops/sequence/sequence_gradient.h"

#include <gtest/gtest.h>

#include "ir/ops/control_flow/control.h"
#include "ir/ops/gradient/subgraph_builder.h"
#include "tests/support/check_graph_gradient.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;

Val number(Emitter& e, int64_t value) {
  return e.constant(Tensor::scalar(value));
}

Val concatenated(Emitter& e, const Val& sequence, int64_t axis = 0, int64_t new_axis = 0) {
  return e.call("ConcatFromSequence", {sequence}, {{"axis", axis}, {"new_axis", new_axis}});
}

const std::vector<Datum> kThree{doubles({3}, 0.4), doubles({2}, -0.7), doubles({4}, 1.2)};

TEST(SequenceGradient, ConstructedInsertedErased) {
  const Function function = [](Emitter& e, const Vals& x) {
    const Val list = e.call("SequenceConstruct", {x[0], x[1], x[0]});
    const Val longer = e.call("SequenceInsert", {list, x[2], number(e, -2)});
    const Val last = e.call("SequenceInsert", {longer, x[1]});
    return concatenated(e, e.call("SequenceErase", {last, number(e, 0)}));
  };
  expect_gradients(function, kThree, {0, 1, 2});
}

TEST(SequenceGradient, ItemsTakenMoreThanOnce) {
  const Function function = [](Emitter& e, const Vals& x) {
    const Val list = e.call("SequenceConstruct", {x[0], x[1]});
    const Val first = e.call("SequenceAt", {list, number(e, -2)});
    const Val doubled = e.call("Mul", {first, e.call("SequenceAt", {list, number(e, 0)})});
    return e.call("Concat", {doubled, concatenated(e, list)}, {{"axis", int64_t{0}}});
  };
  expect_gradients(function, {kThree[0], kThree[1]}, {0, 1});
}

TEST(SequenceGradient, SplitAndJoined) {
  for (const int64_t keeps : {0, 1}) {
    const Function function = [=](Emitter& e, const Vals& x) {
      const Val rows =
          e.call("SplitToSequence", {x[0]}, {{"axis", int64_t{1}}, {"keepdims", keeps}});
      const Val columns = e.call("SplitToSequence", {x[0], number(e, 2)});
      const Val product = e.call("Mul", {concatenated(e, rows, 1, 1 - keeps), x[0]});
      return e.call("Add", {product, concatenated(e, columns)});
    };
    expect_gradients(function, {doubles({3, 4}, 0.5)}, {0});
  }
}

// item * item * tensor, shifted by what is captured.
Val mapped(Emitter& e, const Vals& x) {
  const Val list = e.call("SequenceConstruct", {x[0], x[1]});
  SubgraphBuilder body;
  RecordingEmitter& inner = body.emitter();
  const Val item = body.add_input(*e.type(list).element), factor = body.add_input(e.type(x[2]));
  const Val shift = body.add_capture(e.type(x[3]));
  const Val scaled = inner.call("Mul", {inner.call("Mul", {item, item}), factor});
  body.add_output(inner.call("Add", {scaled, shift}));
  const Vals found = e.emit(op_named("SequenceMap"), std::vector{list, x[2], x[3]},
                            Attrs(SequenceMapAttrs{body.graph()}), 1, 1);
  return concatenated(e, found[0]);
}

TEST(SequenceGradient, Mapped) {
  const std::vector<Datum> inputs{kThree[0], kThree[1], doubles({1}, 0.6), doubles({1}, 0.3)};
  expect_gradients(mapped, inputs, {0, 1, 2, 3});
}

TEST(OptionalGradient, GoesThroughTheElement) {
  const Function function = [](Emitter& e, const Vals& x) {
    const Val element = e.call("OptionalGetElement", {e.call("Optional", {e.call("Sin", {x[0]})})});
    return e.call("Mul", {element, x[0]});
  };
  expect_gradients(function, {kThree[0]}, {0});
}

}  // namespace
}  // namespace sardonyx::ops
