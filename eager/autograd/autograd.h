// Gradients beside Tensor::backward(): guards, the functional form, recomputation and rules of
// one's own.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager {

// Nothing is recorded for gradients on this thread until the guard's scope ends.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool previous_;
};
using InferenceMode = NoGrad;
// Recording again, within a NoGrad.
class EnableGrad {
 public:
  EnableGrad();
  ~EnableGrad();
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;

 private:
  bool previous_;
};
// Of this thread.
bool is_grad_enabled();

// Every op's results, gradients included, are searched for NaN until the scope ends: the first one
// throws kInvalidArgument naming the op and the line that called it. Slow.
class DetectAnomaly {
 public:
  DetectAnomaly();
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  bool previous_;
};

// For grad(): what becomes of the record, and of inputs that were not used.
struct GradOptions {
  std::vector<Tensor> grad_outputs = {};  // weights of ys; ones where missing (scalars only)
  bool create_graph = false;              // record the gradients, so that they have gradients
  bool retain_graph = false;              // keep what was recorded for another call
  bool allow_unused =
      false;  // an undefined result for an x that ys do not depend on, else an error
};
// d(sum of ys)/d(xs), without touching any grad().
std::vector<Tensor> grad(const std::vector<Tensor>& ys, const std::vector<Tensor>& xs,
                         const GradOptions& options = {}, Loc loc = Loc::current());

using Function = std::function<Tensor(const std::vector<Tensor>&)>;
// A function of the same arguments that gives fn's gradients with respect to each of them. fn's
// result must have one element. What it gives can be differentiated again.
std::function<std::vector<Tensor>(const std::vector<Tensor>&)> grad(Function fn);
// The same, with the value: {value, gradients}.
std::function<std::pair<Tensor, std::vector<Tensor>>(const std::vector<Tensor>&)> value_and_grad(
    Function fn);

// fn(inputs) without keeping its intermediate values: they are computed again when the gradient is
// asked for (Chen et al., "Training deep nets with sublinear memory cost", 2016). Parameters that
// fn uses get their gradients too. fn must compute the same both times.
std::vector<Tensor> checkpoint(
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& fn,
    const std::vector<Tensor>& inputs, Loc loc = Loc::current());

// A function with a gradient of one's own. `forward` runs unrecorded; `backward` gets the inputs,
// the outputs and the outputs' gradients (undefined where none flows) and gives one gradient for
// each input (undefined: zero).
struct CustomFunction {
  std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)> forward;
  std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& outputs,
                                    const std::vector<Tensor>& grad_outputs)>
      backward;
};
// Calls `function`; errors of its gradient name the line of this call.
std::vector<Tensor> apply(const CustomFunction& function, const std::vector<Tensor>& inputs,
                          Loc loc = Loc::current());

}  // namespace sardonyx::eager
