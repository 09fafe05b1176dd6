// Ops between DequantizeLinear and QuantizeLinear that work element by element, pool or join:
//   any set of elementwise ops that depends on one dequantised tensor and on scalars becomes a
//   table of 256 bytes, made by running the set on all 256 values, so it is exact;
//   Add and Mul of two become QLinearAdd and QdqMul (QLinearMul rounds otherwise),
//   GlobalAveragePool and AveragePool their QLinear forms, Concat QLinearConcat. Relu and Clip
//   before the QuantizeLinear become a clamp.
// They do not fire
//  1. for scales or zero points that the run brings, one for each channel, or in blocks,
//  2. where the types of the operands and the result differ, but for tables and Concat,
//  3. for a table: where a constant has more than one element, an op is random, or there are more
//  than 32 of them,
//  4. where somebody else reads what would be rounded later, but for tables.
#include <algorithm>
#include <map>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "executor/passes/quantization/qdq_pattern.h"
#include "ir/ops/pooling/pool.h"
#include "ir/ops/quantization/qlinear_attributes.h"
#include "ir/reference_evaluator.h"

namespace sardonyx::passes {
namespace {

constexpr size_t kMaxNodes = 32;

// The elementwise ops from one dequantised tensor to a value, in the order in which they run.
class TableMaker {
 public:
  // Returns false where `value` is not computed by such a chain.
  bool visit(const Value& value) {
    if (known_.contains(&value)) return true;
    if (value.constant) return value.constant->count() == 1 && note(value, *value.constant);
    const Node* node = value.producer;
    if (!node) return false;
    if (is_dequantize(*node) && quantization_of(*node)) {
      if (source_ && source_ != node->inputs[0]) return false;
      source_ = node->inputs[0];
      return run(*node, {Datum(all_bytes(source_->type.dtype)), Datum(*node->inputs[1]->constant),
                         node->has_input(2) ? Datum(*node->inputs[2]->constant) : Datum()});
    }
    const OpDef& op = *node->op;
    if (!op.is(kElementwise) || op.is(kRandom) || node->outputs.size() != 1) return false;
    if (node->captures > 0 || ++visited_ > kMaxNodes) return false;  // nor too deep a recursion
    std::vector<Datum> inputs;
    for (const Value* input : node->inputs) {
      if (input && !visit(*input)) return false;
      inputs.push_back(input ? known_.at(input) : Datum());
    }
    return run(*node, inputs);
  }
  Value* source() const { return source_; }
  const Tensor& result(const Value& value) const { return known_.at(&value).tensor(); }

 private:
  static Tensor all_bytes(DType dtype) {
    const Tensor bytes = Tensor::allocate(dtype, {256});
    for (int i = 0; i < 256; ++i)
      static_cast<uint8_t*>(bytes.raw())[i] = static_cast<uint8_t>(i);
    return bytes;
  }
  bool note(const Value& value, const Tensor& tensor) {
    known_.emplace(&value, Datum(tensor));
    return true;
  }
  bool run(const Node& node, const std::vector<Datum>& inputs) {
    const Datum made = evaluate(*node.op, node.attrs, inputs, 1)[0];
    return made.is_tensor() && note(*node.outputs[0], made.tensor());
  }

