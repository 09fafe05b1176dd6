// Relatives of Adam: each element's step by running means of its gradients.
#pragma once

#include <vector>

#include "eager/optim/optimizer.h"

namespace sardonyx::eager::optim {

// rho: the decay of both running means; eps: added under the roots; weight_decay: times the
// parameter, added to its gradient; maximize: steps along the gradient, not against it.
struct AdadeltaOptions {
  double lr = 1;
  double rho = 0.9, eps = 1e-6;
  double weight_decay = 0;
  bool maximize = false;
};
// Zeiler, "ADADELTA: an adaptive learning rate method", 2012.
class Adadelta : public Optimizer {
 public:
  using Groups = std::vector<Group<AdadeltaOptions>>;
  explicit Adadelta(const std::vector<Tensor>& parameters, AdadeltaOptions options = {})
      : Adadelta(Groups{{parameters, options}}) {}
  // Groups of parameters, each with options of its own. Throws kInvalidArgument for options out of
  // range.
  explicit Adadelta(const Groups& groups);
  bool is_elementwise() const override { return true; }

 protected:
  void update(Update& u) override;

 private:
  std::vector<AdadeltaOptions> options_;
};

// beta1: the decay of the mean gradient; beta2: of its greatest magnitude; others as in
// AdadeltaOptions.
struct AdamaxOptions {
  double lr = 2e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;
};
// Adam by the greatest magnitude instead of the root mean square (Kingma and Ba, 2015, section 7).
class Adamax : public Optimizer {
 public:
  using Groups = std::vector<Group<AdamaxOptions>>;
  explicit Adamax(const std::vector<Tensor>& parameters, AdamaxOptions options = {})
      : Adamax(Groups{{parameters, options}}) {}
  // Groups of parameters, each with options of its own. Throws kInvalidArgument for options out of
  // range.
  explicit Adamax(const Groups& groups);
  bool is_elementwise() const override { return true; }

 protected:
  void update(Update& u) override;

 private:
  std::vector<AdamaxOptions> options_;
};

// beta1, beta2: decays of the first and second moment; momentum_decay: how fast beta1's share grows
// from half of it to all.
struct NAdamOptions {
  double lr = 2e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 0, momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;  // the decay is no part of the gradient
  bool maximize = false;
};
// Dozat, "Incorporating Nesterov momentum into Adam", 2016.
class NAdam : public Optimizer {
 public:
  using Groups = std::vector<Group<NAdamOptions>>;
  explicit NAdam(const std::vector<Tensor>& parameters, NAdamOptions options = {})
      : NAdam(Groups{{parameters, options}}) {}
  // Groups of parameters, each with options of its own. Throws kInvalidArgument for options out of
  // range.
  explicit NAdam(const Groups& groups);
  bool is_elementwise() const override { return true; }

 protected:
  void update(Update& u) override;

 private:
  std::vector<NAdamOptions> options_;
};

// beta1, beta2: decays of the first and second moment. The step is not scaled by the second one
// until its variance is known (the length of its moving average is above 5).
struct RAdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;  // the decay is no part of the gradient
  bool maximize = false;
};
// Liu et al., "On the variance of the adaptive learning rate and beyond", 2020.
class RAdam : public Optimizer {
 public:
  using Groups = std::vector<Group<RAdamOptions>>;
  explicit RAdam(const std::vector<Tensor>& parameters, RAdamOptions options = {})
      : RAdam(Groups{{parameters, options}}) {}
  // Groups of parameters, each with options of its own. Throws kInvalidArgument for options out of
  // range.
  explicit RAdam(const Groups& groups);
  bool is_elementwise() const override { return true; }

 protected:
  void update(Update& u) override;

 private:
  std::vector<RAdamOptions> options_;
};

}  // namespace sardonyx::eager::optim
