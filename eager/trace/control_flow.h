// Branches and loops that work at once, in a trace (as If, Loop and Scan) and under gradients.
#pragma once

#include <functional>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager {

using Branch = std::function<std::vector<Tensor>()>;

// then_branch() or else_branch(), by a bool tensor of one element. Both give as many tensors, of
// the same types. At once only the chosen one runs; in a trace both are recorded. Branches may use
// any tensor around them.
std::vector<Tensor> cond(const Tensor& predicate, const Branch& then_branch,
                         const Branch& else_branch, Loc loc = Loc::current());
// The same for functions of one result.
Tensor cond(const Tensor& predicate, const std::function<Tensor()>& then_branch,
            const std::function<Tensor()>& else_branch, Loc loc = Loc::current());

// while (condition(state)) state = body(state); gives the last state. The types of the state stay
// the same; its sizes may change from round to round.
std::vector<Tensor> while_loop(
    const std::function<Tensor(const std::vector<Tensor>& state)>& condition,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& state)>& body,
    const std::vector<Tensor>& initial, Loc loc = Loc::current());

struct ScanResult {
  std::vector<Tensor> state;    // after the last step
  std::vector<Tensor> outputs;  // of all steps, stacked along axis 0
};
// One step for each slice of xs along axis 0 (all have the same length): body(state, slices) gives
// {new state, outputs of the step}.
using ScanBody =
    std::function<ScanResult(const std::vector<Tensor>& state, const std::vector<Tensor>& slices)>;
ScanResult scan(const ScanBody& body, const std::vector<Tensor>& initial,
                const std::vector<Tensor>& xs, Loc loc = Loc::current());

}  // namespace sardonyx::eager
