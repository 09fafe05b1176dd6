// Loops, branches, sequences, and shapes that depend on what is computed.
#include <algorithm>

#include "tests/graphs/families.h"

namespace sardonyx::graph_test {
namespace {

Type open_floats(size_t rank) {
  Dims dims;
  for (size_t axis = 0; axis < rank; ++axis)
    dims.push_back(Graph::fresh_symbol());
  return Type::tensor(DType::kFloat, dims);
}
Type int_scalar() {
  return Type::tensor(DType::kInt64, Dims{});
}
Type bool_scalar() {
  return Type::tensor(DType::kBool, Dims{});
}

Val int_constant(Inner& body, int64_t value) {
  return body.emitter.constant(Tensor::scalar(value));
}

// How often a loop turns: fixed, given, or the size of an axis.
Val trip_count(GraphBuilder& b, const Val& x, int64_t least = 0) {
  switch (b.draw.below(3)) {
    case 0:
      return b.emitter.constant(Tensor::scalar(b.draw.between(least, 4)));
    case 1:
      return b.integers("count" + std::to_string(b.made.model.graph->inputs().size()),
                        DType::kInt64, {}, least, 4);
    default:
      return b.call("Squeeze", {dims_of(b, x, 0, 1), b.ints({0})});
  }
}

Val yes(GraphBuilder& b) {
  return b.draw.coin() ? b.emitter.constant(Tensor::scalar(true)) : Val();
}

struct State {
  GraphBuilder& b;
  Dim rows;
  int64_t width;
  Val x;  // [rows, width]
};

// x = tanh(x W + i), some turns, each of which gives a slice.
void scanning_loop(State& s) {
  GraphBuilder& b = s.b;
  b.note("Loop with slices");
  const Val w = b.weight({s.width, s.width}, s.width);
  const bool captures_x = b.draw.coin();
  const Vals captured{w, s.x};
  Inner body(b, captured);
  const Val i = body.input("i", int_scalar()), go = body.input("go", bool_scalar());
  const Val state = body.input("state", b.type(s.x));
  Val y = body.call("MatMul", {state, body.capture(0)});
  const Val step = body.call("Cast", {i}, {{"to", static_cast<int64_t>(DType::kFloat)}});
  y = body.call("Tanh", {body.call("Add", {y, step})});
  if (captures_x) y = body.call("Add", {y, body.capture(1)});
  body.output(body.call("Identity", {go}));
  body.output(y);
  body.output(body.call("ReduceSum", {y, body.emitter.int64s({1})}, {{"keepdims", int64_t{0}}}));
  const bool may_rest = b.draw.one_in(4);
  if (may_rest) b.made.differs = "what a loop of no turns stacks has no dims in ONNX Runtime";
  const Val turns = trip_count(b, s.x, may_rest ? 0 : 1);
  const Vals made = control(b, "Loop", {turns, yes(b), s.x}, {{"body", body.graph}}, captured, 2);
  s.x = made[0];
  b.output(made[1]);
}

// Turns until a number is reached that counts exactly.
void while_loop(State& s) {
  GraphBuilder& b = s.b;
  b.note("while");
  const Vals captured{s.x};
  Inner body(b, captured);
  body.input("i", int_scalar());
  body.input("go", bool_scalar());
  const Val count = body.input("count", int_scalar());
  const Val sum = body.input("sum", b.type(s.x));
  const Val next = body.call("Add", {count, int_constant(body, b.draw.between(1, 3))});
  body.output(body.call("Less", {next, int_constant(body, 7)}));
  body.output(next);
  body.output(body.call(
      "Add", {body.call("Mul", {sum, body.emitter.scalar(DType::kFloat, 0.5)}), body.capture(0)}));
  const Val first = b.integers("first" + std::to_string(b.made.model.graph->inputs().size()),
                               DType::kInt64, {}, 0, 6);
  const Val go = b.call("Less", {first, b.emitter.constant(Tensor::scalar<int64_t>(4))});
  const Val most = b.draw.coin() ? Val() : b.emitter.constant(Tensor::scalar<int64_t>(9));
  const Vals made = control(b, "Loop", {most, go, first, s.x}, {{"body", body.graph}}, captured, 2);
  b.output(made[0]);
  s.x = made[1];
}

// A value that is longer after each turn, as what a decoder has said.
void growing_loop(State& s) {
  GraphBuilder& b = s.b;
  b.note("growing Loop");
  const Vals captured{s.x};
  Inner body(b, captured);
  body.input("i", int_scalar());
  const Val go = body.input("go", bool_scalar());
  const Val state = body.input("state", open_floats(2));
  const Val row = body.call("ReduceSum", {state, body.emitter.int64s({0})});
  const Val more = b.draw.coin() ? body.call("Tanh", {row}) : body.call("Tanh", {body.capture(0)});
  body.output(body.call("Identity", {go}));
  body.output(body.call("Concat", {state, more}, {{"axis", int64_t{0}}}));
  const Val start = b.call("Slice", {s.x, b.ints({0}), b.ints({1}), b.ints({0})});
  s.x = control(b, "Loop", {trip_count(b, s.x), yes(b), start}, {{"body", body.graph}}, captured,
                1)[0];
  s.rows = Graph::fresh_symbol();
}

// Items of a sequence, assembled at the end.
void sequence_loop(State& s) {
  GraphBuilder& b = s.b;
  b.note("sequence in a Loop");
  const Type item = open_floats(2);
  const Vals captured{s.x};
  Inner body(b, captured);
  const Val i = body.input("i", int_scalar()), go = body.input("go", bool_scalar());
  const Val items = body.input("items", Type::sequence(item));
  const Val step = body.call("Cast", {i}, {{"to", static_cast<int64_t>(DType::kFloat)}});
  body.output(body.call("Identity", {go}));
  body.output(body.call("SequenceInsert", {items, body.call("Mul", {body.capture(0), step})}));
  const Val first = b.call("SequenceConstruct", {s.x});
  const Vals made =
      control(b, "Loop", {trip_count(b, s.x), yes(b), first}, {{"body", body.graph}}, captured, 1);
  s.x = b.call("ConcatFromSequence", {made[0]}, {{"axis", int64_t{0}}});
  s.rows = Graph::fresh_symbol();
  b.output(b.call("SequenceLength", {made[0]}));
}

void nested_loop(State& s) {
  GraphBuilder& b = s.b;
  b.note("nested Loop");
  Inner body(b, {});
  const Val i = body.input("i", int_scalar()), go = body.input("go", bool_scalar());
  const Val state = body.input("state", b.type(s.x));
  auto inner = std::make_shared<Graph>();
  GraphEmitter e(*inner);
  const auto input = [&](const char* name, const Type& type) {
    return GraphEmitter::wrap(inner->add_input(name, type));
  };
  input("k", int_scalar());
  const Val go_on = input("go_on", bool_scalar()), part = input("part", b.type(s.x));
  inner->add_output(GraphEmitter::unwrap(e.call("Identity", {go_on})));
  inner->add_output(GraphEmitter::unwrap(e.call("Sin", {part})));
  const OpDef& op = op_named("Loop");
  const Val made = body.emitter.emit(op, std::vector<Val>{i, Val(), state},
                                     Attrs::parse(*op.attrs, {{"body", inner}}), 1)[0];
  body.output(body.call("Identity", {go}));
  body.output(body.call("Add", {made, state}));
  s.x = control(b, "Loop", {trip_count(b, s.x), yes(b), s.x}, {{"body", body.graph}}, {}, 1)[0];
}

void scan(State& s) {
  GraphBuilder& b = s.b;
  b.note("Scan");
  Inner body(b, {});
  const Type row = Type::tensor(DType::kFloat, Dims{s.width});
  const Val sum = body.input("sum", row), x = body.input("row", row);
  const Val next =
      body.call("Add", {body.call("Mul", {sum, body.emitter.scalar(DType::kFloat, 0.5)}), x});
  body.output(next);
  body.output(body.call("Tanh", {next}));
  const bool is_backwards = b.draw.coin();
  const Vals made = control(b, "Scan", {b.constant({s.width}, -1, 1), s.x},
                            {{"body", body.graph},
                             {"num_scan_inputs", int64_t{1}},
                             {"scan_input_directions", Ints{is_backwards}}},
                            {}, 2);
  b.output(made[0]);
  s.x = made[1];
}

GraphPtr branch(State& s, const Vals& captured, bool is_first) {
  Inner inner(s.b, captured);
  const Val x = inner.capture(0), w = inner.capture(1);
  switch (s.b.draw.below(4)) {
    case 0:
      inner.output(inner.call("Identity", {x}));
      break;
    case 1:
      inner.output(inner.call("MatMul", {x, w}));
      break;
    case 2:
      inner.output(inner.call("Mul", {x, inner.emitter.scalar(DType::kFloat, is_first ? 2 : -1)}));
      break;
    default:
      inner.output(inner.call("Relu", {inner.call("Sub", {x, inner.call("Tanh", {x})})}));
  }
  return inner.graph;
}

void if_else(State& s) {
  GraphBuilder& b = s.b;
  b.note("If");
  Val condition;
  if (b.draw.coin()) {
    condition = b.integers("c" + std::to_string(b.made.model.graph->inputs().size()), DType::kBool,
                           {}, 0, 1);
  } else {  // a matter of sizes
    const Val rows = b.call("Squeeze", {dims_of(b, s.x, 0, 1), b.ints({0})});
    condition = b.call("Greater", {rows, b.emitter.constant(Tensor::scalar<int64_t>(2))});
  }
  const Vals captured{s.x, b.weight({s.width, s.width}, s.width)};
  const GraphPtr first = branch(s, captured, true), second = branch(s, captured, false);
  s.x = control(b, "If", {condition}, {{"then_branch", first}, {"else_branch", second}}, captured,
                1)[0];
}

// Rows that are chosen by an input whose elements are far from the limit.
Val chosen_rows(State& s) {
  return s.b.integers("rows" + std::to_string(s.b.made.model.graph->inputs().size()), DType::kBool,
                      {s.rows}, 0, 1);
}

void choose_rows(State& s) {
  GraphBuilder& b = s.b;
  if (s.rows.text().starts_with("?")) return;
  const Val rows = chosen_rows(s);
  switch (b.draw.below(3)) {
    case 0:
      b.note("Compress");
      s.x = b.call("Compress", {s.x, rows}, {{"axis", int64_t{0}}});
      break;
    case 1: {
      b.note("NonZero, Gather");
      const Val at = b.call("Squeeze", {b.call("NonZero", {rows}), b.ints({0})});
      s.x = b.call("Gather", {s.x, at});
      break;
    }
    default: {
      b.note("NonZero, GatherND");
      const Val at = b.call("Transpose", {b.call("NonZero", {rows})}, {{"perm", Ints{1, 0}}});
      s.x = b.call("GatherND", {s.x, at});
      if (b.draw.coin()) {
        b.note("ScatterND");
        const Val zeros =
            b.call("ConstantOfShape", {b.call("Concat", {dims_of(b, rows, 0, 1), b.ints({s.width})},
                                              {{"axis", int64_t{0}}})});
        s.x = b.call("ScatterND", {zeros, at, s.x});
        return;
      }
    }
  }
  s.rows = Graph::fresh_symbol();
}

void top(State& s) {
  GraphBuilder& b = s.b;
  b.note("TopK");
  const Val order = b.calls("TopK", {s.x, b.ints({std::min<int64_t>(2, s.width)})}, {}, 2)[0];
  b.output(order);
}

void split_sequence(State& s) {
  GraphBuilder& b = s.b;
  b.note("SplitToSequence");
  const Val items =
      b.call("SplitToSequence", {s.x}, {{"axis", int64_t{1}}, {"keepdims", int64_t{1}}});
  const Val last = b.call("SequenceAt", {items, b.emitter.constant(Tensor::scalar<int64_t>(-1))});
  b.output(last);
  s.x = b.call("ConcatFromSequence", {items}, {{"axis", int64_t{1}}});
}

void unique(State& s) {
  GraphBuilder& b = s.b;
  b.note("Unique");
  const Val tokens = b.integers("tokens" + std::to_string(b.made.model.graph->inputs().size()),
                                DType::kInt64, {b.dim("u", {7, 1, 12})}, 0, 5);
  const Vals found = b.calls("Unique", {tokens}, {{"sorted", int64_t{1}}}, 4);
  for (const Val& one : found)
    b.output(one);
  b.output(b.call("Gather", {b.constant({6, 3}, -1, 1), found[0]}));
}

void boxes(GraphBuilder& b) {
  b.note("NonMaxSuppression");
  const Dim batch = b.dim("b", {1, 2}), count = b.dim("k", {6, 1, 20});
  // Corners are multiples of 1/8: areas are exact, and so is what is compared.
  const Val given = b.input(
      "boxes", DType::kFloat, {batch, count, 4}, [](const Shape& shape, Draw& draw, const auto&) {
        Tensor tensor = Tensor::allocate(DType::kFloat, shape);
        const auto at = tensor.mutable_values<float>();
        for (size_t i = 0; i + 3 < at.size(); i += 4) {
          for (const size_t axis : {0, 1}) {
            at[i + axis] = static_cast<float>(draw.between(0, 8)) / 8;
            at[i + axis + 2] = at[i + axis] + static_cast<float>(draw.between(1, 8)) / 8;
          }
        }
        return tensor;
      });
  const Val scores = b.floats("scores", {batch, 2, count}, 0, 1);
  const Val most = b.emitter.constant(Tensor::scalar(b.draw.between(1, 5)));
  const Val kept =
      b.call("NonMaxSuppression", {given, scores, most, b.scalar(0.4372), b.scalar(0.2117)});
  b.output(kept);
  const Val which = b.call("Slice", {kept, b.ints({2}), b.ints({3}), b.ints({1})});
  const Val first = b.call("Gather", {given, b.emitter.constant(Tensor::scalar<int64_t>(0))});
  b.output(b.call("Gather", {first, b.call("Squeeze", {which, b.ints({1})})}));
}

}  // namespace

void build_control(GraphBuilder& b) {
  if (b.draw.one_in(8)) return boxes(b);
  const Dim rows = b.dim("n", {4, 1, 6, 3, 0});
  const int64_t width = b.draw.pick({1, 3, 8, 16});
  State s{b, rows, width, b.floats("x", {rows, width})};
  using Motif = void (*)(State&);
  constexpr Motif kMotifs[] = {
      scanning_loop, while_loop,  growing_loop, sequence_loop, nested_loop,    scan,  if_else,
      if_else,       choose_rows, choose_rows,  top,           split_sequence, unique};
  for (int64_t count = b.draw.between(1, 4); count > 0; --count) {
    kMotifs[b.draw.below(static_cast<int64_t>(std::size(kMotifs)))](s);
    if (b.draw.coin()) s.x = b.call(b.draw.pick({"Relu", "Tanh", "Neg"}), {s.x});
  }
  b.output(s.x);
}

}  // namespace sardonyx::graph_test