  std::map<const Value*, Datum> known_;
  size_t visited_ = 0;
  Value* source_ = nullptr;
};

bool same_byte_types(std::initializer_list<Quantization> all) {
  return std::ranges::all_of(
      all, [&](const Quantization& other) { return other.dtype == all.begin()->dtype; });
}

// (X, its scale and zero point, those of the result).
Vals unary_inputs(Emitter& e, const Dequantized& x, const Quantization& y) {
  return {GraphEmitter::wrap(x.integers), scale_of(e, x.quantization), zero_of(e, x.quantization),
          scale_of(e, y), zero_of(e, y)};
}

std::optional<Attrs> attrs_of_average_pool(const Node& pool) {
  const auto& attrs = pool.attrs.as<ops::AveragePoolAttrs>();
  for (const int64_t dilation : ops::given_ints(attrs.dilations)) {
    if (dilation != 1) return std::nullopt;
  }
  ops::QAveragePoolAttrs made;
  made.auto_pad = attrs.auto_pad;
  made.ceil_mode = attrs.ceil_mode;
  made.count_include_pad = attrs.count_include_pad;
  made.kernel_shape = attrs.kernel_shape;
  made.pads = attrs.pads;
  made.strides = attrs.strides;
  return Attrs(made);
}

}  // namespace

bool quantize_unary(Graph& graph, Node& node) {
  const auto quantization = is_quantize(node) ? quantization_of(node) : std::nullopt;
  if (!quantization) return false;
  TableMaker maker;
  if (!maker.visit(*node.inputs[0]) || !maker.source()) return false;
  Value& source = *maker.source();
  Value& y = *node.outputs[0];
  if (!source.type.shape || source.type.shape != y.type.shape) return false;
  const Datum real(maker.result(*node.inputs[0]).reshaped({256}));
  const Datum zero = node.has_input(2) ? Datum(*node.inputs[2]->constant) : Datum();
  const std::vector<Datum> inputs{real, Datum(*node.inputs[1]->constant), zero};
  const Tensor table = evaluate(*node.op, node.attrs, inputs, 1)[0].tensor();
  const auto* bytes = static_cast<const uint8_t*>(table.raw());
  bool changes = source.type.dtype != y.type.dtype;
  for (int i = 0; i < 256; ++i)
    changes |= bytes[i] != i;
  if (!changes) {
    if (graph.is_output(y) && (!source.producer || graph.is_output(source))) return false;
    replace_value(graph, y, source);
    graph.erase(node);
    return true;
  }
  GraphEmitter e(graph, &node);
  e.set_origin(node);
  const Val made = byte_table(e, GraphEmitter::wrap(&source), y.type.dtype, {bytes, bytes + 256});
  replace_value(graph, y, *GraphEmitter::unwrap(made));
  graph.erase(node);
  return true;
}

bool quantize_binary(Graph& graph, Node& node) {
  const auto tail = quantized_tail(graph, node);
  if (!tail || !(is_op(*tail->core, "Add") || is_op(*tail->core, "Mul"))) return false;
  const auto a = dequantized(*tail->core, 0), b = dequantized(*tail->core, 1);
  if (!a || !b || !same_byte_types({a->quantization, b->quantization, tail->quantization})) {
    return false;
  }
  GraphEmitter e(graph, &node);
  e.set_origin(*tail->core);
  const bool adds = is_op(*tail->core, "Add");
  const Val made = e.call(
      adds ? "com.microsoft::QLinearAdd" : "sardonyx::QdqMul",
      {GraphEmitter::wrap(a->integers), scale_of(e, a->quantization), zero_of(e, a->quantization),
       GraphEmitter::wrap(b->integers), scale_of(e, b->quantization), zero_of(e, b->quantization),
       scale_of(e, tail->quantization), zero_of(e, tail->quantization)});
  finish_tail(graph, node, e, *tail, made);
  return true;
}

bool quantize_pool(Graph& graph, Node& node) {
  const auto tail = quantized_tail(graph, node);
  if (!tail) return false;
  const bool is_global = is_op(*tail->core, "GlobalAveragePool");
  if (!is_global && !is_op(*tail->core, "AveragePool")) return false;
  const auto x = dequantized(*tail->core, 0);
  if (!x || !same_byte_types({x->quantization, tail->quantization})) return false;
  const auto attrs =
      is_global ? Attrs(ops::QGlobalAveragePoolAttrs{}) : attrs_of_average_pool(*tail->core);
  if (!attrs) return false;
  GraphEmitter e(graph, &node);
  e.set_origin(*tail->core);
  const OpDef& op = op_named(is_global ? "com.microsoft::QLinearGlobalAveragePool"
                                       : "com.microsoft::QLinearAveragePool");
  const Vals inputs = unary_inputs(e, *x, tail->quantization);
  finish_tail(graph, node, e, *tail, e.emit(op, inputs, *attrs, 1)[0]);
  return true;
}

bool quantize_concat(Graph& graph, Node& node) {
  const auto tail = quantized_tail(graph, node);
  if (!tail || !is_op(*tail->core, "Concat")) return false;
  std::vector<Dequantized> parts;
  for (size_t slot = 0; slot < tail->core->inputs.size(); ++slot) {
    const auto part = dequantized(*tail->core, slot);
    if (!part) return false;
    parts.push_back(*part);
  }
  GraphEmitter e(graph, &node);
  e.set_origin(*tail->core);
  Vals inputs{scale_of(e, tail->quantization), zero_of(e, tail->quantization)};
  for (const Dequantized& part : parts) {
    inputs.push_back(GraphEmitter::wrap(part.integers));
    inputs.push_back(scale_of(e, part.quantization));
    inputs.push_back(zero_of(e, part.quantization));
  }
  const int64_t axis = std::get<int64_t>(tail->core->attrs.get("axis").value());
  const Attrs attrs(ops::QConcatAttrs{axis});
  finish_tail(graph, node, e, *tail,
              e.emit(op_named("com.microsoft::QLinearConcat"), inputs, attrs, 1)[0]);
  return true;
}

}  // namespace sardonyx::passes
