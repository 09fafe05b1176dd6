// The families of motifs. Each builds one graph, which follows from the builder's draws.
#pragma once

#include <span>

#include "tests/graphs/graph_builder.h"

namespace sardonyx::graph_test {

void build_vision(GraphBuilder& b);
void build_transformer(GraphBuilder& b);
void build_recurrent(GraphBuilder& b);
void build_quantized(GraphBuilder& b);
void build_classical(GraphBuilder& b);
void build_control(GraphBuilder& b);
void build_experts(GraphBuilder& b);

// Layers that several families have.

// One of the activations that exporters write, as one op or written out.
Val activated(GraphBuilder& b, const Val& x);
// x times a drawn [width, features] plus a bias, of any rank, in one of the ways to write it.
Val dense(GraphBuilder& b, const Val& x, int64_t width, int64_t features);
// A convolution of `x` to `channels`, with the same size or, with a stride, a smaller one.
Val convolved(GraphBuilder& b, const Val& x, int64_t channels, int64_t kernel, int64_t stride,
              int64_t group = 1);
// May windows of `size` are in the image `x`? Where its sizes are not fixed, perhaps.
bool may_hold(GraphBuilder& b, const Val& x, int64_t size);
// The dims of `x`, [from, to), as a 1-D tensor.
Val dims_of(GraphBuilder& b, const Val& x, int64_t from, int64_t to);

}  // namespace sardonyx::graph_test
