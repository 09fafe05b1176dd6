// Operators that a file's opset can't express, written out in others that it has.
#pragma once

#include "ir/graph.h"

namespace sardonyx::onnx_export {

// Whether a file of that opset must not hold the node itself, and can hold its body.
bool must_be_written_out(const Node& node, int64_t opset);

// Puts the body in the place of the node.
void write_out(Graph& graph, Node& node);

}  // namespace sardonyx::onnx_export
