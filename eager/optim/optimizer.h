// Optimisers, by torch.optim's formulas. An update of a parameter is one op; what updates change
// (means, counts, the learning rate) are tensors, so a training step can be traced and compiled.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "eager/nn/module.h"

namespace sardonyx {
class Attrs;
struct OpDef;
}  // namespace sardonyx

namespace sardonyx::eager::optim {

// Parameters with options of their own. Parameters are float32 or float64.
template <typename Options>
struct Group {
  std::vector<Tensor> parameters;
  Options options = {};
};

// Copies share states, as tensors do.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Updates every parameter that has a gradient.
  void step(Loc loc = Loc::current());
  void zero_grad() const;

  size_t group_count() const { return groups_.size(); }
  double lr(size_t group = 0) const;
  // Of one group, or of all of them.
  void set_lr(double lr, size_t group);
  void set_lr(double lr);
  // What steps read as the learning rate: float64, rank 0.
  const Tensor& lr_tensor(size_t group = 0) const;
  std::vector<Tensor> parameters() const;

  // All that updates change, under stable names: "group.0.lr", "state.3.exp_avg" (parameters are
  // counted through all groups; the states have torch's names).
  nn::NamedTensors named_states() const;
  nn::StateDict state_dict() const;
  // Throws kInvalidArgument naming every missing and unexpected name, and every type that differs;
  // then nothing was changed.
  void load_state_dict(const nn::StateDict& state);

 protected:
  // How one group is updated: `op` takes the parameter, its gradient, the learning rate and the
  // states in this order, and gives the next ones, but for the gradient and the learning rate. The
  // state "step" counts updates (int64); the others have the parameter's type and start as
  // `initial`. An empty name is an omitted input.
  struct Rule {
    std::string op;
    std::shared_ptr<const Attrs> attrs;
    std::vector<std::string> states;
    double initial = 0;
  };
  explicit Optimizer(std::string name) : name_(std::move(name)) {}
  void add_group(const std::vector<Tensor>& parameters, double lr, Rule rule);
  // Throws kInvalidArgument "Adam: lr: expected low <= value < high, got ...".
  void require_within(const char* what, double value, double low, double high) const;

 private:
  struct Slot {
    Tensor parameter;
    std::vector<Tensor> states;
  };
  struct GroupState {
    Tensor lr;
    Rule rule;
    const OpDef* op = nullptr;
    std::vector<Slot> slots;
  };
  void update(GroupState& group, Slot& slot, const Loc& loc);
  void fit_states(GroupState& group, Slot& slot, const Loc& loc) const;
  const GroupState& group_at(size_t group) const;

  std::string name_;
  std::vector<GroupState> groups_;
};

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
};
class SGD : public Optimizer {
 public:
  using Groups = std::vector<Group<SgdOptions>>;
  explicit SGD(const std::vector<Tensor>& parameters, SgdOptions options = {})
      : SGD(Groups{{parameters, options}}) {}
  explicit SGD(const Groups& groups);
};

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool maximize = false;
};
class Adam : public Optimizer {
 public:
  using Groups = std::vector<Group<AdamOptions>>;
  explicit Adam(const std::vector<Tensor>& parameters, AdamOptions options = {})
      : Adam(Groups{{parameters, options}}) {}
  explicit Adam(const Groups& groups) : Adam("Adam", groups, false) {}

 protected:
  Adam(const char* name, const Groups& groups, bool is_decoupled);
};
// Adam whose weight decay is no part of the gradient (Loshchilov and Hutter, 2019).
struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  bool maximize = false;
};
class AdamW : public Adam {
 public:
  using Groups = std::vector<Group<AdamWOptions>>;
  explicit AdamW(const std::vector<Tensor>& parameters, AdamWOptions options = {})
      : AdamW(Groups{{parameters, options}}) {}
  explicit AdamW(const Groups& groups);
};

struct RmspropOptions {
  double lr = 1e-2;
  double alpha = 0.99, eps = 1e-8;
  double weight_decay = 0, momentum = 0;
  bool centered = false;
  bool maximize = false;
};
class RMSprop : public Optimizer {
 public:
  using Groups = std::vector<Group<RmspropOptions>>;
  explicit RMSprop(const std::vector<Tensor>& parameters, RmspropOptions options = {})
      : RMSprop(Groups{{parameters, options}}) {}
  explicit RMSprop(const Groups& groups);
};

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0, weight_decay = 0, initial_accumulator = 0, eps = 1e-10;
  bool maximize = false;
};
class Adagrad : public Optimizer {
 public:
  using Groups = std::vector<Group<AdagradOptions>>;
  explicit Adagrad(const std::vector<Tensor>& parameters, AdagradOptions options = {})
      : Adagrad(Groups{{parameters, options}}) {}
  explicit Adagrad(const Groups& groups);
};

// Scales all gradients so that their norm together is at most `max_norm`; gives the norm before.
// The norm is the p-norm; infinity: the greatest magnitude.
Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double p = 2,
                      Loc loc = Loc::current());
// Cuts every element of the gradients to [-limit, limit].
void clip_grad_value(const std::vector<Tensor>& parameters, double limit, Loc loc = Loc::current());

}  // namespace sardonyx::eager::optim
