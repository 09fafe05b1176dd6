// Learning rates over time, by torch.optim.lr_scheduler's formulas. A scheduler sets the rates of
// an optimiser (of which it keeps a handle) when it is made, and at each step() of its own: call it
// after the optimiser's step, outside of traced functions. OneCycleLR and CyclicLR set the
// momentum, or beta1, against the rate unless told not to; the others leave it alone.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "eager/optim/optimizer.h"

namespace sardonyx::eager::optim {

// A number for all groups of an optimiser, or one for each.
class ByGroup {
 public:
  ByGroup(double all) : numbers_{all} {}
  ByGroup(std::vector<double> numbers) : numbers_(std::move(numbers)) {}
  ByGroup(std::initializer_list<double> numbers) : numbers_(numbers) {}
  double at(size_t group) const { return numbers_.size() == 1 ? numbers_[0] : numbers_.at(group); }
  // Throws kInvalidArgument unless there are as many as groups, or one.
  void require_count(const char* schedule, const char* what, size_t groups) const;

 private:
  std::vector<double> numbers_;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // The next step's rates.
  void step();
  // Rates as at that step.
  virtual void set_step(int64_t step);
  // How often step() was called, or what set_step() was given.
  int64_t steps() const { return step_; }
  // The rates now, by group.
  std::vector<double> lrs() const;
  // The step count and the rates that it starts from ("base_lrs"); for resuming, besides the
  // optimiser's own state.
  nn::StateDict state_dict() const;
  // Throws kInvalidArgument where a number is missing or the groups differ; then nothing has
  // changed.
  void load_state_dict(const nn::StateDict& state);

 protected:
  explicit Scheduler(const Optimizer& optimizer);
  // The rate at a step for a group that started at `base`.
  virtual double lr_at(int64_t step, double base) const = 0;
  // The same where groups differ by more than where they started.
  virtual double group_lr_at(int64_t step, double base, size_t) const { return lr_at(step, base); }
  // The momentum at a step; none where it stays as it is.
  virtual std::optional<double> momentum_at(int64_t step, size_t group) const;
  // Throws kInvalidArgument where a group has no momentum to cycle, or one would be below 0.
  void require_momentum(const char* schedule, const ByGroup& base, const ByGroup& max) const;
  size_t group_count() const { return bases_.size(); }
  // Starts from the rates that the optimiser has now.
  void take_bases();

 private:
  friend class SequentialLR;
  friend class ChainedScheduler;
  Optimizer optimizer_;  // a handle: what a derived class adds is of no matter to rates
  std::vector<double> bases_;
  int64_t step_ = 0;
};

// base * gamma^(step / size)
class StepLR : public Scheduler {
 public:
  // size: steps between two reductions.
  StepLR(const Optimizer& optimizer, int64_t size, double gamma = 0.1);

 private:
  double lr_at(int64_t step, double base) const override;
  int64_t size_;
  double gamma_;
};
// base * gamma for every milestone that was reached.
class MultiStepLR : public Scheduler {
 public:
  // Milestones are step numbers in ascending order.
  MultiStepLR(const Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 private:
  double lr_at(int64_t step, double base) const override;
  std::vector<int64_t> milestones_;
  double gamma_;
};
// base * gamma^step
class ExponentialLR : public Scheduler {
 public:
  ExponentialLR(const Optimizer& optimizer, double gamma);

 private:
  double lr_at(int64_t step, double base) const override;
  double gamma_;
};
// From base down to `least` along half a cosine of `steps` steps (and up again after).
class CosineAnnealingLR : public Scheduler {
 public:
  CosineAnnealingLR(const Optimizer& optimizer, int64_t steps, double least = 0);

 private:
  double lr_at(int64_t step, double base) const override;
  int64_t steps_;
  double least_;
};
// base times a factor that goes linearly from `start` to `end` in `steps` steps: a warm-up.
class LinearLR : public Scheduler {
 public:
  LinearLR(const Optimizer& optimizer, double start = 1.0 / 3, double end = 1, int64_t steps = 5);

 private:
  double lr_at(int64_t step, double base) const override;
  double start_, end_;
  int64_t steps_;
};
// base * factor(step)
class LambdaLR : public Scheduler {
 public:
  LambdaLR(const Optimizer& optimizer, std::function<double(int64_t)> factor);

 private:
  double lr_at(int64_t step, double base) const override;
  std::function<double(int64_t)> factor_;
};

// base times the product of factor(1), ..., factor(step)
class MultiplicativeLR : public Scheduler {
 public:
  MultiplicativeLR(const Optimizer& optimizer, std::function<double(int64_t)> factor);

