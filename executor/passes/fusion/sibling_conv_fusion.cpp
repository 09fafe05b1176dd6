// Convolutions of few channels that read the same value become one, and a Split of its channels: a
// kernel computes whole blocks of channels, however few are asked for. Detectors end with such
// layers. And depthwise convolutions that read the parts of a Split, each the whole of one, become
// one in front of it. They do not fire
//  1. unless weights and biases are constant floats and all attributes (windows, activations) are
//     the same,
//  2. for layers with a residual,
//  3. where no block of channels is saved, or the layers have many channels,
//  4. of depthwise convolutions: where one has more outputs than inputs, or somebody else reads a
//     part.
#include <algorithm>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/core/memory/evictable_buffer.h"
#include "ir/ops/data_movement/concat_split.h"

namespace sardonyx::passes {
namespace {

// Channels that kernels compute at once.
constexpr int64_t kChannelBlock = 16;
constexpr int64_t kMaxChannels = 64;

bool is_conv(const Node& node) {
  return is_op(node, "Conv") || is_fused(node, "FusedConv");
}

// A layer with constant weights and bias, and nothing added to it.
bool is_constant_layer(const Graph& graph, const Node& node) {
  if (!is_conv(node) || node.has_input(3) || !is_float(*node.inputs[0])) return false;
  const Value& output = *node.outputs[0];
  if (output.uses.empty() && !graph.is_output(output)) return false;  // it has been merged
  return float_constant(node, 1) && (!node.has_input(2) || float_constant(node, 2));
}

int64_t outputs_of(const Node& layer) {
  return float_constant(layer, 1)->shape()[0];
}

int64_t group_of(const Node& layer) {
  return std::get<int64_t>(layer.attrs.get("group").value());
}

Attrs with_group(const Node& layer, int64_t group) {
  AttrMap attrs = layer.attrs.to_map();
  attrs["group"] = group;
  return Attrs::parse(*layer.op->attrs, attrs);
}

// Whether two convolutions have the same windows; counts of output channels and groups may differ.
bool are_alike(const Node& a, const Node& b) {
  const Shape &left = float_constant(a, 1)->shape(), &right = float_constant(b, 1)->shape();
  return a.op == b.op && with_group(a, 1) == with_group(b, 1) &&
         std::equal(left.begin() + 1, left.end(), right.begin() + 1, right.end());
}

// The layers' weights or biases one after the other; zeros for a bias that is not there.
Tensor joined(const std::vector<Node*>& layers, size_t slot) {
  Shape shape = float_constant(*layers[0], 1)->shape();
  if (slot == 2) shape.resize(1);
  shape[0] = 0;
  for (const Node* layer : layers)
    shape[0] += outputs_of(*layer);
  Tensor all = Tensor::allocate(DType::kFloat, shape);
  auto to = all.mutable_values<float>().begin();
  for (const Node* layer : layers) {
    const Tensor* part = float_constant(*layer, slot);
    if (part) load_weight(*part);
    if (part)
      to = std::ranges::copy(part->values<float>(), to).out;
    else
      to = std::fill_n(to, outputs_of(*layer), 0.f);
  }
  return all;
}

// Emits one layer with the concatenated weights of all `layers` on `x`, and a Split with a part for
// each.
Vals merged(GraphEmitter& emitter, const std::vector<Node*>& layers, Val x, int64_t group) {
  Vals inputs{std::move(x), emitter.constant(joined(layers, 1))};
  const auto has_bias = [](const Node* layer) { return layer->has_input(2); };
  if (std::ranges::any_of(layers, has_bias)) inputs.push_back(emitter.constant(joined(layers, 2)));
  const Val y = emitter.emit(*layers[0]->op, inputs, with_group(*layers[0], group), 1)[0];
  std::vector<int64_t> sizes;
  for (const Node* layer : layers)
    sizes.push_back(outputs_of(*layer));
  return emitter.call_many("Split", Vals{y, emitter.int64s(sizes)}, {{"axis", int64_t{1}}},
                           layers.size());
}

// Nobody reads the layers any more. They are not erased: the driver may be about to visit them.
void replace(Graph& graph, const std::vector<Node*>& layers, const Vals& parts) {
  for (size_t i = 0; i < layers.size(); ++i) {
    Value& old = *layers[i]->outputs[0];
    Value& part = *GraphEmitter::unwrap(parts[i]);
    const bool is_output = graph.is_output(old);
    graph.replace_uses(old, part);
    if (is_output) graph.take_name(part, old);
  }
}

int64_t blocks(int64_t channels) {
  return (channels + kChannelBlock - 1) / kChannelBlock;
}

// The layers that can be computed with `node`, itself among them, in the order of their uses.
std::vector<Node*> siblings_of(const Graph& graph, const Node& node) {
  std::vector<Node*> layers;
  int64_t channels = 0;
  for (const Use& use : node.inputs[0]->uses) {
    if (use.slot != 0 || !is_constant_layer(graph, *use.node) || group_of(*use.node) != 1) continue;
    const int64_t outputs = outputs_of(*use.node);
    if (!are_alike(node, *use.node) || outputs % kChannelBlock == 0) continue;
    if (channels + outputs > kMaxChannels) continue;
    layers.push_back(use.node);
    channels += outputs;
  }
  return layers;
}

bool saves_blocks(const std::vector<Node*>& layers) {
  int64_t channels = 0, separate = 0;
  for (const Node* layer : layers) {
    channels += outputs_of(*layer);
    separate += blocks(outputs_of(*layer));
  }
  return blocks(channels) < separate;
}

bool is_depthwise(const Node& layer) {
  const Shape& weights = float_constant(layer, 1)->shape();
  return group_of(layer) == weights[0] && weights[1] == 1;
}

}  // namespace

bool merge_sibling_convs(Graph& graph, Node& node) {
  if (!is_constant_layer(graph, node) || group_of(node) != 1) return false;
  const std::vector<Node*> layers = siblings_of(graph, node);
  if (layers.size() < 2 || std::ranges::count(layers, &node) == 0 || !saves_blocks(layers))
    return false;
  // The merged node is emitted at `node`, which must precede all readers of the layers.
  const auto comes_first = [&](const Node* layer) { return layer->order >= node.order; };
  if (!std::ranges::all_of(layers, comes_first)) return false;
  GraphEmitter emitter(graph, &node);
  emitter.set_origin(node);
  const Vals parts = merged(emitter, layers, GraphEmitter::wrap(node.inputs[0]), 1);
  replace(graph, layers, parts);
  return true;
}

bool merge_depthwise_convs(Graph& graph, Node& node) {
  if (!is_op(node, "Split") || !node.inputs[0]->type.has_rank()) return false;
  const int64_t axis = std::get<int64_t>(node.attrs.get("axis").value_or(int64_t{0}));
  if (axis != 1 || node.outputs.size() < 2) return false;
  std::vector<Node*> layers;
  int64_t channels = 0;
  for (const Value* part : node.outputs) {
    if (!part || part->uses.size() != 1 || graph.is_output(*part)) return false;
    Node* layer = part->uses[0].node;
    if (part->uses[0].slot != 0 || !is_constant_layer(graph, *layer) || !is_depthwise(*layer))
      return false;
    if (!layers.empty() && !are_alike(*layers[0], *layer)) return false;
    layers.push_back(layer);
    channels += outputs_of(*layer);
  }
  GraphEmitter emitter(graph, &node);
  emitter.set_origin(*layers[0]);
  const Vals parts = merged(emitter, layers, GraphEmitter::wrap(node.inputs[0]), channels);
  replace(graph, layers, parts);
  return true;
}

}  // namespace sardonyx::passes
