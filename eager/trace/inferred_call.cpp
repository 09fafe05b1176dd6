#include "eager/trace/inferred_call.h"

#include <algorithm>

#include "eager/trace/frame.h"

namespace sardonyx::eager {
namespace {

void add_symbols(std::set<std::string>& symbols, const Dims& dims) {
  for (const sardonyx::Dim& dim : dims)
    symbols.merge(dim.symbols());
}

Dims with_sizes(Dims dims, const SizeOf& sizes) {
  const auto lookup = [&](std::string_view symbol) -> std::optional<sardonyx::Dim> {
    const auto at = sizes.find(std::string(symbol));
    return at == sizes.end() ? std::nullopt : std::optional<sardonyx::Dim>(at->second);
  };
  for (sardonyx::Dim& dim : dims)
    dim = dim.substitute(lookup);
  return dims;
}

// The name where the dim is a symbol alone.
std::optional<std::string> symbol_of(const sardonyx::Dim& dim) {
  const std::set<std::string> symbols = dim.symbols();
  if (symbols.size() != 1 || !(dim == sardonyx::Dim::symbol(*symbols.begin()))) return {};
  return *symbols.begin();
}

}  // namespace

InferredCall::InferredCall(const Node& node)
    : op_(node.op),
      attrs_(node.attrs),
      formal_inputs_(node.formal_inputs()),
      outputs_(node.outputs.size()) {
  for (const Value* value : node.inputs) {
    KnownInput& input = inputs_.emplace_back();
    if (!value) continue;
    input = {value->type, value->constant, value->dims};
    if (input.type.shape) add_symbols(symbols_, *input.type.shape);
    if (input.dims) add_symbols(symbols_, *input.dims);
  }
}

std::optional<int64_t> InferredCall::size(const SizeOf& sizes, size_t output, size_t axis) const {
  std::vector<KnownInput> known = inputs_;
  std::vector<InferInput> inputs;
  for (KnownInput& input : known) {
    if (input.type.shape) input.type.shape = with_sizes(*input.type.shape, sizes);
    if (input.dims) input.dims = with_sizes(*input.dims, sizes);
    inputs.push_back({input.type, input.constant.get(), input.dims ? &*input.dims : nullptr});
  }
  try {
    const auto found = infer(*op_, attrs_, inputs, formal_inputs_, outputs_, Graph::fresh_symbol);
    const Type& type = found[output].type;
    return type.shape ? type.shape->at(axis).try_value() : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // the run says why
  }
}

void note_inferred_sizes(TraceContext& frame, const Node& node) {
  // Bodies of control flow have their own symbols, and the graph of a body may change.
  if (!subgraphs_of(node).empty()) return;
  TraceContext& root = frame.root();
  std::shared_ptr<const InferredCall> call;
  for (size_t output = 0; output < node.outputs.size(); ++output) {
    const Value* value = node.outputs[output];
    if (!value || !value->type.is_tensor() || !value->type.shape) continue;
    for (size_t axis = 0; axis < value->type.shape->size(); ++axis) {
      const std::optional<std::string> symbol = symbol_of((*value->type.shape)[axis]);
      if (!symbol || root.example_sizes.contains(*symbol)) continue;
      if (!call) call = std::make_shared<InferredCall>(node);
      const auto has_example = [&](const std::string& one) {
        return root.example_sizes.contains(one);
      };
      if (!std::ranges::all_of(call->symbols(), has_example)) return;
      const std::optional<int64_t> example = call->size(root.example_sizes, output, axis);
      if (!example) continue;
      root.example_sizes[*symbol] = *example;
      root.guards.derive(*symbol, {call->symbols(), [=](const SizeOf& sizes) {
                                     return call->size(sizes, output, axis);
                                   }});
    }
  }
}

}  // namespace sardonyx::eager
