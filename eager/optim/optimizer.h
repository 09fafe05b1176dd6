// Optimisers, by torch.optim's formulas. What updates change (means, counts, the learning rate) are
// tensors, so a training step can be traced and compiled. One's own derive from Optimizer:
//
//   struct Signs : optim::Optimizer {
//     Signs(const std::vector<Tensor>& parameters, double lr) : Optimizer("Signs") {
//       add_group(parameters, lr, {{"mean"}});
//     }
//     void update(Update& u) override {
//       Tensor& mean = u.state("mean");
//       mean = 0.9 * mean + 0.1 * u.gradient;
//       u.parameter = u.parameter - u.lr() * sign(mean);
//     }
//   };
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eager/nn/module.h"

namespace sardonyx {
class Attrs;
struct OpDef;
}  // namespace sardonyx

namespace sardonyx::eager {
class TraceContext;
}

namespace sardonyx::eager::optim {

// Parameters with options of their own. Parameters are of any floating type; those of float16 and
// bfloat16 are updated as float32 values that the optimiser keeps (the state "master").
template <typename Options>
struct Group {
  std::vector<Tensor> parameters;
  Options options = {};
};

// A tensor beside each parameter that updates change.
struct StateSpec {
  enum class Kind {
    kLikeParameter,  // of the parameter's shape, and of its type or float32 (see Group)
    kCount,          // int64 of rank 0
    kNumber,         // float64 of rank 0
  };
  std::string name;
  double initial = 0;
  Kind kind = Kind::kLikeParameter;
};

struct OptimizerState;  // what copies share: eager/optim/optimizer_state.h
struct OptimizerGroup;
struct OptimizerSlot;

// Gives the loss: zero_grad(), forward, backward().
using Closure = std::function<Tensor()>;

// Copies share states, as tensors do.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Updates every parameter that has a gradient.
  void step(Loc loc = Loc::current());
  // The same with the gradients that `closure` leaves; gives its loss. LBFGS calls it many times.
  Tensor step(const Closure& closure, Loc loc = Loc::current());
  // A step that changes nothing where `condition` (bool, one element) is false: for traces, where
  // C++ can't ask.
  void step_where(const Tensor& condition, Loc loc = Loc::current());
  void zero_grad() const;

  const std::string& name() const;
  size_t group_count() const;
  double lr(size_t group = 0) const;
  // Of one group, or of all of them.
  void set_lr(double lr, size_t group) const;
  void set_lr(double lr) const;
  // The momentum of SGD and RMSprop, or the beta1 of optimisers with betas; none of the others.
  std::optional<double> momentum(size_t group = 0) const;
  // Of one group; compiled steps read it anew. Throws kInvalidArgument where there is none.
  void set_momentum(double momentum, size_t group) const;
  // What steps read as the learning rate: float64, rank 0.
  const Tensor& lr_tensor(size_t group = 0) const;
  std::vector<Tensor> parameters() const;
  // Whether each element's update depends on that element's gradient and state alone, so that a
  // part of a parameter may be updated by itself. What rows update is so; update() of one's own
  // may say so.
  virtual bool is_elementwise() const;
  // Takes the place of an optimiser of the same parameters (and perhaps further groups) with other
  // options: what shares the states of `before` shares these. Rates stay, and states of the same
  // names.
  void take_over(const Optimizer& before);
  // Whether both are handles of one optimiser.
  bool is_same(const Optimizer& other) const { return state_ == other.state_; }

  // All that updates read and change, under stable names: "group.0.lr", "group.0.momentum",
  // "state.3.exp_avg" (parameters are counted through all groups; the states have torch's names).
  nn::NamedTensors named_states() const;
  // Whether a state to be loaded may be without this name, what it is then stays: a momentum.
  static bool may_be_missing(std::string_view name);
  virtual nn::StateDict state_dict() const;
  // Throws kInvalidArgument naming every missing and unexpected name, and every type that differs;
  // then nothing was changed.
  virtual void load_state_dict(const nn::StateDict& state);

