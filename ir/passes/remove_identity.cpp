// Removes nodes that hand on their first input: Identity, Cast to the same type, Dropout outside
// training, views, Transposes and Pads that change nothing, and variadic sums and concatenations of
// one input. It does not fire
//  1. where both the input and the output have names that callers know (an input that is also an
//  output),
//  2. where the shapes are not proved equal,
//  3. where another output of the node (Dropout's mask) is read.
#include "ir/pass.h"

namespace sardonyx::passes {
namespace {

bool same_proved_type(const Type& a, const Type& b) {
  return a.has_rank() && a == b;
}

bool is_named(const OpDef& op, std::initializer_list<std::string_view> names) {
  return op.domain.empty() && std::ranges::count(names, op.name) > 0;
}

bool keeps_order(const Attrs& attrs) {
  const std::optional<AttrValue> perm = attrs.get("perm");
  if (!perm) return false;
  const auto& axes = std::get<std::vector<int64_t>>(*perm);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(i)) return false;
  }
  return !axes.empty();
}

bool adds_nothing(const Node& pad) {
  if (!pad.has_input(1) || !pad.inputs[1]->constant) return false;
  const std::vector<int64_t> amounts = pad.inputs[1]->constant->to_int64s();
  return std::ranges::all_of(amounts, [](int64_t amount) { return amount == 0; });
}

bool hands_on_input(const Node& node) {
  const OpDef& op = *node.op;
  const Type& in = node.inputs[0]->type;
  const Type& out = node.outputs[0]->type;
  if (is_named(op, {"Identity"})) return true;
  if (is_named(op, {"Cast", "CastLike"})) return in.is_tensor() && in.dtype == out.dtype;
  if (is_named(op, {"Dropout"})) return !node.has_input(2);
  if (is_named(op, {"Transpose"})) return keeps_order(node.attrs);
  if (is_named(op, {"Pad"})) return adds_nothing(node);
  if (is_named(op, {"Sum", "Max", "Min", "Mean", "Concat"})) return node.formal_inputs() == 1;
  return (op.is(kView) || is_named(op, {"Expand"})) && same_proved_type(in, out);
}

}  // namespace

bool remove_identity(Graph& graph, Node& node) {
  if (node.outputs.empty() || node.inputs.empty() || !node.inputs[0]) return false;
  if (!hands_on_input(node)) return false;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    const Value* other = node.outputs[i];
    if (other && (!other->uses.empty() || graph.is_output(*other))) return false;
  }
  Value& x = *node.inputs[0];
  Value& y = *node.outputs[0];
  const bool renames = graph.is_output(y);
  if (renames && (!x.producer || graph.is_output(x))) return false;  // both names are the caller's
  graph.replace_uses(y, x);
  if (renames) graph.take_name(x, y);
  graph.erase(node);
  return true;
}

}  // namespace sardonyx::passes
