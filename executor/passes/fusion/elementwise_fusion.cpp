// Connected elementwise ops become one sardonyx::FusedElementwise, two nodes at a time: a node
// takes in what makes one of its inputs. It does not fire
//  1. where somebody else reads the values between the two, or the graph gives it,
//  2. where the two have not the same shape, known as far as symbols tell,
//  3. for other types than float, and bool, int32 and int64 where they are compared, chosen or
//  cast,
//  4. for small whole numbers that are known as dims: planning computes these,
//  5. for values that a convolution may have left in blocks of channels, unless they fill the
//     blocks and all operands have the same shape or one element for each channel,
//  6. beyond a number of ops or inputs.
#include <algorithm>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/layout.h"
#include "ir/ops/elementwise/fused_elementwise.h"

namespace sardonyx::passes {
namespace {

constexpr size_t kMaxSteps = 32;
constexpr size_t kMaxInputs = 16;
// The search for a convolution above stops at this depth.
constexpr int kMaxDepth = 8;

// A node, or a group, seen as the attributes of a group.
struct Fragment {
  ops::FusedElementwiseAttrs attrs;
  std::vector<Value*> inputs;
};

bool is_group(const Node& node) {
  return is_fused(node, "FusedElementwise");
}

DType dtype_of(const Value& value) {
  return value.type.is_tensor() ? value.type.dtype : DType::kUndefined;
}

bool is_small_type(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kBool || dtype == DType::kInt32 ||
         dtype == DType::kInt64;
}

bool is_cast_in_groups(DType from, DType to) {
  if (from == DType::kFloat16) return to == DType::kFloat;
  if (from == DType::kFloat) return to == DType::kFloat16;
  return is_small_type(from) && is_small_type(to);
}

bool has_types_of_groups(const Node& node, std::string_view op) {
  const DType first = dtype_of(*node.inputs[0]), result = dtype_of(*node.outputs[0]);
  if (op == "Cast") return is_cast_in_groups(first, result);
  if (op == "Where") return is_small_type(result);
  if (result == DType::kBool) return is_small_type(first);
  for (size_t slot = 0; slot < node.formal_inputs(); ++slot) {
    if (node.inputs[slot] && !is_float(*node.inputs[slot])) return false;
  }
  return result == DType::kFloat;
}

// The name of the op in groups and its parameters; nullopt where no group may hold the node.
std::optional<ops::FusedActivation> op_in_groups(const Node& node) {
  if (!node.op->domain.empty() || node.captures > 0 || node.outputs.size() != 1)
    return std::nullopt;
  if (const auto activation = activation_of(node)) return activation;
  const std::string_view name = node.op->name == "Sum" ? "Add" : node.op->name;
  const ops::GroupedOp* op = ops::find_grouped_op(name);
  if (!op || op->operands != node.formal_inputs()) return std::nullopt;
  if (std::ranges::count(node.inputs, nullptr) > 0) return std::nullopt;
  if (name == "Cast") {
    return ops::FusedActivation{"Cast", {static_cast<float>(dtype_of(*node.outputs[0]))}};
  }
  if (op->params > 0) return std::nullopt;
  return ops::FusedActivation{std::string(name), {}};
}

std::optional<Fragment> fragment_of(const Node& node) {
  const Value& result = *node.outputs[0];
  if (!result.type.is_tensor() || !result.type.shape || result.dims) return std::nullopt;
  if (is_group(node)) return Fragment{node.attrs.as<ops::FusedElementwiseAttrs>(), node.inputs};
  const auto op = op_in_groups(node);
  if (!op || !has_types_of_groups(node, op->name)) return std::nullopt;
  Fragment fragment;
  fragment.attrs.ops = {op->name};
  fragment.attrs.params = op->params;
  for (size_t i = 0; i < ops::find_grouped_op(op->name)->operands; ++i) {
    Value* input = node.inputs[i];
    const auto at = std::ranges::find(fragment.inputs, input);
    fragment.attrs.operands.push_back(at - fragment.inputs.begin());
    if (at == fragment.inputs.end()) fragment.inputs.push_back(input);
  }
  fragment.attrs.results = {static_cast<int64_t>(fragment.inputs.size())};
  return fragment;
}

// The steps of `first`, then those of `last`, which reads the result of `first` as `between`.
Fragment joined(const Fragment& first, const Fragment& last, Value* between) {
  Fragment all;
  all.inputs = first.inputs;
  std::vector<int64_t> numbers;  // maps value numbers of `last` to those of the result
  for (Value* input : last.inputs) {
    const auto at = std::ranges::find(all.inputs, input);
    numbers.push_back(at - all.inputs.begin());
    if (input != between && at == all.inputs.end()) all.inputs.push_back(input);
  }
  const auto inputs = static_cast<int64_t>(all.inputs.size());
  const auto first_inputs = static_cast<int64_t>(first.inputs.size());
  const auto of_first = [&](int64_t number) {
    return number < first_inputs ? number : number - first_inputs + inputs;
  };
  for (size_t i = 0; i < last.inputs.size(); ++i) {
    if (last.inputs[i] == between) numbers[i] = of_first(first.attrs.results[0]);
  }
  for (size_t i = 0; i < last.attrs.ops.size(); ++i)
    numbers.push_back(inputs + static_cast<int64_t>(first.attrs.ops.size() + i));
  all.attrs = first.attrs;
  for (int64_t& operand : all.attrs.operands)
    operand = of_first(operand);
  for (const int64_t operand : last.attrs.operands)
    all.attrs.operands.push_back(numbers[static_cast<size_t>(operand)]);
  all.attrs.ops.insert(all.attrs.ops.end(), last.attrs.ops.begin(), last.attrs.ops.end());
  all.attrs.params.insert(all.attrs.params.end(), last.attrs.params.begin(),
                          last.attrs.params.end());
  all.attrs.results = {numbers[static_cast<size_t>(last.attrs.results[0])]};
  return all;
}

bool is_single(const Value& value) {
  return value.type.shape &&
         std::ranges::all_of(*value.type.shape, [](const Dim& dim) { return dim == 1; });
}

// Whether the value may have the layout of a convolution's output.
bool may_be_blocked(const Value& value, int depth = 0) {
  const Node* node = value.producer;
  if (!node || !value.type.has_rank() || value.type.rank() < 3 || depth > kMaxDepth) return false;
  const LayoutRole role = node->op->layout;
  if (role == LayoutRole::kConv || role == LayoutRole::kImage) return true;
  const bool keeps_layout = role == LayoutRole::kKeeps || role == LayoutRole::kFollows ||
                            is_group(*node) || op_in_groups(*node);
  return keeps_layout && std::ranges::any_of(node->inputs, [&](const Value* input) {
           return input && may_be_blocked(*input, depth + 1);
         });
}

// Whether `value` has one element for each channel of `whole`, or for each channel and image.
bool is_per_channel(const Value& value, const Value& whole) {
  if (!value.type.shape) return false;
  const auto &dims = *value.type.shape, &all = *whole.type.shape;
  if (dims.size() + 1 < all.size() || dims.size() > all.size()) return false;
  const size_t channel = dims.size() == all.size() ? 1 : 0;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (dim == channel ? dims[dim] != all[1] : dims[dim] != 1 && (dim > 0 || dims[0] != all[0]))
      return false;
  }
  return true;
}

bool keeps_blocks(const Fragment& fragment, const Value& result) {
  for (const Value* input : fragment.inputs) {
    if (is_single(*input) || is_per_channel(*input, result)) continue;
    if (!same_shape(*input, result) || dtype_of(*input) != dtype_of(result)) return false;
  }
  const Dim& channels = (*result.type.shape)[1];
  return channels.is_known() && channels.value() % ImageLayout::kChannelBlock == 0;
}

// The producer of input `slot` if it has one output, which only `node` reads; else null.
Node* maker_for_one(const Graph& graph, const Node& node, size_t slot) {
  const Value& value = *node.inputs[slot];
  Node* maker = value.producer;
  if (!maker || maker->outputs.size() != 1 || graph.is_output(value)) return nullptr;
  const auto is_ours = [&](const Use& use) { return use.node == &node; };
  return std::ranges::all_of(value.uses, is_ours) ? maker : nullptr;
}

bool take_in(Graph& graph, Node& node, size_t slot) {
  Node* producer = maker_for_one(graph, node, slot);
  if (!producer || !same_shape(*producer->outputs[0], *node.outputs[0])) return false;
  const auto first = fragment_of(*producer), last = fragment_of(node);
  if (!first || !last || first->attrs.ops.size() + last->attrs.ops.size() > kMaxSteps) return false;
  Fragment all = joined(*first, *last, node.inputs[slot]);
  if (all.inputs.size() > kMaxInputs) return false;
  const bool is_blocked =
      std::ranges::any_of(all.inputs, [](const Value* input) { return may_be_blocked(*input); });
  if (is_blocked && !keeps_blocks(all, *node.outputs[0])) return false;
  absorb(graph, node, *producer, op_named("sardonyx::FusedElementwise"), Attrs(all.attrs),
         std::move(all.inputs));
  return true;
}

}  // namespace

bool group_elementwise(Graph& graph, Node& node) {
  if (node.outputs.size() != 1 || !node.outputs[0]) return false;
  bool changed = false;
  for (size_t slot = 0; slot < node.formal_inputs();) {
    if (node.inputs[slot] && take_in(graph, node, slot)) {
      changed = true;
      slot = 0;
    } else {
      ++slot;
    }
  }
  return changed;
}

}  // namespace sardonyx::passes
