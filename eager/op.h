// Every ONNX op under its own name, as a function: `op::Conv(x, w, b, {.strides = {2, 2}})`.
//
// Arguments are the op's inputs in ONNX's order, then its attributes, of which those that are not
// named have ONNX's defaults. An undefined Tensor ({}) leaves an optional input out; a variadic
// input is a vector. An op that must give one tensor gives it; where it may give more, a second
// function with "Outputs" at the end of its name gives as many as its first argument says:
// `op::MaxPool(x, ...)`, `op::MaxPoolOutputs(2, x, ...)`. Ops that must give several give them as a
// vector, and the number of them, where that is open, is the first argument as well:
// `op::Split(3, x, {}, {.num_outputs = 3})`. Outputs that an op does not give are undefined.
// Sequences, optionals and maps ride in Tensor too.
//
// Other domains than ai.onnx have namespaces of their own: op::ml (ai.onnx.ml), op::microsoft
// (com.microsoft), op::preview and op::training. Ops with subgraphs are in
// eager/trace/control_flow.h. Errors are those of the op's inference and kernels, with the caller's
// line.
#pragma once

#include "eager/op/arrange.h"
#include "eager/op/classic.h"
#include "eager/op/contrib.h"
#include "eager/op/generate.h"
#include "eager/op/math.h"
#include "eager/op/network.h"
#include "eager/op/product.h"
#include "eager/op/text.h"
