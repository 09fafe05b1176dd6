// What random programs are made of (eager/random_programs_test.cpp): kinds of steps, and the
// modules that steps call.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "eager/nn.h"
#include "eager/tensor.h"

namespace sardonyx::eager::programs {

using Tensors = std::vector<Tensor>;

// What a program has besides its steps. Two of them made alike hold the same values.
struct World : nn::Layer<World> {
  using Function = std::function<Tensor(const Tensor&)>;
  std::vector<Function> functions;  // of the modules that steps have made
  std::vector<Tensor> tensors;      // parameters and buffers of steps
  nn::Dropout dropout = add("dropout", nn::Dropout(0.25));

  // Registers a module; gives the number of the function that calls it.
  template <typename M>
  size_t keep(const M& module, const std::function<Tensor(const M&, const Tensor&)>& call) {
    const M kept = add(fresh("m"), module);
    functions.emplace_back([=](const Tensor& x) { return call(kept, x); });
    return functions.size() - 1;
  }
  template <typename M>
  size_t keep(const M& module) {
    return keep<M>(module, [](const M& kept, const Tensor& x) { return kept(x); });
  }
  size_t keep_parameter(const Tensor& init) {
    tensors.push_back(parameter(fresh("p"), init));
    return tensors.size() - 1;
  }
  size_t keep_buffer(const Tensor& init) {
    tensors.push_back(buffer(fresh("b"), init));
    return tensors.size() - 1;
  }

 private:
  std::string fresh(const char* base) { return text(base, count_++); }
  int count_ = 0;
};

struct Step {
  size_t op = 0;
  size_t a = 0, b = 0;  // operands, by number
  int64_t k = 0;        // an axis, a size or a choice: within [0, 6)
  size_t own = 0;       // which of the world's functions or tensors
};

// A small difference of an operand may make a large one of the result; b is an operand too.
enum : unsigned { kJumps = 1, kTwo = 2 };

using W = const World&;
using S = const Step&;
using T = const Tensor&;

// One kind of step. `prepare` makes what it needs of the world, from the operand at hand.
struct Op {
  const char* name;
  std::function<Tensor(W, S, T a, T b)> run;
  unsigned flags = 0;
  std::function<void(World&, Step&, T a)> prepare = {};
};

std::vector<Op> element_steps();
std::vector<Op> arrangement_steps();
std::vector<Op> reduction_steps();
std::vector<Op> module_steps();
std::vector<Op> control_steps();

inline int64_t axis_of(const Step& step, const Tensor& x) {
  return x.rank() == 0 ? 0 : step.k % x.dim();
}
inline Tensor as_float(const Tensor& x) {
  return is_floating(x.dtype()) ? x : x.to(DType::kFloat);
}

}  // namespace sardonyx::eager::programs
