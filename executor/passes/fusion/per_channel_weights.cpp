#include "executor/passes/fusion/per_channel_weights.h"

#include <algorithm>
#include <cstring>

#include "executor/passes/pattern.h"
#include "ir/core/memory/evictable_buffer.h"
#include "ir/ops/gemm/matmul.h"

namespace sardonyx::passes {
namespace {

// Maps the index of a weight to its output channel.
class ChannelOf {
 public:
  ChannelOf(const Node& node, const Tensor& weights) {
    const Shape& shape = weights.shape();
    int64_t inner = 1;
    for (size_t dim = 1; dim < shape.size(); ++dim)
      inner *= shape[dim];
    if (is_op(node, "Gemm")) {
      const bool by_rows = node.attrs.as<ops::GemmAttrs>().transB;
      inner_ = by_rows ? shape[1] : 1;
      channels_ = by_rows ? shape[0] : shape[1];
    } else if (is_op(node, "ConvTranspose")) {
      const int64_t group = node.attrs.as<ops::ConvTransposeAttrs>().group;
      inner_ = inner / std::max<int64_t>(shape[1], 1);
      channels_ = shape[1];
      group_size_ = shape[0] / group * inner;
      group_step_ = shape[1];
    } else {
      inner_ = inner;
      channels_ = shape[0];
    }
  }
  std::string text() const {
    return sardonyx::text(inner_, "/", channels_, "/", group_size_, "/", group_step_);
  }
  // The number of contiguous weights of one channel.
  int64_t run_length() const { return std::max<int64_t>(inner_, 1); }
  int64_t operator()(int64_t index) const {
    const int64_t within = index / std::max<int64_t>(inner_, 1) % channels_;
    return group_size_ ? index / group_size_ * group_step_ + within : within;
  }

 private:
  int64_t inner_ = 1, channels_ = 1, group_size_ = 0, group_step_ = 0;
};

int64_t channel_count(const Node& node, const Tensor& weights) {
  const Shape& shape = weights.shape();
  if (is_op(node, "Gemm")) return shape[node.attrs.as<ops::GemmAttrs>().transB ? 0 : 1];
  if (is_op(node, "ConvTranspose")) {
    return shape[1] * node.attrs.as<ops::ConvTransposeAttrs>().group;
  }
  return shape[0];
}

bool is_scalable(const Node& node) {
  if (is_op(node, "Conv") || is_op(node, "ConvTranspose")) return true;
  if (!is_op(node, "Gemm")) return false;
  const auto& attrs = node.attrs.as<ops::GemmAttrs>();
  return attrs.alpha == 1 && attrs.beta == 1;
}

}  // namespace

std::vector<float> per_channel(const Tensor& constant, size_t rank, size_t channels) {
  const auto values = constant.values<float>();
  const Shape& shape = constant.shape();
  if (shape.size() > rank) return {};
  if (values.size() == 1) return std::vector<float>(channels, values[0]);
  const size_t ahead = rank - shape.size();
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] != 1 && dim + ahead != 1) return {};
  }
  if (values.size() != channels) return {};
  return {values.begin(), values.end()};
}

std::optional<ChannelLayer> channel_layer(const Graph& graph, const Node& node, size_t slot) {
  Node* layer = sole_producer(graph, node, slot);
  if (!layer || !is_scalable(*layer)) return std::nullopt;
  const Tensor* weights = float_constant(*layer, 1);
  if (!weights || weights->count() == 0) return std::nullopt;
  const auto channels = static_cast<size_t>(channel_count(*layer, *weights));
  ChannelLayer found{layer, weights, std::vector<float>(channels, 0.f)};
  if (layer->has_input(2)) {
    const Tensor* bias = float_constant(*layer, 2);
    if (!bias) return std::nullopt;
    found.bias = per_channel(*bias, is_op(*layer, "Gemm") ? 2 : 1, channels);
    if (!is_op(*layer, "Gemm"))
      found.bias.assign(bias->values<float>().begin(), bias->values<float>().end());
    if (found.bias.size() != channels) return std::nullopt;
  }
  return found;
}

namespace {

// `from` with each channel times its factor; `from` and `to` may be anywhere.
void scale_channels(const std::byte* from, size_t count, const ChannelOf& channel_of,
                    const std::vector<double>& scale, std::byte* to) {
  const auto run = static_cast<size_t>(channel_of.run_length());
  for (size_t begin = 0; begin < count; begin += run) {
    const double factor = scale[static_cast<size_t>(channel_of(static_cast<int64_t>(begin)))];
    const size_t end = std::min(begin + run, count);
    for (size_t i = begin; i < end; ++i) {
      float value;
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      value = static_cast<float>(value * factor);
      std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
  }
}

// The origin includes all factors, since two models may have the same weights in one file.
std::string origin_of_scaled(const Buffer& weights, const ChannelOf& channel_of,
                             const std::vector<double>& scale) {
  std::string origin = weights.origin();
  if (origin.empty()) return origin;
  origin += text(", by ", channel_of.text(), " ");
  return origin.append(reinterpret_cast<const char*>(scale.data()), scale.size() * sizeof(double));
}

// Weights with each channel times its factor. Where the weights can be read again, so can these;
// where they are evicted, so are these.
Tensor scaled(const Tensor& weights, const ChannelOf& channel_of,
              const std::vector<double>& scale) {
  const auto write = [weights, channel_of, scale](std::byte* to) {
    const ScopedLoad look(weights);
    scale_channels(peek(weights), static_cast<size_t>(weights.count()), channel_of, scale, to);
  };
  if (const auto* source = dynamic_cast<EvictableBuffer*>(weights.buffer().get())) {
    auto buffer = std::make_shared<EvictableBuffer>(weights.bytes(), write,
                                                    origin_of_scaled(*source, channel_of, scale));
    if (source->is_there()) buffer->reload();
    return Tensor(DType::kFloat, weights.shape(), std::move(buffer));
  }
  Tensor result = Tensor::allocate(DType::kFloat, weights.shape());
  write(static_cast<std::byte*>(result.raw()));
  return result;
}

}  // namespace

void absorb_channels(Graph& graph, Node& last, const ChannelLayer& layer,
                     const std::vector<double>& scale, const std::vector<double>& shift) {
  const ChannelOf channel_of(*layer.node, *layer.weights);
  std::vector<Value*> inputs = layer.node->inputs;
  inputs.resize(3);
  const bool is_scaled = std::ranges::any_of(scale, [](double factor) { return factor != 1; });
  if (is_scaled) {
    inputs[1] = graph.add_constant(inputs[1]->name, scaled(*layer.weights, channel_of, scale));
  }
  std::vector<float> bias(layer.bias.size());
  for (size_t i = 0; i < bias.size(); ++i) {
    bias[i] = static_cast<float>(layer.bias[i] * scale[i] + shift[i]);
  }
  inputs[2] = graph.add_constant(layer.node->name + ".bias", Tensor::vector(bias));
  const OpDef& op = *layer.node->op;
  absorb(graph, last, *layer.node, op, layer.node->attrs, std::move(inputs));
}

}  // namespace sardonyx::passes
