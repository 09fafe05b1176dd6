// From a C++ function to a graph: the function runs once on symbolic tensors, and every op it calls
// is recorded. Nothing is computed.
#pragma once

#include <string>
#include <vector>

#include "eager/trace/frame.h"
#include "eager/trace/tensor_function.h"

namespace sardonyx::eager {

// What an argument of a traced function is. Dims are integers, or symbols for sizes that stay open:
// {.dtype = DType::kFloat, .shape = {Dim::symbol("batch"), 784}, .name = "x"}.
struct TensorSpec {
  DType dtype = DType::kFloat;
  Dims shape;
  std::string name = "";  // "input_K" where empty
  // The sizes at hand, which answer C++ that compares symbols; none where it must not.
  std::optional<Shape> example = {};
};
// The spec of a tensor at hand; the axes named become symbols.
TensorSpec spec_of(const Tensor& tensor,
                   const std::vector<std::pair<int64_t, std::string>>& axes = {},
                   std::string name = "");

struct Traced {
  std::shared_ptr<Graph> graph;
  // Of TraceContext::Kind::kStates: the tensors of the program that the graph reads (its inputs
  // after the arguments, in this order) and writes (outputs after the results: each assigned value,
  // then each gradient that was left, in this order).
  std::vector<TraceContext::TracedState> states;
  size_t results = 0;
  Guards guards;  // what the trace took from the program
};

// Records `fn` on symbolic arguments. Names for tensors of the program come from `names`. Errors
// carry the line of the call at fault, also where a result is undefined. Values, and so C++
// branches on them, are not there while tracing: item() throws, naming cond, while_loop and scan
// (eager/trace/control_flow.h). `runs_here`: as TraceContext has it.
Traced trace(const TensorFunction& fn, const std::vector<TensorSpec>& specs,
             TraceContext::Kind kind = TraceContext::Kind::kConstants, const std::string& name = "",
             const std::unordered_map<const detail::TensorImpl*, std::string>& names = {},
             bool runs_here = false);

}  // namespace sardonyx::eager
