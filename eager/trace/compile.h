// Functions that are traced once and run by the static executor.
#pragma once

#include <memory>
#include <vector>

#include "eager/tensor.h"
#include "eager/trace/callable.h"

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
// values of tensors that it read, training or evaluation mode of modules, their parts and hooks (of
// modules that it calls: replace(), replace_parameter(), append() ...), whether tensors require
// gradients, have one already, or changed their type, whether gradients are recorded, and Autocast.
// Each size is planned once. Within another trace the function runs as part of it. All arguments
// are defined. Tensors of the program that the function reads (parameters, buffers) are read anew
// in every call; those that it assigns (optimiser steps, running statistics) and gradients that its
// backward() leaves are written back after each call, so a whole training step can be compiled.
// From the second call on they are written in place, unless somebody else holds that memory;
// a call that fails halfway may then leave some of them with their next values. Variables of C++
// are fixed at the trace: what changes between calls must be a tensor. Results carry no gradient
// history: put backward() inside. Any number of threads may call it: calls that assign or leave
// gradients wait for each other, others run at once.
class Compiled {
 public:
  Compiled(TensorFunction fn, CompileOptions options);
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments,
                                 Loc loc = Loc::current()) const;
  // How often the function was traced, and why each time: "train.cpp:40: Dropout is in evaluation
  // mode now".
  size_t traces() const;
  std::vector<std::string> trace_log() const;
  // The plan of the last call, one line a step.
  std::string plan_text() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

Compiled compile(TensorFunction fn, CompileOptions options = {});

// The same of a function of tensors, or of a module: called like it, with results like its own.
template <typename F>
class CompiledFunction : public Compiled {
 public:
  CompiledFunction(F fn, CompileOptions options, Loc loc = Loc::current())
      : Compiled(as_tensor_function(std::move(fn), loc), options) {}

  auto operator()(const Tensor& x, Loc loc = Loc::current()) const
      requires(std::invocable<const F&, const Tensor&>) {
    return run<std::invoke_result_t<const F&, const Tensor&>>({x}, loc);
  }
  auto operator()(const Tensor& x, const Tensor& y, Loc loc = Loc::current()) const
      requires(std::invocable<const F&, const Tensor&, const Tensor&>) {
    return run<std::invoke_result_t<const F&, const Tensor&, const Tensor&>>({x, y}, loc);
  }
  auto operator()(const Tensor& x, const Tensor& y, const Tensor& z, Loc loc = Loc::current()) const
      requires(std::invocable<const F&, const Tensor&, const Tensor&, const Tensor&>) {
    using Result = std::invoke_result_t<const F&, const Tensor&, const Tensor&, const Tensor&>;
    return run<Result>({x, y, z}, loc);
  }
  template <std::same_as<Tensor>... Tensors>
  requires(sizeof...(Tensors) > 3 && std::invocable<const F&, const Tensors&...>) auto operator()(
      const Tensors&... tensors) const {
    return run<std::invoke_result_t<const F&, const Tensors&...>>({tensors...}, Loc());
  }

 private:
  template <typename Result>
  Result run(const std::vector<Tensor>& arguments, const Loc& loc) const {
    std::vector<Tensor> outputs = Compiled::operator()(arguments, loc);
    if constexpr (std::same_as<Result, Tensor>) {
      return outputs.at(0);
    } else if constexpr (std::same_as<Result, std::vector<Tensor>>) {
      return outputs;
    } else {
      static_assert(
          requires { std::tuple_size<Result>::value; },
          "a compiled function gives a Tensor, or a vector, a pair or a tuple of them");
      return [&]<size_t... index>(std::index_sequence<index...>) {
        return Result{outputs.at(index)...};
      }
      (std::make_index_sequence<std::tuple_size<Result>::value>());
    }
  }
};

template <TensorCallable F>
CompiledFunction<F> compile(F fn, CompileOptions options = {}, Loc loc = Loc::current()) {
  return CompiledFunction<F>(std::move(fn), options, loc);
}

}  // namespace sardonyx::eager
