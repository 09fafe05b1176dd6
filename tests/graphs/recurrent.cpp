// Recurrent networks: layers over layers, lengths of rows, first states, what stands before them.
#include "tests/graphs/families.h"

namespace sardonyx::graph_test {
namespace {

struct Recurrent {
  GraphBuilder& b;
  Dim batch, length;
  Val x;        // [length, batch, width]
  Val lengths;  // int32[batch]; may be empty
  int64_t width;
};

constexpr int64_t gates_of(std::string_view op) {
  return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
}

// A state at the beginning: given, zeros of a size that follows from the input, or left out.
Val first_state(Recurrent& r, const std::string& name, int64_t directions, int64_t hidden) {
  GraphBuilder& b = r.b;
  switch (b.draw.below(3)) {
    case 0:
      return b.floats(name, {directions, r.batch, hidden});
    case 1: {
      const Val shape =
          b.call("Concat", {b.ints({directions}), dims_of(b, r.x, 1, 2), b.ints({hidden})},
                 {{"axis", int64_t{0}}});
      return b.draw.coin() ? b.call("ConstantOfShape", {shape})
                           : b.call("Expand", {b.scalar(0), shape});
    }
    default:
      return {};
  }
}

void layer(Recurrent& r, const std::string& op) {
  GraphBuilder& b = r.b;
  b.note(op);
  const int64_t hidden = b.draw.pick({3, 8, 16, 20}), gates = gates_of(op);
  const std::string direction = b.draw.pick({"forward", "reverse", "bidirectional"});
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  AttrMap attrs{{"hidden_size", hidden}, {"direction", direction}};
  Vals inputs{r.x, b.weight({directions, gates * hidden, r.width}, r.width),
              b.weight({directions, gates * hidden, hidden}, hidden)};
  inputs.push_back(b.draw.coin() ? b.constant({directions, 2 * gates * hidden}, -0.3, 0.3) : Val());
  inputs.push_back(r.lengths);
  const std::string number = std::to_string(b.made.model.graph->inputs().size());
  inputs.push_back(first_state(r, "h" + number, directions, hidden));
  if (op == "LSTM") {
    inputs.push_back(first_state(r, "c" + number, directions, hidden));
    if (b.draw.one_in(4)) inputs.push_back(b.constant({directions, 3 * hidden}, -0.3, 0.3));
  }
  if (op == "GRU" && b.draw.coin()) attrs["linear_before_reset"] = int64_t{1};
  if (op == "RNN" && b.draw.coin())
    attrs["activations"] = std::vector<std::string>(static_cast<size_t>(directions), "Relu");
  while (!inputs.back())
    inputs.pop_back();
  const Vals outputs = b.calls(op, inputs, attrs, op == "LSTM" ? 3 : 2);
  if (b.draw.one_in(3)) {
    for (size_t i = 1; i < outputs.size(); ++i)
      b.output(outputs[i]);
  }
  // [length, directions, batch, hidden] as [length, batch, directions * hidden]
  r.width = directions * hidden;
  if (directions == 1) {
    r.x = b.call("Squeeze", {outputs[0], b.ints({1})});
  } else {
    const Val transposed = b.call("Transpose", {outputs[0]}, {{"perm", Ints{0, 2, 1, 3}}});
    r.x = b.call("Reshape", {transposed, b.ints({0, 0, r.width})});
  }
  if (b.draw.one_in(3)) r.x = activated(b, dense(b, r.x, r.width, r.width));
}

// An image of a line of text: rows are joined to channels, columns become steps.
void read_columns(Recurrent& r) {
  GraphBuilder& b = r.b;
  b.note("CRNN");
  const Val image = b.floats("image", {r.batch, 1, 8, r.length});
  Val y = activated(b, convolved(b, image, 8, 3, 1));
  y = b.call("MaxPool", {y}, {{"kernel_shape", Ints{2, 1}}, {"strides", Ints{2, 1}}});
  y = activated(b, convolved(b, y, 8, 3, 1));
  y = b.call("AveragePool", {y}, {{"kernel_shape", Ints{4, 1}}, {"strides", Ints{4, 1}}});
  r.x = b.call("Transpose", {b.call("Squeeze", {y, b.ints({2})})}, {{"perm", Ints{2, 0, 1}}});
  r.width = 8;
}

void read_frames(Recurrent& r) {
  GraphBuilder& b = r.b;
  r.width = b.draw.pick({3, 8, 17});
  if (b.draw.coin()) {
    r.x = b.floats("x", {r.length, r.batch, r.width});
  } else {  // batch first
    const Val x = b.floats("x", {r.batch, r.length, r.width});
    r.x = b.call("Transpose", {x}, {{"perm", Ints{1, 0, 2}}});
  }
}

}  // namespace

void build_recurrent(GraphBuilder& b) {
  Recurrent r{b, b.dim("b", {2, 1, 4}), b.dim("t", {5, 1, 8, 3}), {}, {}, 0};
  const bool has_lengths = b.draw.coin();
  if (has_lengths) {
    b.note("lengths");
    r.lengths = b.input("lengths", DType::kInt32, {r.batch},
                        [length = r.length](const Shape& shape, Draw& draw, const auto& sizes) {
                          const int64_t most = length.is_known() ? length.value() : sizes.at("t");
                          return drawn_integers(DType::kInt32, shape, 1, most, draw);
                        });
  }
  if (b.draw.one_in(3))
    read_columns(r);
  else
    read_frames(r);
  for (int64_t count = b.draw.between(1, 3); count > 0; --count)
    layer(r, b.draw.pick({"LSTM", "LSTM", "GRU", "GRU", "RNN"}));
  if (b.draw.coin()) {
    b.output(b.call(b.draw.pick({"LogSoftmax", "Softmax"}), {dense(b, r.x, r.width, 7)}));
  } else {
    b.output(r.x);
  }
}

}  // namespace sardonyx::graph_test
