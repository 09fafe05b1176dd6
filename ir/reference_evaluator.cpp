#include "ir/reference_evaluator.h"

#include <algorithm>
#include <cstring>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/eval_call.h"
#include "ir/graph.h"

namespace sardonyx {
namespace {

// A sequence of fresh symbols for inference outside a graph.
Dim next_unknown() {
  thread_local uint64_t count = 0;
  return Dim::symbol("?e" + std::to_string(count++));
}

// Unpacks to one byte an element, as reference kernels take the packed types.
void unpack(const TensorView& packed, uint8_t* out) {
  in_pieces(packed.count(), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      out[i] = get_packed(packed.dtype, packed.raw, i);
  });
}

void pack(const uint8_t* in, const TensorView& packed) {
  std::memset(packed.raw, 0, bytes_for(packed.dtype, packed.count()));
  in_pieces(packed.count(), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      set_packed(packed.dtype, packed.raw, i, in[i]);
  });
}

}  // namespace

void run_reference(const OpDef& op, const Attrs& attrs, std::span<const TensorView> inputs,
                   std::span<const TensorView> outputs) {
  const ScratchMark mark;
  using Views = std::pmr::vector<TensorView>;
  Views in(inputs.begin(), inputs.end(), scratch()), out(outputs.begin(), outputs.end(), scratch());
  std::pmr::vector<std::pmr::vector<uint8_t>> bytes(scratch());
  bytes.reserve(in.size() + out.size());
  for (Views* views : {&in, &out}) {
    for (TensorView& view : *views) {
      if (!is_packed(view.dtype)) continue;
      bytes.emplace_back(static_cast<size_t>(view.count()));
      if (views == &in) unpack(view, bytes.back().data());
      view.raw = bytes.back().data();
    }
  }
  op.reference({op, attrs, in, out});
  for (size_t i = 0; i < out.size(); ++i) {
    if (is_packed(out[i].dtype)) pack(static_cast<const uint8_t*>(out[i].raw), outputs[i]);
  }
}

std::vector<Datum> evaluate_inferred(const OpDef& op, const Attrs& attrs,
                                     std::span<const Datum> inputs, std::span<const Type> types) {
  check_interrupted();
  std::vector<Datum> outputs;
  std::vector<TensorView> in, out;
  for (const Datum& input : inputs)
    in.push_back(input.defined() ? input.tensor().view() : TensorView{});
  for (const Type& type : types) {
    const std::optional<Shape> shape = type.known_shape();
    if (!type.is_tensor() || !shape) {
      fail(ErrorCode::kInternal, full_name(op), ": inference left output ", outputs.size(), " as ",
           type, " although all inputs are known");
    }
    outputs.emplace_back(Tensor::allocate(type.dtype, *shape));
    out.push_back(outputs.back().tensor().view());
  }
  run_reference(op, attrs, in, out);
  return outputs;
}

std::vector<Datum> evaluate(const OpDef& op, const Attrs& attrs, std::span<const Datum> inputs,
                            size_t outputs, std::span<const Datum> captures) {
  check_interrupted();
  std::vector<InferInput> seen;
  for (const std::span<const Datum> part : {inputs, captures}) {
    for (const Datum& datum : part) {
      seen.push_back({datum.type(), datum.is_tensor() ? &datum.tensor() : nullptr, nullptr});
    }
  }
  const std::vector<InferOutput> inferred =
      infer(op, attrs, seen, inputs.size(), outputs, next_unknown);
  if (op.reference) {
    std::vector<Type> types;
    for (const InferOutput& output : inferred)
      types.push_back(output.type);
    return evaluate_inferred(op, attrs, inputs, types);
  }
  if (op.evaluate) {
    const SubgraphRunner run = [](const Graph& graph, DatumRefs in, DatumRefs captured,
                                  std::span<Datum> out) {
      std::ranges::move(evaluate(graph, in.copies(), captured.copies()), out.begin());
    };
    std::vector<Datum> results(outputs);
    const DatumPointers in(inputs), captured(captures);
    op.evaluate({op, attrs, in, captured, results, run});
    return results;
  }
  SARDONYX_CHECK(op.body);
  ReferenceEmitter emitter;
  Vals vals;
  for (const std::span<const Datum> part : {inputs, captures}) {
    for (const Datum& datum : part)
      vals.push_back(ReferenceEmitter::wrap(datum));
  }
  std::vector<Datum> results;
  for (const Val& val : op.body(emitter, {op, attrs, vals, outputs})) {
    results.push_back(val ? ReferenceEmitter::unwrap(val) : Datum());
  }
  results.resize(outputs);
  return results;
}

std::vector<Datum> evaluate(const Graph& graph, std::span<const Datum> inputs,
                            std::span<const Datum> captures) {
  std::unordered_map<const Value*, Datum> known;
  std::unordered_map<const Value*, size_t> uses_left;
  for (const auto& [value, owner] : graph.values()) {
    uses_left[value] = value->uses.size() + (graph.is_output(*value) ? 1 : 0);
    if (value->constant) known[value] = Datum(*value->constant);
  }
  SARDONYX_CHECK(inputs.size() == graph.inputs().size() &&
                 captures.size() == graph.captures().size());
  for (size_t i = 0; i < inputs.size(); ++i)
    known[graph.inputs()[i]] = inputs[i];
  for (size_t i = 0; i < captures.size(); ++i)
    known[graph.captures()[i]] = captures[i];
  for (const auto& node : graph.nodes()) {
    std::vector<Datum> in;
    for (const Value* value : node->inputs)
      in.push_back(value ? known[value] : Datum());
    std::vector<Datum> out;
    try {
      const std::span<const Datum> all = in;
      out = evaluate(*node->op, node->attrs, all.first(node->formal_inputs()), node->outputs.size(),
                     all.subspan(node->formal_inputs()));
    } catch (const Error& error) {
      throw error.with_context("node " + node->name).at_node(node->name);
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (node->outputs[i]) known[node->outputs[i]] = std::move(out[i]);
    }
    for (const Value* value : node->inputs) {  // frees what nobody reads any more
      if (value && !value->constant && --uses_left[value] == 0) known.erase(value);
    }
  }
  std::vector<Datum> results;
  for (const Value* output : graph.outputs())
    results.push_back(known[output]);
  return results;
}

Vals ReferenceEmitter::emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs,
                            size_t outputs, size_t captures) {
  std::vector<Datum> in;
  for (const Val& input : inputs)
    in.push_back(input ? unwrap(input) : Datum());
  Vals vals;
  const std::span<const Datum> all = in;
  const size_t formal = in.size() - captures;
  for (Datum& output : evaluate(op, attrs, all.first(formal), outputs, all.subspan(formal)))
    vals.push_back(wrap(std::move(output)));
  return vals;
}

std::optional<Tensor> ReferenceEmitter::constant_value(const Val& val) const {
  const Datum& datum = unwrap(val);
  return datum.is_tensor() ? std::optional(datum.tensor()) : std::nullopt;
}

std::optional<Dims> ReferenceEmitter::dims_value(const Val& val) const {
  const Datum& datum = unwrap(val);
  if (!datum.is_tensor() || !is_integer(datum.tensor().dtype()) || datum.tensor().rank() > 1)
    return std::nullopt;
  return to_dims(datum.tensor().to_int64s());
}

}  // namespace sardonyx
