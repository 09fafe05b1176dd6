// Conv(Pad(x)) becomes Conv with larger pads, and so does AveragePool. It does not fire
//  1. unless the Pad writes zeros, its amounts are constants, and it grows spatial dims alone,
//  2. where the convolution's own pads follow auto_pad SAME, which depends on the size of its
//  input,
//  3. for an AveragePool in ceil_mode, or with pads of its own that it does not count, or whose
//  kernel is no larger than the pads would be.
// The Pad stays for its other readers.
#include <algorithm>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/ops/data_movement/concat_split.h"
#include "ir/ops/pooling/pool.h"

namespace sardonyx::passes {
namespace {

// The amounts for every dim (begins, then ends) of a Pad by zeros; empty where it is another.
std::vector<int64_t> zero_pads(const Node& pad, size_t rank) {
  if (!is_op(pad, "Pad") || pad.attrs.as<ops::PadAttrs>().mode != "constant") return {};
  if (!pad.has_input(1) || !pad.inputs[1]->constant || pad.has_input(3)) return {};
  if (pad.has_input(2) && scalar_constant(pad, 2) != 0.f) return {};
  std::vector<int64_t> pads = pad.inputs[1]->constant->to_int64s();
  if (pads.size() != 2 * rank || rank < 3) return {};
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0 || (i % rank < 2 && pads[i] != 0)) return {};
  }
  return pads;
}

// The window's own pads and the Pad's; nullopt where they can't be joined.
std::optional<std::vector<int64_t>> joined(const std::string& auto_pad,
                                           const ops::OptionalInts& own,
                                           const std::vector<int64_t>& added, size_t rank) {
  const size_t spatial = rank - 2;
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return std::nullopt;
  std::vector<int64_t> pads(2 * spatial, 0);
  if (own && auto_pad == "NOTSET") pads = *own;
  if (pads.size() != 2 * spatial) return std::nullopt;
  for (size_t axis = 0; axis < spatial; ++axis) {
    pads[axis] += added[2 + axis];
    pads[spatial + axis] += added[rank + 2 + axis];
  }
  return pads;
}

bool has_pads(const ops::PoolAttrs& attrs) {
  return attrs.pads && std::ranges::any_of(*attrs.pads, [](int64_t pad) { return pad != 0; });
}

// The attributes of `node` with the Pad's amounts taken in.
std::optional<Attrs> with_pads(const Node& node, const std::vector<int64_t>& added, size_t rank) {
  if (is_op(node, "Conv")) {
    auto attrs = node.attrs.as<ops::ConvAttrs>();
    const auto pads = joined(attrs.auto_pad, attrs.pads, added, rank);
    if (!pads) return std::nullopt;
    attrs.auto_pad = "NOTSET";
    attrs.pads = *pads;
    return Attrs(attrs);
  }
  auto attrs = node.attrs.as<ops::AveragePoolAttrs>();
  if (attrs.ceil_mode || (!attrs.count_include_pad && has_pads(attrs))) return std::nullopt;
  const auto pads = joined(attrs.auto_pad, attrs.pads, added, rank);
  if (!pads) return std::nullopt;
  for (size_t i = 0; i < pads->size(); ++i) {
    if ((*pads)[i] >= attrs.kernel_shape[i % (rank - 2)]) return std::nullopt;
  }
  attrs.auto_pad = "NOTSET";
  attrs.pads = *pads;
  attrs.count_include_pad = true;
  return Attrs(attrs);
}

}  // namespace

bool pad_into_conv(Graph& graph, Node& node) {
  if (!is_op(node, "Conv") && !is_op(node, "AveragePool")) return false;
  Value& padded = *node.inputs[0];
  if (!padded.producer || !padded.type.has_rank() || !is_float(padded)) return false;
  Node& pad = *padded.producer;
  const std::vector<int64_t> added = zero_pads(pad, padded.type.rank());
  if (added.empty()) return false;
  auto attrs = with_pads(node, added, padded.type.rank());
  if (!attrs) return false;
  graph.set_attrs(node, std::move(*attrs));
  graph.set_input(node, 0, pad.inputs[0]);
  if (padded.uses.empty() && !graph.is_output(padded)) graph.erase(pad);
  return true;
}

}  // namespace sardonyx::passes
