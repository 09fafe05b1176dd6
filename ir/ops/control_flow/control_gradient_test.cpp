// Gradients through If, Loop and Scan with captures, against finite differences, at once and as
// graphs with sizes known at run time.
#include "ir/ops/control_flow/control_gradient.h"

#include <gtest/gtest.h>

#include "ir/ops/control_flow/control.h"
#include "ir/ops/gradient/subgraph_builder.h"
#include "tests/support/check_graph_gradient.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;

// last + the sum of the cubes of `all` along an axis: what depends on every element of both.
Val joined(Emitter& e, const Val& last, const Val& all, int64_t axis) {
  const Val cubes = e.call("Mul", {all, e.call("Mul", {all, all})});
  return e.call("Add",
                {last, e.call("ReduceSum", {cubes, e.int64s({axis})}, {{"keepdims", int64_t{0}}})});
}

Type double_type(std::optional<Dims> shape = std::nullopt) {
  Type type = Type::tensor(DType::kDouble);
  type.shape = std::move(shape);
  return type;
}

// cond, a, b: a * b, or a + sin(a).
Val choose(Emitter& e, const Vals& x) {
  SubgraphBuilder product, sum;
  for (SubgraphBuilder* branch : {&product, &sum}) {
    const Val a = branch->add_capture(e.type(x[1])), b = branch->add_capture(e.type(x[2]));
    RecordingEmitter& inner = branch->emitter();
    branch->add_output(branch == &product ? inner.call("Mul", {a, b})
                                          : inner.call("Add", {a, inner.call("Sin", {a})}));
  }
  const IfAttrs attrs{.then_branch = product.graph(), .else_branch = sum.graph()};
  return e.emit(op_named("If"), x, Attrs(attrs), 1, 2)[0];
}

TEST(IfGradient, GoesThroughTheBranchThatIsTaken) {
  for (const bool taken : {true, false}) {
    const std::vector<Datum> inputs{Tensor::scalar(taken), doubles({2, 3}, 0.4),
                                    doubles({2, 3}, -0.9)};
    const std::vector<size_t> wanted = taken ? std::vector<size_t>{1, 2} : std::vector<size_t>{1};
    expect_gradients(choose, inputs, wanted);
    expect_gradients(derivative(choose), inputs, {1});
  }
}

// M, v, c, w: v' = sin(v * c), scan output v' + iteration * w; the result joins both.
Val iterate(Emitter& e, const Vals& x, bool joins_scan) {
  SubgraphBuilder body;
  RecordingEmitter& inner = body.emitter();
  const Val at = body.add_input(Type::tensor(DType::kInt64, Dims{}));
  const Val goes_on = body.add_input(Type::tensor(DType::kBool, Dims{}));
  const Val v = body.add_input(e.type(x[1]));
  const Val c = body.add_capture(e.type(x[2])), w = body.add_capture(e.type(x[3]));
  const Val next = inner.call("Sin", {inner.call("Mul", {v, c})});
  const Val time = inner.call("CastLike", {at, v});
  body.add_output(goes_on);
  body.add_output(next);
  body.add_output(inner.call("Add", {next, inner.call("Mul", {time, w})}));
  const Vals found = e.emit(op_named("Loop"), std::vector{x[0], Val(), x[1], x[2], x[3]},
                            Attrs(LoopAttrs{body.graph()}), 2, 2);
  return joins_scan ? joined(e, found[0], found[1], 0) : found[0];
}

TEST(LoopGradient, OfCarriedValuesScanOutputsAndCaptures) {
  for (const int64_t count : {0, 1, 4}) {
    const Function function = [=](Emitter& e, const Vals& x) { return iterate(e, x, count > 0); };
    const std::vector<Datum> inputs{Tensor::scalar(count), doubles({3}, 0.4), doubles({3}, 1.1),
                                    doubles({3}, 0.2)};
    const std::vector<size_t> wanted =
        count == 0 ? std::vector<size_t>{1} : std::vector<size_t>{1, 2, 3};
    expect_gradients(function, inputs, wanted);
    if (count > 0) expect_gradients(derivative(function), inputs, {1, 2});
  }
}

