// Loss scaling: gradients of float16 fall below its least number unless the loss is made greater.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "eager/optim/optimizer.h"

namespace sardonyx::eager::optim {

struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2, backoff_factor = 0.5;
  int64_t growth_interval = 2000;  // steps without an overflow after which the scale grows
  bool enabled = true;             // else it does nothing
};

// As torch's:
//
//   scaler.scale(loss).backward();
//   scaler.unscale(optimizer);                 // only to look at gradients, or clip them
//   optim::clip_grad_norm(parameters, 1);
//   scaler.step(optimizer);                    // skipped where a gradient is infinite or NaN
//   scaler.update();
//
// Scale and count are tensors, so all of it can be traced and compiled. Copies share them.
class GradScaler {
 public:
  explicit GradScaler(GradScalerOptions options = {});

  // The loss times the scale, as float32 at least.
  Tensor scale(const Tensor& loss, Loc loc = Loc::current()) const;
  // Divides gradients by the scale; those of float16 and bfloat16 become float32. Throws
  // kInvalidArgument when called twice before update().
  void unscale(const Optimizer& optimizer, Loc loc = Loc::current());
  void step(Optimizer& optimizer, Loc loc = Loc::current());
  // After the steps: a smaller scale where one was skipped, a greater one after growth_interval
  // without any.
  void update(Loc loc = Loc::current());

  double scale() const;
  const Tensor& scale_tensor() const { return state_->scale; }
  // "scale" and "_growth_tracker", as in torch.
  nn::StateDict state_dict() const;
  // Throws kInvalidArgument where one is missing or of another type; then nothing has changed.
  void load_state_dict(const nn::StateDict& state) const;

 private:
  struct ScalerState {
    Tensor scale, tracker;
    // Since the last update(): whether gradients of an optimiser are not finite (bool, rank 0).
    std::vector<std::pair<Optimizer, Tensor>> overflows;
  };
  const Tensor* overflow_of(const Optimizer& optimizer) const;
  GradScalerOptions options_;
  std::shared_ptr<ScalerState> state_ = std::make_shared<ScalerState>();
};

}  // namespace sardonyx::eager::optim
