// Scan before opset 9: every input and output has a batch dim before the scanned one.
#include "ir/core/error.h"
#include "ir/graph.h"
#include "onnx_io/upgrade/functions.h"

namespace sardonyx::upgrades {
namespace {

struct Scan8 {
  GraphPtr body;
  size_t states = 0, scans = 0;
  Ints directions;
};

Scan8 read_scan(RawCall& call) {
  Scan8 scan;
  const auto body = call.take<GraphPtr>("body");
  const int64_t scans = call.take_or("num_scan_inputs", int64_t{0});
  scan.directions = call.take_or("directions", Ints{});
  if (!body || call.inputs.empty()) {
    fail(ErrorCode::kInvalidModel, "Scan needs the attribute body and its inputs");
  }
  const size_t inputs = call.inputs.size() - 1;
  if (scans < 1 || static_cast<uint64_t>(scans) > inputs) {
    fail(ErrorCode::kInvalidModel, "attribute num_scan_inputs of Scan is ", scans, " with ", inputs,
         " inputs");
  }
  scan.body = *body;
  scan.scans = static_cast<size_t>(scans);
  scan.states = inputs - scan.scans;
  if (scan.body->outputs().size() < scan.states) {
    fail(ErrorCode::kInvalidModel, "the body of Scan has fewer outputs than states");
  }
  return scan;
}

Type one_of_batch(const Type& type) {
  Type one = type;
  if (one.shape && !one.shape->empty()) one.shape->erase(one.shape->begin());
  return one;
}

// Elements [0, length) of the first dim.
Val first_elements(Emitter& e, const Val& x, const Val& length) {
  return e.call("Slice", {x, e.int64s({0}), length, e.int64s({0})});
}

// Scans one sequence of the batch: cut to its length, the results filled up with zeros.
Vals scan_one(Graph& graph, const Scan8& scan, Vals inputs, const Val& length,
              const std::vector<Value*>& captures) {
  GraphEmitter e(graph);
  Val missing;
  if (length) {
    const Val count = e.call(
        "Reshape",
        {e.call("Cast", {length}, {{"to", static_cast<int64_t>(DType::kInt64)}}), e.int64s({1})});
    const Val all = e.call("Shape", {inputs[scan.states]}, {{"end", int64_t{1}}});
    missing = e.call("Sub", {all, count});
    for (size_t i = scan.states; i < inputs.size(); ++i)
      inputs[i] = first_elements(e, inputs[i], count);
  }
  AttrMap attrs{{"body", scan.body}, {"num_scan_inputs", static_cast<int64_t>(scan.scans)}};
  if (!scan.directions.empty()) attrs["scan_input_directions"] = scan.directions;
  std::vector<Value*> values;
  for (const Val& input : inputs)
    values.push_back(GraphEmitter::unwrap(input));
  values.insert(values.end(), captures.begin(), captures.end());
  const OpDef& row = op_named("Scan");
  Node* node = graph.append(row, Attrs::parse(*row.attrs, attrs), std::move(values),
                            std::vector<std::string>(scan.body->outputs().size()), captures.size());
  infer_node(graph, *node);
  Vals results;
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    Val result = GraphEmitter::wrap(node->outputs[i]);
    if (missing && i >= scan.states) {
      const Val pads =
          e.call_many("Concat", Vals{e.int64s({0}), missing}, {{"axis", int64_t{0}}}, 1)[0];
      result = e.call("Pad", {result, pads, Val(), e.int64s({0})});
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace

// A Scan over the batch, whose body is the Scan over one sequence.
Upgraded scan_8(RawCall& call) {
  const Scan8 scan = read_scan(call);
  const bool has_lengths = static_cast<bool>(call.inputs[0]);
  auto over_batch = std::make_shared<Graph>();
  std::vector<Value*> captures;
  for (const Val& outer : call.captures) {
    const Value* value = GraphEmitter::unwrap(outer);
    captures.push_back(over_batch->add_capture(value->name, value->type));
  }
  Vals outer_inputs, inner_inputs;
  Val length;
  for (size_t i = has_lengths ? 0 : 1; i < call.inputs.size(); ++i) {
    const Type type = one_of_batch(call.emitter.type(call.input(i)));
    const Val input = GraphEmitter::wrap(over_batch->add_input("", type));
    outer_inputs.push_back(call.inputs[i]);
    if (i == 0) {
      length = input;
    } else {
      inner_inputs.push_back(input);
    }
  }
  for (const Val& result : scan_one(*over_batch, scan, inner_inputs, length, captures)) {
    over_batch->add_output(GraphEmitter::unwrap(result));
  }
  const AttrMap attrs{{"body", over_batch},
                      {"num_scan_inputs", static_cast<int64_t>(outer_inputs.size())}};
  return call.emit_with_captures("Scan", outer_inputs, attrs, call.captures,
                                 scan.body->outputs().size());
}

}  // namespace sardonyx::upgrades
