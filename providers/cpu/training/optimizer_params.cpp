#include "providers/cpu/training/optimizer_params.h"

#include <cmath>
#include <cstring>

namespace sardonyx::cpu {
namespace {

const float* floats(const KernelArgs& args, size_t input) {
  return static_cast<const float*>(args.inputs[input]);
}
float* floats_out(const KernelArgs& args, size_t output) {
  return static_cast<float*>(args.outputs[output]);
}

}  // namespace

double StepInputs::number_in(const KernelArgs& args, size_t input) const {
  return rate_is_double ? *static_cast<const double*>(args.inputs[input])
                        : double{*floats(args, input)};
}

double StepInputs::rate_of(const KernelArgs& args) const {
  return number_in(args, rate);
}

double StepInputs::momentum_of(const KernelArgs& args, const ops::Number& attribute) const {
  return momentum > 0 ? number_in(args, momentum) : ops::number_of(attribute);
}

int64_t StepInputs::count_of(const KernelArgs& args) const {
  return *static_cast<const int64_t*>(args.inputs[rate + 1]);
}

void keep_state(const void* state, void* next, size_t bytes) {
  if (next != state) std::memcpy(next, state, bytes);
}

SgdUpdate sgd_update(const ops::SgdStepAttrs& attrs, const StepInputs& inputs,
                     const KernelArgs& args, size_t elements) {
  SgdUpdate update;
  update.sign = attrs.maximize ? -1.f : 1.f;
  update.decay = static_cast<float>(ops::number_of(attrs.weight_decay));
  update.rate = static_cast<float>(inputs.rate_of(args));
  update.x = floats(args, 0);
  update.x_out = floats_out(args, 0);
  if (!inputs.has_last_state) return update;
  const int64_t count = inputs.count_of(args);
  auto& next_count = *static_cast<int64_t*>(args.outputs[1]);
  const double momentum = inputs.momentum_of(args, attrs.momentum);
  if (inputs.momentum > 0 && momentum == 0) {
    next_count = count;
    keep_state(floats(args, inputs.rate + 2), floats_out(args, 2), elements * sizeof(float));
    return update;
  }
  update.momentum = static_cast<float>(momentum);
  update.taken = static_cast<float>(count == 0 ? 1 : 1 - ops::number_of(attrs.dampening));
  update.is_nesterov = attrs.nesterov;
  update.v = floats(args, inputs.rate + 2);
  update.v_out = floats_out(args, 2);
  next_count = count + 1;
  return update;
}

AdamUpdate adam_update(const ops::AdamStepAttrs& attrs, const StepInputs& inputs,
                       const KernelArgs& args, size_t) {
  const int64_t count = inputs.count_of(args) + 1;
  const auto power = static_cast<double>(count);
  const double rate = inputs.rate_of(args), decay = ops::number_of(attrs.weight_decay);
  const double beta1 = inputs.momentum_of(args, attrs.beta1), beta2 = ops::number_of(attrs.beta2);
  AdamUpdate update;
  update.sign = attrs.maximize ? -1.f : 1.f;
  update.decay = static_cast<float>(attrs.decoupled ? 0 : decay);
  update.kept = static_cast<float>(attrs.decoupled ? 1 - rate * decay : 1);
  update.mean_share = static_cast<float>(1 - beta1);
  update.square_kept = static_cast<float>(beta2);
  update.square_share = static_cast<float>(1 - beta2);
  update.size = static_cast<float>(rate / (1 - std::pow(beta1, power)));
  update.scale = static_cast<float>(std::sqrt(1 - std::pow(beta2, power)));
  update.epsilon = static_cast<float>(ops::number_of(attrs.epsilon));
  update.x = floats(args, 0);
  update.m = floats(args, inputs.rate + 2);
  update.v = floats(args, inputs.rate + 3);
  update.x_out = floats_out(args, 0);
  update.m_out = floats_out(args, 2);
  update.v_out = floats_out(args, 3);
  if (inputs.has_last_state) {
    update.w = floats(args, inputs.rate + 4);
    update.w_out = floats_out(args, 4);
  }
  *static_cast<int64_t*>(args.outputs[1]) = count;
  return update;
}

}  // namespace sardonyx::cpu
