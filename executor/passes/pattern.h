// Predicates and matchers on nodes, which passes use before they rewrite a subgraph.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/ops/conv/fused_ops.h"

namespace sardonyx::passes {

// Whether `node` is the op `name` of `domain`, "" being ai.onnx.
bool is_op(const Node& node, std::string_view name, std::string_view domain = "");
bool is_fused(const Node& node, std::string_view name);  // in sardonyx's own domain

// The node whose output 0 is input `slot`, where nobody else reads that output and it is no output
// of the graph. Null otherwise.
Node* sole_producer(const Graph& graph, const Node& node, size_t slot);

// The value of an input where it is known, has float elements and is no graph input.
const Tensor* float_constant(const Node& node, size_t slot);
// The element of a constant with one element.
std::optional<float> scalar_constant(const Node& node, size_t slot);
bool is_float(const Value& value);
// Whether the attribute is absent, or `wanted` for every axis.
bool all_are(const ops::OptionalInts& values, int64_t wanted);
// Whether both shapes are known to be the same.
bool same_shape(const Value& a, const Value& b);

// `last` becomes `op` in its place; it takes the name of `first`, which must be read by nobody else
// and is erased.
void absorb(Graph& graph, Node& last, Node& first, const OpDef& op, Attrs attrs,
            std::vector<Value*> inputs);

// The activation that `node` applies to its input 0, with constant parameters; nullopt where it is
// none.
std::optional<ops::FusedActivation> activation_of(const Node& node);

}  // namespace sardonyx::passes