 protected:
  // One update of one parameter. What update() leaves in `parameter` and the states takes the place
  // of what they are.
  class Update {
   public:
    Tensor parameter, gradient;  // of one type
    size_t group = 0;            // number of the parameter's group, for options of one's own
    Loc loc;
    // Of rank 0, in the parameter's type, or as a float64 for computing with other numbers.
    Tensor lr() const { return lr_.to(parameter.dtype(), loc); }
    const Tensor& exact_lr() const { return lr_; }
    // What cycle_momentum() was given, or set_momentum() since; as lr() and exact_lr().
    Tensor momentum() const { return exact_momentum().to(parameter.dtype(), loc); }
    const Tensor& exact_momentum() const;
    // Throws kInvalidArgument for a name that add_group was not given.
    Tensor& state(std::string_view name);

   private:
    friend class Optimizer;
    Update(const OptimizerGroup& group, const Loc& at);
    Tensor lr_;
    const OptimizerGroup& of_;
    std::vector<Tensor> states_;
  };
  // What an optimiser of one's own is: called under NoGrad for each parameter that has a gradient.
  virtual void update(Update& update);
  // A whole step, for optimisers whose parameters are not updated one by one. Without a closure the
  // gradients are there; gives the closure's loss.
  virtual Tensor step_all(const Closure* closure, const Loc& loc);
  // Of the step_where that is running; else undefined.
  const Tensor& condition() const { return condition_; }

  explicit Optimizer(std::string name);
  // At least one parameter; each is a leaf of a floating type and stands in no other group.
  void add_group(const std::vector<Tensor>& parameters, double lr,
                 std::vector<StateSpec> states = {});
  // Lets schedules set this number of the last group that was added, which update() reads.
  void cycle_momentum(double momentum);
  // For a step_all() that leaves updating to other optimisers: nothing is kept beside the
  // parameters.
  void add_group_without_states(const std::vector<Tensor>& parameters, double lr);

  // How one group is updated where a row does it: `op` takes the parameter, its gradient, the
  // learning rate and the states in this order, and gives the next ones, but for the gradient and
  // the learning rate. The state "step" counts updates; an empty name is an omitted input. The
  // row's last input is the momentum, where schedules may set it.
  struct Rule {
    std::string op;
    std::shared_ptr<const Attrs> attrs;
    std::vector<std::string> states;
    double initial = 0;
    // Where schedules may set the momentum: what it is, and the states that it needs if not 0.
    std::optional<double> momentum = {};
    std::vector<std::string> momentum_states = {};
  };
  void add_rule_group(const std::vector<Tensor>& parameters, double lr, Rule rule);
  // Throws kInvalidArgument if there is none.
  void require_groups(size_t count) const;
  // Throws kInvalidArgument "Adam: lr: expected low <= value < high, got ...".
  void require_within(const char* what, double value, double low, double high) const;
  // What optimisers with means of gradients and of their squares want of their options.
  void require_moments(double beta1, double beta2, double eps, double weight_decay) const;

 private:
  void append_group(OptimizerGroup group, const std::vector<Tensor>& parameters, double lr);
  void add_momentum_states(OptimizerGroup& group) const;
  void note_momentum_states(TraceContext& frame, size_t group) const;
  void update_slot(size_t group, OptimizerSlot& slot, const Loc& loc);
  void fit_states(const OptimizerGroup& group, OptimizerSlot& slot, const Loc& loc) const;
  // Where `condition` holds, unless it is undefined.
  void assign(const Tensor& target, const Tensor& next, const Tensor& condition,
              const Loc& loc) const;
  const OptimizerGroup& group_at(size_t group) const;

  std::shared_ptr<OptimizerState> state_;
  Tensor condition_;
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
  // Groups of parameters, each with options of its own. Throws kInvalidArgument for options out of
  // range.
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
  // Groups of parameters, each with options of its own. Throws kInvalidArgument for options out of
  // range.
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
  // Groups of parameters, each with options of its own. Throws kInvalidArgument for options out of
  // range.
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
  // Groups of parameters, each with options of its own. Throws kInvalidArgument for options out of
  // range.
  explicit Adagrad(const Groups& groups);
};

// Scales all gradients so that their norm together is at most `max_norm`; gives the norm before.
// The norm is the p-norm; infinity: the greatest magnitude.
Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double p = 2,
                      Loc loc = Loc::current());
// Cuts every element of the gradients to [-limit, limit].
void clip_grad_value(const std::vector<Tensor>& parameters, double limit, Loc loc = Loc::current());

}  // namespace sardonyx::eager::optim