 private:
  double lr_at(int64_t step, double base) const override;
  std::function<double(int64_t)> factor_;
  mutable int64_t known_step_ = 0;  // the product up to this step
  mutable double known_product_ = 1;
};
// base * factor for `steps` steps, then base.
class ConstantLR : public Scheduler {
 public:
  ConstantLR(const Optimizer& optimizer, double factor = 1.0 / 3, int64_t steps = 5);

 private:
  double lr_at(int64_t step, double base) const override;
  double factor_;
  int64_t steps_;
};
// base * (1 - step / steps)^power down to 0.
class PolynomialLR : public Scheduler {
 public:
  PolynomialLR(const Optimizer& optimizer, int64_t steps = 5, double power = 1);

 private:
  double lr_at(int64_t step, double base) const override;
  int64_t steps_;
  double power_;
};

struct OneCycleOptions {
  ByGroup max_lr = 0;
  int64_t total_steps;
  double pct_start = 0.3;         // share of the steps in which the rate goes up
  bool linear = false;            // else along a cosine
  double div_factor = 25;         // starts at max_lr / div_factor
  double final_div_factor = 1e4;  // ends at the start's rate / final_div_factor
  bool three_phase = false;       // down as long as up, then to the end
  // The momentum goes from max to base while the rate goes up, and back while it goes down.
  bool cycle_momentum = true;
  ByGroup base_momentum = 0.85, max_momentum = 0.95;
};
// Smith and Topin, "Super-convergence", 2018. A step beyond total_steps throws kInvalidArgument.
class OneCycleLR : public Scheduler {
 public:
  OneCycleLR(const Optimizer& optimizer, OneCycleOptions options);

 private:
  double lr_at(int64_t step, double base) const override { return group_lr_at(step, base, 0); }
  double group_lr_at(int64_t step, double base, size_t group) const override;
  std::optional<double> momentum_at(int64_t step, size_t group) const override;
  // From `low` to `high` and, with three phases by way of `low`, to `last`.
  double along(int64_t step, double low, double high, double last) const;
  OneCycleOptions options_;
};

// One after the other: scheduler i from milestones[i - 1] on, which is its step 0.
class SequentialLR : public Scheduler {
 public:
  SequentialLR(const Optimizer& optimizer, std::vector<std::shared_ptr<Scheduler>> schedulers,
               std::vector<int64_t> milestones);

 private:
  double lr_at(int64_t step, double base) const override { return group_lr_at(step, base, 0); }
  double group_lr_at(int64_t step, double base, size_t group) const override;
  std::optional<double> momentum_at(int64_t step, size_t group) const override;
  // The index of the scheduler in use, and the milestone that is its step 0 (0 for the first).
  std::pair<size_t, int64_t> milestone_at(int64_t step) const;
  std::vector<std::shared_ptr<Scheduler>> schedulers_;
  std::vector<int64_t> milestones_;
};

// All at once: each group's base times the factors that the schedulers give it. Of schedulers that
// set rates regardless of others (torch's LambdaLR, cycles) the factor is the rate / base.
class ChainedScheduler : public Scheduler {
 public:
  explicit ChainedScheduler(std::vector<std::shared_ptr<Scheduler>> schedulers);

 private:
  double lr_at(int64_t step, double base) const override { return group_lr_at(step, base, 0); }
  double group_lr_at(int64_t step, double base, size_t group) const override;
  std::optional<double> momentum_at(int64_t step, size_t group) const override;
  std::vector<std::shared_ptr<Scheduler>> schedulers_;
};

struct PlateauOptions {
  bool maximize = false;  // greater metrics are better
  double factor = 0.1;
  int64_t patience = 10;  // steps without improvement that are let pass
  double threshold = 1e-4;
  bool absolute = false;  // the threshold is a difference, not a share of the best
  int64_t cooldown = 0;   // steps after a reduction that do not count
  double min_lr = 0;
  double eps = 1e-8;  // smaller changes of the rate are not made
};
// Lowers the rate when a metric stops getting better.
class ReduceLROnPlateau {
 public:
  explicit ReduceLROnPlateau(const Optimizer& optimizer, PlateauOptions options = {});
  // To be called once an epoch, or whenever the metric is measured anew.
  void step(double metric);
  // The best metric so far; infinite before the first step.
  double best() const { return best_; }
  nn::StateDict state_dict() const;
  void load_state_dict(const nn::StateDict& state);

 private:
  bool is_better(double metric) const;
  Optimizer optimizer_;  // a handle
  PlateauOptions options_;
  double best_;
  int64_t bad_steps_ = 0, cooling_ = 0;
};

}  // namespace sardonyx::eager::optim
