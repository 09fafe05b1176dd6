// Averages of a model's parameters over time: stochastic weight averaging and exponential moving
// averages.
#pragma once

#include <functional>
#include <optional>

#include "eager/nn/module.h"

namespace sardonyx::eager::optim {

struct AverageOptions {
  // Of an exponential moving average: average = decay * average + (1 - decay) * now. None: all
  // updates count alike (Izmailov et al., "Averaging weights leads to wider optima", 2018).
  std::optional<double> decay = {};
  bool use_buffers = false;  // floating buffers are averaged too, else they are the model's own
};

// Averages beside a model, which trains on. Those of float16 and bfloat16 are kept as float32.
// Copies share them.
class AveragedModel {
 public:
  explicit AveragedModel(const nn::Module& model, AverageOptions options = {});

  // After an optimiser's step; the first one takes the values as they are. May be traced.
  void update(Loc loc = Loc::current()) const;
  int64_t count() const;  // of updates
  // Gives the averages to a module with the model's names; the model itself for good, or another
  // one. For a while: UseAverages.
  void copy_to(const nn::Module& module) const;

  // "module.NAME" and "n_averaged", as torch's AveragedModel.
  nn::StateDict state_dict() const;
  // Throws kInvalidArgument naming what is missing, unexpected or of another type; then nothing has
  // changed.
  void load_state_dict(const nn::StateDict& state) const;
  // All that updates change, under the names of state_dict().
  nn::NamedTensors named_states() const;

 private:
  friend class UseAverages;
  struct Average {
    std::string name;
    Tensor source, mean;
  };
  struct AverageState {
    std::vector<Average> averages;
    nn::NamedTensors others;  // buffers that are not averaged
    Tensor count;
  };
  AverageOptions options_;
  std::shared_ptr<AverageState> state_ = std::make_shared<AverageState>();
};

// The model computes with the averages until the scope ends; then its parameters are as they were.
class UseAverages {
 public:
  explicit UseAverages(const AveragedModel& average);
  ~UseAverages();
  UseAverages(const UseAverages&) = delete;
  UseAverages& operator=(const UseAverages&) = delete;

 private:
  std::vector<std::pair<Tensor, Tensor>> kept_;  // a tensor and its value before
};

// Running statistics of batch norms anew, as means over all batches that `pass` runs the model on;
// for parameters that are averages:
//   update_bn(net, [&] { for (const data::Sample& batch : loader) net(batch[0]); });
void update_bn(const nn::Module& model, const std::function<void()>& pass);

}  // namespace sardonyx::eager::optim