// M, v, c: v' = v * v + c twice over, which ends where v has more than six elements.
Val grow(Emitter& e, const Vals& x) {
  SubgraphBuilder body;
  RecordingEmitter& inner = body.emitter();
  body.add_input(Type::tensor(DType::kInt64, Dims{}));
  body.add_input(Type::tensor(DType::kBool, Dims{}));
  const Val v = body.add_input(double_type(Dims{Graph::fresh_symbol()}));
  const Val c = body.add_capture(e.type(x[2]));
  const Val once = inner.call("Add", {inner.call("Mul", {v, v}), c});
  const Val twice = inner.call(
      "Expand", {inner.call("Unsqueeze", {once, inner.int64s({0})}), inner.int64s({2, 1})});
  const Val next = inner.call("Reshape", {twice, inner.int64s({-1})});
  body.add_output(inner.call("Less", {inner.call("Size", {next}), inner.scalar(DType::kInt64, 7)}));
  body.add_output(next);
  return e.emit(op_named("Loop"), std::vector{x[0], Val(), x[1], x[2]},
                Attrs(LoopAttrs{body.graph()}), 1, 1)[0];
}

TEST(LoopGradient, OfCarriedValuesThatGrow) {
  const std::vector<Datum> inputs{Tensor::scalar(int64_t{100}), doubles({2}, 0.6),
                                  doubles({1}, 0.3)};
  expect_gradients(grow, inputs, {1, 2});
}

// state, x [2, T, 3], y [T, 3], c: state' = state * x + c; scan output state' * y along axis 1.
Function scan(int64_t x_direction, int64_t y_direction, int64_t out_direction) {
  return [=](Emitter& e, const Vals& x) {
    SubgraphBuilder body;
    RecordingEmitter& inner = body.emitter();
    const auto slice_type = [&](const Val& val, size_t axis) {
      Type type = e.type(val);
      type.shape->erase(type.shape->begin() + static_cast<std::ptrdiff_t>(axis));
      return type;
    };
    const Val state = body.add_input(e.type(x[0]));
    const Val a = body.add_input(slice_type(x[1], 1)), b = body.add_input(slice_type(x[2], 0));
    const Val c = body.add_capture(e.type(x[3]));
    const Val next = inner.call("Add", {inner.call("Mul", {state, a}), c});
    body.add_output(next);
    body.add_output(inner.call("Mul", {next, b}));
    const ScanAttrs attrs{.body = body.graph(),
                          .num_scan_inputs = 2,
                          .scan_input_axes = Ints{1, 0},
                          .scan_input_directions = Ints{x_direction, y_direction},
                          .scan_output_axes = Ints{1},
                          .scan_output_directions = Ints{out_direction}};
    const Vals found = e.emit(op_named("Scan"), x, Attrs(attrs), 2, 1);
    return joined(e, found[0], found[1], 1);
  };
}

TEST(ScanGradient, OfEveryDirection) {
  const std::vector<Datum> inputs{doubles({2, 3}, 0.5), doubles({2, 4, 3}, 0.9),
                                  doubles({4, 3}, 0.3), doubles({3}, -0.2)};
  for (int64_t way = 0; way < 8; ++way) {
    const Function function = scan(way & 1, way >> 1 & 1, way >> 2);
    expect_gradients(function, inputs, {0, 1, 2, 3});
    if (way == 5) expect_gradients(derivative(function), inputs, {0, 1, 2, 3});
  }
}

TEST(LoopGradient, RefusesCarriedSequences) {
  SubgraphBuilder body;
  RecordingEmitter& inner = body.emitter();
  body.add_input(Type::tensor(DType::kInt64, Dims{}));
  const Val goes_on = body.add_input(Type::tensor(DType::kBool, Dims{}));
  const Val list = body.add_input(Type::sequence(Type::tensor(DType::kDouble)));
  const Val v = body.add_input(double_type(Dims{2}));
  body.add_output(goes_on);
  body.add_output(inner.call("SequenceInsert", {list, v}));
  body.add_output(inner.call("Mul", {v, v}));
  const Function function = [&](Emitter& e, const Vals& x) {
    const Val empty =
        e.call("SequenceEmpty", {}, {{"dtype", static_cast<int64_t>(DType::kDouble)}});
    return e.emit(op_named("Loop"), std::vector{x[0], Val(), empty, x[1]},
                  Attrs(LoopAttrs{body.graph()}), 2)[1];
  };
  const std::vector<Datum> inputs{Tensor::scalar(int64_t{2}), doubles({2}, 0.6)};
  try {
    gradients_at_once(function, inputs, {1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("only tensors can be kept"), std::string::npos);
  }
}

}  // namespace
}  // namespace sardonyx::ops
