// Learning rates that go up and down again and again, and the one for averaging weights.
#pragma once

#include <functional>
#include <optional>

#include "eager/optim/scheduler.h"

namespace sardonyx::eager::optim {

// Half a cosine from base down to `least` in `steps` steps, then from the start, each time
// `growth` times as long (Loshchilov and Hutter, "SGDR", 2017).
class CosineAnnealingWarmRestarts : public Scheduler {
 public:
  CosineAnnealingWarmRestarts(const Optimizer& optimizer, int64_t steps, int64_t growth = 1,
                              double least = 0);

 private:
  double lr_at(int64_t step, double base) const override;
  int64_t steps_, growth_;
  double least_;
};

struct CyclicOptions {
  ByGroup base_lr = 0, max_lr = 0;
  int64_t step_size_up = 2000;
  std::optional<int64_t> step_size_down = {};  // as many as up
  // What the height is multiplied by: 1, half as much in each cycle, or gamma^step.
  enum class Mode { kTriangular, kTriangular2, kExpRange };
  Mode mode = Mode::kTriangular;
  double gamma = 1;
  // Instead of `mode`: of the cycle's number (from 1 on), or of the step.
  std::function<double(double)> scale = {};
  bool scale_by_step = false;
  // The momentum goes from max towards base as the rate goes up, and back as it goes down.
  bool cycle_momentum = true;
  ByGroup base_momentum = 0.8, max_momentum = 0.9;
};
// Smith, "Cyclical learning rates for training neural networks", 2017. Of all groups alike.
class CyclicLR : public Scheduler {
 public:
  CyclicLR(const Optimizer& optimizer, CyclicOptions options);

 private:
  double lr_at(int64_t step, double base) const override { return group_lr_at(step, base, 0); }
  double group_lr_at(int64_t step, double base, size_t group) const override;
  std::optional<double> momentum_at(int64_t step, size_t group) const override;
  // How far up at a step, scaled: 0 to 1 where nothing scales it.
  double share_at(int64_t step) const;
  double height_at(int64_t step, double cycle) const;
  CyclicOptions options_;
};

// From the rate that the optimiser has at the first step() to `swa_lr` in `steps` steps, along a
// cosine or a line; for the time in which AveragedModel averages.
class SWALR : public Scheduler {
 public:
  SWALR(const Optimizer& optimizer, double swa_lr, int64_t steps = 10, bool linear = false);
  void set_step(int64_t step) override;

 private:
  double lr_at(int64_t step, double base) const override;
  double swa_lr_;
  int64_t steps_;
  bool linear_;
};

}  // namespace sardonyx::eager::optim
