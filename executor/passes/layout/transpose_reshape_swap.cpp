// Swaps Reshape and Transpose so that the NCHW/NHWC transpose acts on the 4-D tensor, where
// channels-last layouts make it free: a convolution writes and reads NHWC memory anyway. Behind a
// Reshape the same transpose has to move the elements.
//
// transpose-before-reshape: Transpose(Reshape(x)) of an image x, whose channels and pixels are cut
// or merged apart from each other and change places, becomes Reshape(Transpose(x)), as where an
// image becomes a sequence; where the groups of channels are then spread, as in the heads of
// detectors, a Transpose follows. It does not fire
//  1. unless a convolution produces x, and no other node reads the intermediate value,
//  2. where the shape to cut has two dims that are not known beside the batch.
//
// transpose-behind-reshape: Reshape(Transpose(x)) of a sequence whose features become the channels
// of an image becomes Transpose(Reshape(x)), on the same conditions.
#include <algorithm>
#include <numeric>
#include <utility>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/ops/data_movement/shape.h"

namespace sardonyx::passes {
namespace {

using Ints = std::vector<int64_t>;

bool is_image(const Value& value) {
  return value.type.has_rank() && (value.type.rank() == 4 || value.type.rank() == 5);
}

// The number of dims from the second on whose product is `channels`; 0 if it is not known.
size_t dims_of_channels(const Dims& dims, const Dim& channels) {
  int64_t count = 1;
  for (size_t dim = 1; channels.is_known() && dim + 1 < dims.size(); ++dim) {
    if (!dims[dim].is_known() || dims[dim].value() < 1) return 0;
    if (__builtin_mul_overflow(count, dims[dim].value(), &count)) return 0;
    if (count >= channels.value()) return count == channels.value() ? dim : 0;
  }
  return 0;
}

// Dim 0, then the dims from `first` on, then those before it.
Ints channels_last_order(size_t rank, size_t first) {
  Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + 1, perm.begin() + static_cast<std::ptrdiff_t>(first), perm.end());
  return perm;
}

// The shape input of a Reshape to these dims of a batch; nullopt if several are unknown.
std::optional<Ints> target_of(const Dims& dims, const Ints& order) {
  Ints target;
  bool has_unknown = false;
  for (const int64_t from : order) {
    const Dim& dim = dims[static_cast<size_t>(from)];
    const bool is_batch = from == 0;
    if (!dim.is_known() && !is_batch && std::exchange(has_unknown, true)) return std::nullopt;
    if (dim.is_known() && dim.value() < 1) return std::nullopt;
    target.push_back(dim.is_known() ? dim.value() : is_batch ? 0 : -1);
  }
  return target;
}

bool is_made_by_convolution(const Value& value) {
  return value.producer && value.producer->op->layout == LayoutRole::kConv;
}

// Whether a convolution reads the value, or an op that takes images in any layout and may pass them
// on to one.
bool is_read_as_image(const Value& value) {
  return std::ranges::any_of(value.uses, [](const Use& use) {
    return use.node->op->layout == LayoutRole::kConv || is_op(*use.node, "Concat") ||
           is_op(*use.node, "Resize");
  });
}

AttrMap perm_attr(Ints perm) {
  return {{"perm", std::move(perm)}};
}

}  // namespace

bool transpose_before_reshape(Graph& graph, Node& node) {
  if (!is_op(node, "Transpose") || !node.inputs[0]->type.has_rank()) return false;
  Node* reshape = sole_producer(graph, node, 0);
  if (!reshape || !is_op(*reshape, "Reshape")) return false;
  Value& x = *reshape->inputs[0];
  if (!is_image(x) || !is_made_by_convolution(x)) return false;
  const Dims& from = *x.type.shape;
  const Dims& cut = *node.inputs[0]->type.shape;
  const size_t rank = cut.size(), channels = dims_of_channels(cut, from[1]);
  if (channels == 0 || !(cut[0] == from[0])) return false;
  const Ints order = channels_last_order(rank, 1 + channels);
  const auto target = target_of(cut, order);
  if (!target) return false;
  // The remaining permutation, once channels are last.
  Ints rest;
  for (const int64_t dim : ops::permutation(node.attrs.as<ops::TransposeAttrs>(), rank))
    rest.push_back(std::ranges::find(order, dim) - order.begin());
  const bool is_done = std::ranges::is_sorted(rest);
  if (!is_done && (rest[0] != 0 || rest.back() <= static_cast<int64_t>(rank - 1 - channels)))
    return false;

  GraphEmitter emitter(graph, &node);
  emitter.set_origin(*reshape);
  const Val image = emitter.call("Transpose", {GraphEmitter::wrap(&x)},
                                 perm_attr(channels_last_order(from.size(), 2)));
  const Val shape = emitter.constant(Tensor::vector(*target));
  if (is_done) {
    graph.set_op(node, op_named("Reshape"), Attrs::parse(*op_named("Reshape").attrs, {}),
                 {GraphEmitter::unwrap(image), GraphEmitter::unwrap(shape)});
  } else {
    const Val split = emitter.call("Reshape", {image, shape});
    graph.set_op(node, op_named("Transpose"), Attrs(ops::TransposeAttrs{rest}),
                 {GraphEmitter::unwrap(split)});
  }
  graph.erase(*reshape);
  return true;
}

bool transpose_behind_reshape(Graph& graph, Node& node) {
  if (!is_op(node, "Reshape")) return false;
  const Value& image = *node.outputs[0];
  if (!is_image(image) || !is_read_as_image(image)) return false;
  Node* transpose = sole_producer(graph, node, 0);
  if (!transpose || !is_op(*transpose, "Transpose") || !node.inputs[0]->type.has_rank())
    return false;
  const Dims& to = *image.type.shape;
  const Dims& sequence = *node.inputs[0]->type.shape;
  const size_t rank = sequence.size(), channels = dims_of_channels(sequence, to[1]);
  if (channels == 0 || !(sequence[0] == to[0])) return false;
  const auto perm = ops::permutation(transpose->attrs.as<ops::TransposeAttrs>(), rank);
  if (!std::ranges::equal(perm, channels_last_order(rank, rank - channels))) return false;
  const auto target = target_of(to, channels_last_order(to.size(), 2));
  if (!target) return false;

  GraphEmitter emitter(graph, &node);
  emitter.set_origin(node);
  const Val shape = emitter.constant(Tensor::vector(*target));
  const Val pixels = emitter.call("Reshape", {GraphEmitter::wrap(transpose->inputs[0]), shape});
  graph.set_op(node, op_named("Transpose"),
               Attrs(ops::TransposeAttrs{channels_last_order(to.size(), to.size() - 1)}),
               {GraphEmitter::unwrap(pixels)});
  graph.erase(*transpose);
  return true;
}

}  // namespace sardonyx::passes
