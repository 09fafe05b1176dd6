// L-BFGS: steps by an estimate of the curvature, for smooth functions of whole data sets.
#pragma once

#include <optional>
#include <vector>

#include "eager/optim/optimizer.h"

namespace sardonyx::eager::optim {

struct LbfgsOptions {
  double lr = 1;
  int64_t max_iter = 20;                 // of one step
  std::optional<int64_t> max_eval = {};  // calls of the closure in one step; 1.25 * max_iter
  double tolerance_grad = 1e-7;          // of the greatest magnitude in the gradient
  double tolerance_change = 1e-9;        // of a move, and of the loss
  int64_t history_size = 100;            // moves that the estimate rests on
  // Search along each direction until the strong Wolfe conditions hold (Nocedal and Wright,
  // "Numerical optimization", 2006, algorithms 3.5 and 3.6), else one move of length lr.
  bool strong_wolfe = false;
};

// Nocedal, "Updating quasi-Newton matrices with limited storage", 1980. Parameters are float32 or
// float64; what it holds is 2 * history_size times as large. step() wants a closure, and C++ reads
// the losses, so it can't be traced.
class LBFGS : public Optimizer {
 public:
  explicit LBFGS(const std::vector<Tensor>& parameters, LbfgsOptions options = {});

  nn::StateDict state_dict() const override;
  void load_state_dict(const nn::StateDict& state) override;

 protected:
  Tensor step_all(const Closure* closure, const Loc& loc) override;

 private:
  struct Memory;
  struct Point;
  class Run;
  LbfgsOptions options_;
  std::shared_ptr<Memory> memory_;  // copies share it
};

}  // namespace sardonyx::eager::optim
