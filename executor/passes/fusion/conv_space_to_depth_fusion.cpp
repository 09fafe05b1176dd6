// Conv over channels that are the phases of an image becomes Conv on the image itself, with larger
// windows and steps:
//   Conv(Concat(x[:, :, 0::2, 0::2], x[:, :, 1::2, 0::2], ...)) and Conv(SpaceToDepth(x)).
// The phases may be cut out by several Slices one after the other, and stand in any order. It does
// not fire
//  1. unless every phase is there once, all are of one value, and its sizes are multiples of the
//     steps,
//  2. unless the weights are constant floats, the group is 1 and the window has no gaps,
//  3. where pads follow from auto_pad SAME.
#include <algorithm>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/core/memory/evictable_buffer.h"
#include "ir/ops/data_movement/concat_split.h"
#include "ir/ops/data_movement/space_depth.h"

namespace sardonyx::passes {
namespace {

// The largest step. Larger ones are no space-to-depth of images, and kernels grow with the step.
constexpr int64_t kMaxStep = 8;
constexpr int64_t kMaxPad = 1 << 20;

// part[n, c, k...] = source[n, c, starts + k * steps ...]
struct StridedPart {
  Value* source;
  std::vector<int64_t> starts, steps;  // of the spatial dims
};

struct Phases {
  Value* source;
  std::vector<int64_t> steps;
  std::vector<std::vector<int64_t>> starts;  // by phase, in the order of the channels
};

std::optional<std::vector<int64_t>> constant_ints(const Node& node, size_t slot) {
  if (!node.has_input(slot) || !node.inputs[slot]->constant) return std::nullopt;
  return node.inputs[slot]->constant->to_int64s();
}

std::optional<ops::SliceRanges> constant_ranges(const Node& slice) {
  const auto shape = slice.inputs[0]->type.known_shape();
  const auto starts = constant_ints(slice, 1), ends = constant_ints(slice, 2);
  const auto axes = constant_ints(slice, 3), steps = constant_ints(slice, 4);
  if (!shape || !starts || !ends || (slice.has_input(3) && !axes) || (slice.has_input(4) && !steps))
    return std::nullopt;
  using Values = std::optional<std::span<const int64_t>>;
  return ops::slice_ranges(*shape, *starts, *ends, axes ? Values(*axes) : std::nullopt,
                           steps ? Values(*steps) : std::nullopt);
}

std::optional<StridedPart> phase_of(Value* part) {
  if (!part->type.has_rank() || part->type.rank() < 3) return std::nullopt;
  const size_t spatial = part->type.rank() - 2;
  StridedPart phase{part, std::vector<int64_t>(spatial, 0), std::vector<int64_t>(spatial, 1)};
  while (phase.source->producer && is_op(*phase.source->producer, "Slice")) {
    const Node& slice = *phase.source->producer;
    const auto ranges = constant_ranges(slice);
    if (!ranges) return std::nullopt;
    for (size_t dim = 0; dim < spatial + 2; ++dim) {
      const ops::SliceRange& range = (*ranges)[dim];
      if (dim < 2 && (range.start != 0 || range.step != 1)) return std::nullopt;
      if (dim < 2) continue;
      if (range.step < 1 || range.step > kMaxStep) return std::nullopt;
      phase.starts[dim - 2] = range.start + phase.starts[dim - 2] * range.step;
      phase.steps[dim - 2] *= range.step;
      if (phase.steps[dim - 2] > kMaxStep) return std::nullopt;
    }
    phase.source = slice.inputs[0];
  }
  return phase;
}

std::optional<Phases> phases_of_concat(const Node& concat) {
  if (concat.attrs.as<ops::ConcatAttrs>().axis != 1) return std::nullopt;
  Phases phases{nullptr, {}, {}};
  for (Value* part : concat.inputs) {
    const auto phase = phase_of(part);
    if (!phase || (phases.source && phase->source != phases.source)) return std::nullopt;
    if (phases.source && phase->steps != phases.steps) return std::nullopt;
    phases.source = phase->source;
    phases.steps = phase->steps;
    phases.starts.push_back(phase->starts);
  }
  return phases;
}

// Blocks by row, then column; each with all channels.
std::optional<Phases> phases_of_blocks(const Node& node) {
  const int64_t size = node.attrs.as<ops::SpaceToDepthAttrs>().blocksize;
  if (size < 1 || size > kMaxStep) return std::nullopt;
  Phases phases{node.inputs[0], {size, size}, {}};
  for (int64_t row = 0; row < size; ++row) {
    for (int64_t column = 0; column < size; ++column)
      phases.starts.push_back({row, column});
  }
  return phases;
}

// Whether every phase of the source occurs exactly once, at the size that its slice says.
bool is_complete(const Phases& phases, const Value& joined) {
  const auto from = phases.source->type.known_shape(), to = joined.type.known_shape();
  if (!from || !to || from->size() != to->size() || from->size() != phases.steps.size() + 2)
    return false;
  size_t count = 1;
  for (size_t i = 0; i < phases.steps.size(); ++i) {
    if (phases.steps[i] < 1 || (*to)[i + 2] * phases.steps[i] != (*from)[i + 2]) return false;
    count *= static_cast<size_t>(phases.steps[i]);
  }
  if (count < 2 || phases.starts.size() != count) return false;
  if ((*from)[0] != (*to)[0] || (*from)[1] * static_cast<int64_t>(count) != (*to)[1]) return false;
  std::vector<std::vector<int64_t>> sorted = phases.starts;
  std::ranges::sort(sorted);
  for (const auto& starts : sorted) {
    for (size_t i = 0; i < starts.size(); ++i) {
      if (starts[i] < 0 || starts[i] >= phases.steps[i]) return false;
    }
  }
  return std::ranges::adjacent_find(sorted) == sorted.end();
}

// The window's element at `tap` of a phase's channel is at steps * tap + start of the source's.
Tensor spread_weights(const Tensor& weights, const Phases& phases) {
  const size_t spatial = phases.steps.size();
  Shape shape = weights.shape();
  const auto count = static_cast<int64_t>(phases.starts.size());
  const int64_t channels = shape[1] / count;
  shape[1] = channels;
  for (size_t i = 0; i < spatial; ++i)
    shape[i + 2] *= phases.steps[i];
  Tensor spread = Tensor::allocate(DType::kFloat, shape);
  load_weight(weights);
  const auto from = weights.values<float>();
  const auto to = spread.mutable_values<float>();
  std::ranges::fill(to, 0.f);
  for (size_t index = 0; index < from.size(); ++index) {
    int64_t rest = static_cast<int64_t>(index), place = 0, stride = 1;
    std::vector<int64_t> taps(spatial);
    for (size_t i = spatial; i-- > 0;) {
      taps[i] = rest % weights.shape()[i + 2];
      rest /= weights.shape()[i + 2];
    }
    const int64_t channel = rest % weights.shape()[1], output = rest / weights.shape()[1];
    const auto& starts = phases.starts[static_cast<size_t>(channel / channels)];
    for (size_t i = spatial; i-- > 0;) {
      place += stride * (taps[i] * phases.steps[i] + starts[i]);
      stride *= shape[i + 2];
    }
    place += stride * (output * channels + channel % channels);
    to[static_cast<size_t>(place)] = from[index];
  }
  return spread;
}

std::optional<ops::ConvAttrs> spread_attributes(ops::ConvAttrs attrs, const Phases& phases,
                                                const Shape& window) {
  const size_t spatial = phases.steps.size();
  if (attrs.group != 1 || (attrs.auto_pad != "NOTSET" && attrs.auto_pad != "VALID"))
    return std::nullopt;
  if (attrs.dilations && std::ranges::any_of(*attrs.dilations, [](int64_t d) { return d != 1; }))
    return std::nullopt;
  std::vector<int64_t> pads(2 * spatial, 0), strides(spatial, 1),
      kernel(window.begin() + 2, window.end());
  if (attrs.pads && attrs.auto_pad == "NOTSET") pads = *attrs.pads;
  if (attrs.strides) strides = *attrs.strides;
  if (pads.size() != 2 * spatial || strides.size() != spatial) return std::nullopt;
  const auto is_small = [](int64_t pad) { return pad >= 0 && pad <= kMaxPad; };
  if (!std::ranges::all_of(pads, is_small) || !std::ranges::all_of(strides, is_small))
    return std::nullopt;
  for (size_t i = 0; i < spatial; ++i) {
    pads[i] *= phases.steps[i];
    pads[spatial + i] *= phases.steps[i];
    strides[i] *= phases.steps[i];
    kernel[i] *= phases.steps[i];
  }
  attrs.auto_pad = "NOTSET";
  attrs.pads = pads;
  attrs.strides = strides;
  attrs.kernel_shape = kernel;
  return attrs;
}

}  // namespace

bool space_to_depth_into_conv(Graph& graph, Node& node) {
  if (!is_op(node, "Conv")) return false;
  const Node* maker = node.inputs[0]->producer;
  const Tensor* weights = float_constant(node, 1);
  if (!maker || !weights || !is_float(*node.inputs[0])) return false;
  std::optional<Phases> phases;
  if (is_op(*maker, "Concat")) phases = phases_of_concat(*maker);
  if (is_op(*maker, "SpaceToDepth")) phases = phases_of_blocks(*maker);
  if (!phases || !is_complete(*phases, *node.inputs[0])) return false;
  if (weights->rank() != phases->steps.size() + 2) return false;
  const auto attrs = spread_attributes(node.attrs.as<ops::ConvAttrs>(), *phases, weights->shape());
  if (!attrs) return false;
  graph.set_input(node, 0, phases->source);
  graph.set_input(node, 1, graph.add_constant("", spread_weights(*weights, *phases)));
  graph.set_attrs(node, Attrs(*attrs));
  return true;
}

}  // namespace sardonyx::passes
