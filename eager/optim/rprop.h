// Optimisers that look at signs, and that average the parameters themselves.
#pragma once

#include <vector>

#include "eager/optim/optimizer.h"

namespace sardonyx::eager::optim {

// eta_minus, eta_plus: what a step is multiplied by when the gradient's sign changes, and when it
// does not; min_step, max_step: bounds of a step.
struct RpropOptions {
  double lr = 1e-2;  // the first step of each element
  double eta_minus = 0.5, eta_plus = 1.2;
  double min_step = 1e-6, max_step = 50;
  bool maximize = false;
};
// Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning", 1993: steps
// by the gradient's sign, longer while it stays and shorter when it turns. For whole data sets.
class Rprop : public Optimizer {
 public:
  using Groups = std::vector<Group<RpropOptions>>;
  explicit Rprop(const std::vector<Tensor>& parameters, RpropOptions options = {})
      : Rprop(Groups{{parameters, options}}) {}
  // Groups of parameters, each with options of its own. Throws kInvalidArgument for options out of
  // range.
  explicit Rprop(const Groups& groups);
  bool is_elementwise() const override { return true; }

 protected:
  void update(Update& u) override;

 private:
  std::vector<RpropOptions> options_;
};

// lambd: decay of the parameters; alpha: power by which the rate falls.
struct AsgdOptions {
  double lr = 1e-2;
  double lambd = 1e-4, alpha = 0.75;
  double t0 = 1e6;  // the averaging starts after so many steps
  double weight_decay = 0;
  bool maximize = false;
};
// Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992. The averages
// are the states "ax".
class ASGD : public Optimizer {
 public:
  using Groups = std::vector<Group<AsgdOptions>>;
  explicit ASGD(const std::vector<Tensor>& parameters, AsgdOptions options = {})
      : ASGD(Groups{{parameters, options}}) {}
  // Groups of parameters, each with options of its own. Throws kInvalidArgument for options out of
  // range.
  explicit ASGD(const Groups& groups);
  bool is_elementwise() const override { return true; }

 protected:
  void update(Update& u) override;

 private:
  std::vector<AsgdOptions> options_;
};

}  // namespace sardonyx::eager::optim
