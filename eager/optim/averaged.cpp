#include "eager/optim/averaged.h"

#include <algorithm>
#include <memory>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/functional/functional.h"
#include "eager/nn/state_dict.h"
#include "ir/type.h"

namespace sardonyx::eager::optim {
namespace {

DType average_dtype(DType dtype) {
  return dtype == DType::kDouble ? dtype : DType::kFloat;
}

}  // namespace

AveragedModel::AveragedModel(const nn::Module& model, AverageOptions options) : options_(options) {
  if (options.decay && !(*options.decay >= 0 && *options.decay <= 1)) {
    fail(ErrorCode::kInvalidArgument, "AveragedModel: expected a decay within [0, 1], got ",
         *options.decay);
  }
  const auto take = [&](const std::string& name, const Tensor& source) {
    const Tensor value = source.detach().to(average_dtype(source.dtype()));
    state_->averages.push_back({name, source, value});
  };
  for (const auto& [name, parameter] : model.named_parameters())
    take(name, parameter);
  for (const auto& [name, buffer] : model.named_buffers()) {
    if (options.use_buffers && is_floating(buffer.dtype()))
      take(name, buffer);
    else
      state_->others.emplace_back(name, buffer);
  }
  state_->count = zeros({}, {.dtype = DType::kInt64});
}

void AveragedModel::update(Loc loc) const {
  const NoGrad no_grad;
  const Autocast off(DType::kBFloat16, false);
  const Tensor& count = state_->count;
  const Tensor share = options_.decay ? where(count == 0, 1.0, Tensor::scalar(1 - *options_.decay))
                                      : 1 / (count + 1).to(DType::kDouble, loc);
  for (const Average& average : state_->averages) {
    const DType dtype = average.mean.dtype();
    const Tensor now = average.source.detach().to(dtype, loc);
    const Tensor part = share.to(dtype, loc);
    average.mean.assign(average.mean * (1 - part) + now * part, loc);
  }
  count.assign(count + 1, loc);
}

int64_t AveragedModel::count() const {
  return state_->count.item<int64_t>();
}

void AveragedModel::copy_to(const nn::Module& module) const {
  nn::StateDict values;
  for (const Average& average : state_->averages)
    values[average.name] = average.mean;
  for (const auto& [name, buffer] : state_->others)
    values[name] = buffer;
  nn::NamedTensors own = module.named_parameters();
  for (const auto& named : module.named_buffers())
    own.push_back(named);
  const std::string problems = nn::state_problems(own, values, {});
  if (!problems.empty())
    fail(ErrorCode::kInvalidArgument, "AveragedModel::copy_to ", module.type_name(), ": ",
         problems);
  const NoGrad no_grad;
  for (const auto& [name, tensor] : own)
    tensor.assign(values.at(name).detach().to(tensor.dtype()));
}

nn::NamedTensors AveragedModel::named_states() const {
  nn::NamedTensors found{{"n_averaged", state_->count}};
  for (const Average& average : state_->averages)
    found.emplace_back("module." + average.name, average.mean);
  return found;
}

nn::StateDict AveragedModel::state_dict() const {
  nn::StateDict state;
  for (const auto& [name, tensor] : named_states())
    state[name] = tensor.detach();
  for (const auto& [name, buffer] : state_->others)
    state["module." + name] = buffer.detach();
  return state;
}

void AveragedModel::load_state_dict(const nn::StateDict& state) const {
  nn::NamedTensors own = named_states();
  nn::StateDict given = state;
  // Buffers that are not averaged are the model's, in a file too.
  for (const auto& [name, buffer] : state_->others)
    given.erase("module." + name);
  const std::string problems = nn::state_problems(own, given, {});
  if (!problems.empty())
    fail(ErrorCode::kInvalidArgument, "load_state_dict of AveragedModel: ", problems);
  const NoGrad no_grad;
  for (const auto& [name, tensor] : own)
    tensor.assign(given.at(name).detach().to(tensor.dtype()));
}

UseAverages::UseAverages(const AveragedModel& average) {
  const NoGrad no_grad;
  for (const auto& one : average.state_->averages) {
    kept_.emplace_back(one.source, one.source.detach());
    one.source.assign(one.mean.to(one.source.dtype()));
  }
}
UseAverages::~UseAverages() {
  for (const auto& [tensor, value] : kept_)
    tensor.assign(value);
}

namespace {

// The mean over batches of one batch norm's statistics.
struct BatchStatistics {
  nn::Module layer;
  RemovableHandle hook;
  Tensor mean, variance;
  int64_t batches = 0;

  explicit BatchStatistics(nn::Module of) : layer(std::move(of)) {}

  void see(const Tensor& x) {
    const NoGrad no_grad;
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < static_cast<int64_t>(x.rank()); ++axis) {
      if (axis != 1) axes.push_back(axis);
    }
    const Tensor wide = x.detach().to(average_dtype(x.dtype()));
    const Tensor now = wide.mean(axes), spread = var(wide, axes);
    const double share = 1.0 / static_cast<double>(++batches);
    mean = batches == 1 ? now : mean + share * (now - mean);
    variance = batches == 1 ? spread : variance + share * (spread - variance);
  }

  void write() const {
    if (batches == 0) return;
    for (const auto& [name, buffer] : layer.named_buffers()) {
      if (name == "running_mean") buffer.assign(mean.to(buffer.dtype()));
      if (name == "running_var") buffer.assign(variance.to(buffer.dtype()));
      if (name == "num_batches_tracked") buffer.assign(Tensor::scalar(batches));
    }
  }
};

// Hooks on all batch norms, and training mode, until the scope ends.
class StatisticsScope {
 public:
  explicit StatisticsScope(const nn::Module& model) {
    for (const auto& [path, layer] : model.named_modules()) {
      modes_.emplace_back(layer, layer.is_training());
      if (!layer.type_name().starts_with("BatchNorm") || layer.buffers().empty()) continue;
      const auto statistics = std::make_shared<BatchStatistics>(layer);
      statistics->hook = layer.register_forward_hook(
          [statistics](const nn::Module&, const std::vector<Tensor>& inputs, std::vector<Tensor>&) {
            statistics->see(inputs.at(0));
          });
      seen.push_back(statistics);
    }
    model.train();
  }
  ~StatisticsScope() {
    for (const auto& statistics : seen)
      statistics->hook.remove();
    // Parents first: train() sets what is below too.
    for (const auto& [layer, is_training] : modes_)
      layer.train(is_training);
  }
  StatisticsScope(const StatisticsScope&) = delete;
  StatisticsScope& operator=(const StatisticsScope&) = delete;

  std::vector<std::shared_ptr<BatchStatistics>> seen;

 private:
  std::vector<std::pair<nn::Module, bool>> modes_;
};

}  // namespace

void update_bn(const nn::Module& model, const std::function<void()>& pass) {
  const NoGrad no_grad;
  const StatisticsScope scope(model);
  pass();
  for (const auto& statistics : scope.seen)
    statistics->write();
}

}  // namespace sardonyx::eager::optim
