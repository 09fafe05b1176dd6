// Functions that are traced once and run by the static executor.
#pragma once

#include <memory>
#include <vector>

#include "eager/tensor.h"
#include "eager/trace.h"

namespace sardonyx::eager {

struct CompileOptions {
  int optimization_level = 2;  // as SessionOptions::optimization_level
  int threads = 0;             // as SessionOptions::intra_op_threads; 0: eager's own number
  // A call that would need a further trace throws kResourceExhausted with the reasons of them all.
  size_t max_traces = 32;
};

// What compile() gives: called like the function. It is traced at its first call, and anew where
// something differs that the trace depended on: number, element types and ranks of arguments, which
// of their sizes are equal, the answers that C++ got for comparisons of sizes (eager/dim.h) and for
// values of tensors that it read, training or evaluation mode of modules, whether tensors require
// gradients, have one already, or changed their type, and whether gradients are recorded at all.
// Each size is planned once. Within another trace the function runs as part of it. All arguments
// are defined. Tensors of the program that the function reads (parameters, buffers) are read anew
// in every call; those that it assigns (optimiser steps, running statistics) and gradients that its
// backward() leaves are written back after each call, so a whole training step can be compiled.
// From the second call on they are written where they lie, unless somebody else holds that memory;
// a call that fails halfway may then leave some of them with their next values. Variables of C++
// are fixed at the trace: what changes between calls must be a tensor. Results carry no gradient
// history: put backward() inside. May be called from one thread at a time.
class Compiled {
 public:
  Compiled(TensorFunction fn, CompileOptions options);
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments,
                                 Loc loc = Loc::current()) const;
  // How often the function was traced, and why each time: "train.cpp:40: Dropout is in evaluation
  // mode now".
  size_t traces() const;
  const std::vector<std::string>& trace_log() const;
  // The plan of the last call, one line a step.
  std::string plan_text() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

Compiled compile(TensorFunction fn, CompileOptions options = {});
}  // namespace sardonyx::eager
