// Reshape(Transpose(Reshape(x))) that deals the channels of groups out in turns becomes
// sardonyx::ChannelShuffle(x), which needs no row-major order. It does not fire
//  1. unless the first Reshape cuts the channels (dim 1) alone, into known groups, the Transpose
//     exchanges these two dims and the second Reshape undoes the first,
//  2. where somebody else reads the values between,
//  3. for other elements than float.
#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/ops/data_movement/channel_shuffle.h"
#include "ir/ops/data_movement/shape.h"

namespace sardonyx::passes {
namespace {

// [batch, channels, rest...] as [batch, groups, channels of each, rest...]: the groups; 0 where the
// dims are others.
int64_t groups_of(const Value& x, const Value& wide) {
  if (!x.type.has_rank() || !wide.type.has_rank() || x.type.rank() < 3) return 0;
  const Dims &from = *x.type.shape, &to = *wide.type.shape;
  if (to.size() != from.size() + 1 || !(to[0] == from[0])) return 0;
  if (!from[1].is_known() || !to[1].is_known() || !to[2].is_known()) return 0;
  if (to[1].value() < 1 || to[1].value() * to[2].value() != from[1].value()) return 0;
  for (size_t dim = 2; dim < from.size(); ++dim) {
    if (!(to[dim + 1] == from[dim])) return 0;
  }
  return to[1].value();
}

bool exchanges_groups(const Node& transpose, size_t rank) {
  const auto& perm = transpose.attrs.as<ops::TransposeAttrs>().perm;
  if (!perm || perm->size() != rank) return false;
  for (size_t dim = 0; dim < rank; ++dim) {
    const size_t expected = dim == 1 ? 2 : dim == 2 ? 1 : dim;
    if ((*perm)[dim] != static_cast<int64_t>(expected)) return false;
  }
  return true;
}

}  // namespace

bool recognize_channel_shuffle(Graph& graph, Node& node) {
  if (!is_op(node, "Reshape") || !is_float(*node.outputs[0])) return false;
  Node* transpose = sole_producer(graph, node, 0);
  if (!transpose || !is_op(*transpose, "Transpose")) return false;
  Node* first = sole_producer(graph, *transpose, 0);
  if (!first || !is_op(*first, "Reshape")) return false;
  Value& x = *first->inputs[0];
  const int64_t groups = groups_of(x, *first->outputs[0]);
  if (groups == 0 || !same_shape(x, *node.outputs[0])) return false;
  if (!exchanges_groups(*transpose, x.type.rank() + 1)) return false;
  graph.set_op(node, op_named("sardonyx::ChannelShuffle"), Attrs(ops::ChannelShuffleAttrs{groups}),
               {&x});
  graph.erase(*transpose);
  graph.erase(*first);
  return true;
}

}  // namespace sardonyx::passes
