// Output channels of layers with constant weights, to be scaled and shifted by passes.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace sardonyx::passes {

// A Conv, ConvTranspose or Gemm with constant float weights and a bias that is constant or absent,
// and nothing done to its output yet.
struct ChannelLayer {
  Node* node;
  const Tensor* weights;
  std::vector<float> bias;  // one for each output channel; zeros where there is none
};

// The layer that produces input `slot` of `node`, if only `node` reads that output.
std::optional<ChannelLayer> channel_layer(const Graph& graph, const Node& node, size_t slot);

// The values of a constant that broadcasts along the channels (dim 1) of a tensor of this rank;
// empty where it does not, or varies along another dim.
std::vector<float> per_channel(const Tensor& constant, size_t rank, size_t channels);

// Replaces `last` by the layer, whose output channels are scaled and then shifted in its weights
// and bias.
void absorb_channels(Graph& graph, Node& last, const ChannelLayer& layer,
                     const std::vector<double>& scale, const std::vector<double>& shift);

}  // namespace sardonyx::passes
