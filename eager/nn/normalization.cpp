#include "eager/nn/normalization.h"

#include <limits>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/module_state.h"
#include "eager/placed.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager::nn {

struct detail::BatchComputationSlot {
  BatchComputation computation;  // empty: the layer's own
};

namespace {

std::shared_ptr<const Attrs> norm_attributes(const char* op, const AttrMap& attrs) {
  return std::make_shared<const Attrs>(Attrs::parse(*op_named(op).attrs, attrs));
}

int64_t positive_count(int64_t count, const char* what) {
  if (count > 0) return count;
  fail(ErrorCode::kInvalidArgument, what, ": expected a positive size, got ", count);
}

// Ones or zeros that a module without parameters of its own gives to the op, in x's type.
Tensor fitting(const Tensor& stand_in, const Tensor& x) {
  // Under Autocast x becomes float32 instead.
  const bool is_cast = Autocast::current() != DType::kUndefined;
  return is_cast || stand_in.dtype() == x.dtype() ? stand_in : stand_in.to(x.dtype());
}

// Batch and instance norms leave the type to x under Autocast, as torch's do: they compute in
// float32 and round.
Tensor in_type_of(const Tensor& x, const Tensor& y, const Loc& loc) {
  const bool is_small = x.dtype() == DType::kBFloat16 || x.dtype() == DType::kFloat16;
  return is_small && Autocast::current() != DType::kUndefined ? y.to(x.dtype(), loc) : y;
}

Tensor literal_full(const Shape& shape, double value) {
  return literal(full(to_dims(shape), value).data());
}

// All axes but the channels'.
std::vector<int64_t> axes_beside_channels(const Tensor& x) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (i != 1) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

// How many elements one channel has.
Dim channel_elements(const Tensor& x) {
  Dim count = 1;
  for (const int64_t axis : axes_beside_channels(x))
    count *= x.size(axis);
  return count;
}

Tensor moved(const Tensor& running, const Tensor& now, const Tensor& share, const Loc& loc) {
  const Tensor step = mul({share, loc}, sub({now, loc}, running));
  return add({running, loc}, step);
}

int64_t rank_of(const std::vector<int64_t>& shape) {
  return static_cast<int64_t>(shape.size());
}

void check_last_axes(const Tensor& x, const std::vector<int64_t>& shape, const char* name,
                     const Loc& loc) {
  require_defined(x, name, "x", loc);
  const size_t rank = x.rank();
  bool fits = rank >= shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    const Dim size = x.size(static_cast<int64_t>(rank - shape.size() + i), loc);
    fits = eager::detail::sizes_agree(size, shape[i], loc);
  }
  if (fits) return;
  fail_at(loc, name, ": expected x to end in ", to_text(shape), ", got ", x.type());
}

const Tensor& given(const Tensor& own, const Tensor& otherwise) {
  return own.defined() ? own : otherwise;
}

// The type's smallest step above 1.
double smallest_step(DType dtype) {
  return dtype == DType::kDouble     ? std::numeric_limits<double>::epsilon()
         : dtype == DType::kFloat16  ? 0x1p-10
         : dtype == DType::kBFloat16 ? 0x1p-7
                                     : 0x1p-23;
}

}  // namespace

template <typename Self>
void ChannelNorm<Self>::make_state(int64_t channels, bool affine, bool tracks_statistics) {
  ones_ = literal_full({positive_count(channels, this->type_name().c_str())}, 1);
  zeros_ = literal_full({channels}, 0);
  this->describe(text(channels));
  if (affine) {
    weight = this->parameter("weight", ones({channels}));
    bias = this->parameter("bias", zeros({channels}));
  }
  if (tracks_statistics) {
    running_mean = this->buffer("running_mean", zeros({channels}));
    running_var = this->buffer("running_var", ones({channels}));
    num_batches_tracked = this->buffer("num_batches_tracked", zeros({}, {.dtype = DType::kInt64}));
  }
}

template <typename Self>
const Tensor& ChannelNorm<Self>::scale() const {
  detail::require_registered(*this, {{"weight", weight}});
  return given(weight, ones_);
}
template <typename Self>
const Tensor& ChannelNorm<Self>::shift() const {
  detail::require_registered(*this, {{"bias", bias}});
  return given(bias, zeros_);
}

BatchNorm::BatchNorm(std::string type_name, size_t low_rank, size_t high_rank, int64_t channels,
                     const BatchNormOptions& options, Loc loc) try
    : ChannelNorm(std::move(type_name)),
      low_rank_(low_rank),
      high_rank_(high_rank),
      options_(options) {
  make_state(channels, options.affine, options.track_running_stats);
  detail::ModuleState::mutable_of(*this).batch_computation =
      std::make_shared<detail::BatchComputationSlot>();
} catch (const Error& error) {
  throw placed(error, loc);
}

bool is_batch_norm(const Module& module) {
  return detail::ModuleState::of(module).batch_computation != nullptr;
}
bool has_batch_computation(const Module& module) {
  return is_batch_norm(module) && detail::ModuleState::of(module).batch_computation->computation;
}
void set_batch_computation(const Module& module, BatchComputation computation) {
  if (!is_batch_norm(module)) {
    fail(ErrorCode::kInvalidArgument, "set_batch_computation: expected a BatchNorm, got ",
         module.type_name());
  }
  detail::ModuleState::mutable_of(module).batch_computation->computation = std::move(computation);
}

Tensor BatchNorm::forward(const Tensor& x) const {
  require_defined(x, type_name(), "x", caller());
  if (x.rank() < low_rank_ || x.rank() > high_rank_) {
    fail(ErrorCode::kInvalidArgument, type_name(), ": expected rank ", low_rank_,
         high_rank_ > low_rank_ ? text(" or ", high_rank_) : "", ", got ", x.type());
  }
  detail::require_registered(*this, {{"running_mean", running_mean}, {"running_var", running_var}});
  if (is_training() || !running_mean.defined()) return by_batch(x);
  static const OpDef& op = op_named("BatchNormalization");
  const Tensor y =
      eager::apply(op, {x, fitting(scale(), x), fitting(shift(), x), running_mean, running_var},
                   {{"epsilon", static_cast<float>(options_.eps)}}, caller());
  return in_type_of(x, y, caller());
}

Tensor BatchNorm::by_batch(const Tensor& x) const {
  if (const BatchComputation& computation =
          detail::ModuleState::of(*this).batch_computation->computation;
      computation && is_training()) {
    const BatchNormResult result =
        computation(x, fitting(scale(), x), fitting(shift(), x), options_.eps);
    if (running_mean.defined()) move_statistics(result.elements, result.mean, result.variance);
    return in_type_of(x, result.y, caller());
  }
  if (is_training() && eager::detail::sizes_agree(channel_elements(x), 1, caller(), false)) {
    fail(ErrorCode::kInvalidArgument, type_name(), ": the variance of one element for each ",
         "channel (", x.type(), ") is nothing to train by; give a larger batch, or call eval()");
  }
  // A momentum of 0 makes the op give the batch's own mean and (biased) variance, whatever it is
  // given as running ones.
  static const OpDef& op = op_named("BatchNormalization");
  const Tensor scale = fitting(this->scale(), x), shift = fitting(this->shift(), x);
  const Tensor inputs[] = {x, scale, shift, fitting(zeros_, x), fitting(ones_, x)};
  const std::vector<Tensor> results = apply_many(op, inputs,
                                                 {{"epsilon", static_cast<float>(options_.eps)},
                                                  {"momentum", 0.0f},
                                                  {"training_mode", int64_t{1}}},
                                                 3, caller());
  if (is_training() && running_mean.defined()) {
    move_statistics(dim_tensor(channel_elements(x), caller()), results[1], results[2]);
  }
  return in_type_of(x, results[0], caller());
}

void BatchNorm::move_statistics(const Tensor& count, const Tensor& mean,
                                const Tensor& variance) const {
  const NoGrad no_grad;
  const DType dtype = running_mean.dtype();
  const Loc loc = caller();
  num_batches_tracked.assign(eager::add({num_batches_tracked, loc}, int64_t{1}), loc);
  const Tensor share = options_.momentum ? full({}, *options_.momentum, {.dtype = dtype})
                                         : reciprocal(num_batches_tracked.to(dtype, loc), loc);
  const Tensor elements = count.to(dtype, loc);
  const Tensor less = sub({elements, loc}, 1);
  const Tensor unbiased = mul({variance.to(dtype, loc), loc}, div({elements, loc}, less));
  running_mean.assign(moved(running_mean, mean.to(dtype, loc), share, loc), loc);
  running_var.assign(moved(running_var, unbiased, share, loc), loc);
}

InstanceNorm::InstanceNorm(int64_t channels, InstanceNormOptions options, Loc loc) try
    : options_(options) {
  make_state(channels, options.affine, options.track_running_stats);
} catch (const Error& error) {
  throw placed(error, loc);
}

Tensor InstanceNorm::forward(const Tensor& x) const {
  require_defined(x, "InstanceNorm", "x", caller());
  if (x.rank() < 3)
    fail(ErrorCode::kInvalidArgument, "InstanceNorm: expected x [N, C, ...], got ", x.type());
  detail::require_registered(*this, {{"running_mean", running_mean}, {"running_var", running_var}});
  const float eps = static_cast<float>(options_.eps);
  const Tensor scale = fitting(this->scale(), x), shift = fitting(this->shift(), x);
  if (running_mean.defined() && !is_training()) {
    static const OpDef& by_running = op_named("BatchNormalization");
    const Tensor y = eager::apply(by_running, {x, scale, shift, running_mean, running_var},
                                  {{"epsilon", eps}}, caller());
    return in_type_of(x, y, caller());
  }
  if (running_mean.defined()) {
    const NoGrad no_grad;
    const Loc loc = caller();
    std::vector<int64_t> spatial = axes_beside_channels(x);
    spatial.erase(spatial.begin());
    const DType dtype = running_mean.dtype();
    const Tensor plain = x.detach().to(dtype, loc);
    const Tensor share = full({}, options_.momentum, {.dtype = dtype});
    const Tensor mean = plain.mean(spatial, false, loc).mean({0}, false, loc);
    const Tensor variance = var(plain, spatial, false, 1, loc).mean({0}, false, loc);
    num_batches_tracked.assign(eager::add({num_batches_tracked, loc}, int64_t{1}), loc);
    running_mean.assign(moved(running_mean, mean, share, loc), loc);
    running_var.assign(moved(running_var, variance, share, loc), loc);
  }
  static const OpDef& op = op_named("InstanceNormalization");
  return in_type_of(x, eager::apply(op, {x, scale, shift}, {{"epsilon", eps}}, caller()), caller());
}

LayerNorm::LayerNorm(std::vector<int64_t> normalized_shape, LayerNormOptions options, Loc loc) try
    : shape_(std::move(normalized_shape)) {
  for (const int64_t size : shape_)
    positive_count(size, "LayerNorm");
  positive_count(rank_of(shape_), "LayerNorm");
  describe(to_text(shape_));
  attrs_ = norm_attributes("LayerNormalization", {{"axis", -rank_of(shape_)},
                                                  {"epsilon", static_cast<float>(options.eps)}});
  ones_ = literal_full(shape_, 1);
  if (!options.elementwise_affine) return;
  weight = parameter("weight", ones(to_dims(shape_)));
  if (options.bias) bias = parameter("bias", zeros(to_dims(shape_)));
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor LayerNorm::forward(const Tensor& x) const {
  static const OpDef& op = op_named("LayerNormalization");
  check_last_axes(x, shape_, "LayerNorm", caller());
  detail::require_registered(*this, {{"weight", weight}, {"bias", bias}});
  const Tensor inputs[] = {x, fitting(given(weight, ones_), x), bias};
  return eager::apply(op, std::span(inputs, bias.defined() ? 3 : 2), *attrs_, caller());
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels, GroupNormOptions options, Loc loc) try
    : ones_(literal_full({positive_count(channels, "GroupNorm")}, 1)),
      zeros_(literal_full({channels}, 0)) {
  if (channels % positive_count(groups, "GroupNorm") != 0) {
    fail(ErrorCode::kInvalidArgument, "GroupNorm: ", groups, " groups do not divide ", channels,
         " channels");
  }
  describe(text(groups, " of ", channels));
  attrs_ = norm_attributes("GroupNormalization",
                           {{"num_groups", groups}, {"epsilon", static_cast<float>(options.eps)}});
  if (!options.affine) return;
  weight = parameter("weight", ones({channels}));
  bias = parameter("bias", zeros({channels}));
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor GroupNorm::forward(const Tensor& x) const {
  static const OpDef& op = op_named("GroupNormalization");
  require_defined(x, "GroupNorm", "x", caller());
  detail::require_registered(*this, {{"weight", weight}, {"bias", bias}});
  const Tensor inputs[] = {x, fitting(given(weight, ones_), x), fitting(given(bias, zeros_), x)};
  return eager::apply(op, inputs, *attrs_, caller());
}

RMSNorm::RMSNorm(std::vector<int64_t> normalized_shape, RMSNormOptions options, Loc loc) try
    : shape_(std::move(normalized_shape)), eps_(options.eps) {
  for (const int64_t size : shape_)
    positive_count(size, "RMSNorm");
  positive_count(rank_of(shape_), "RMSNorm");
  describe(to_text(shape_));
  ones_ = literal_full(shape_, 1);
  if (options.elementwise_affine) weight = parameter("weight", ones(to_dims(shape_)));
} catch (const Error& error) {
  throw placed(error, loc);
}
Tensor RMSNorm::forward(const Tensor& x) const {
  detail::require_registered(*this, {{"weight", weight}});
  return rms_norm(x, shape_, given(weight, ones_), eps_, caller());
}

namespace {

// A weight that is given, or its default over known sizes.
Tensor given_or(const Tensor& given, const Tensor& x, const std::vector<int64_t>& sizes,
                double otherwise) {
  return fitting(given.defined() ? given : literal_full(sizes, otherwise), x);
}
// [C] for x [N, C, ...].
std::vector<int64_t> channels_of(const Tensor& x, const char* name, const Loc& loc) {
  require_defined(x, name, "x", loc);
  if (x.rank() < 2) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", name, ": expected x [N, C, ...], got ",
         x.type());
  }
  return {x.size(1, loc).value()};
}

}  // namespace

Tensor layer_norm(const Tensor& x, const std::vector<int64_t>& normalized_shape,
                  const Tensor& weight, const Tensor& bias, double eps, Loc loc) {
  static const OpDef& op = op_named("LayerNormalization");
  check_last_axes(x, normalized_shape, "layer_norm", loc);
  const AttrMap attrs{{"axis", -rank_of(normalized_shape)}, {"epsilon", static_cast<float>(eps)}};
  const Tensor inputs[] = {x, given_or(weight, x, normalized_shape, 1), bias};
  return apply_many(op, std::span(inputs, bias.defined() ? 3 : 2), attrs, 1, loc)[0];
}
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps, Loc loc) {
  static const OpDef& op = op_named("GroupNormalization");
  const std::vector<int64_t> channels = channels_of(x, "group_norm", loc);
  return eager::apply(op, {x, given_or(weight, x, channels, 1), given_or(bias, x, channels, 0)},
                      {{"num_groups", groups}, {"epsilon", static_cast<float>(eps)}}, loc);
}
Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                     Loc loc) {
  static const OpDef& op = op_named("InstanceNormalization");
  const std::vector<int64_t> channels = channels_of(x, "instance_norm", loc);
  return eager::apply(op, {x, given_or(weight, x, channels, 1), given_or(bias, x, channels, 0)},
                      {{"epsilon", static_cast<float>(eps)}}, loc);
}
Tensor rms_norm(const Tensor& x, const std::vector<int64_t>& normalized_shape, const Tensor& weight,
                std::optional<double> eps, Loc loc) {
  static const OpDef& op = op_named("RMSNormalization");
  check_last_axes(x, normalized_shape, "rms_norm", loc);
  const AttrMap attrs{{"axis", -rank_of(normalized_shape)},
                      {"epsilon", static_cast<float>(eps.value_or(smallest_step(x.dtype())))}};
  return eager::apply(op, {x, given_or(weight, x, normalized_shape, 1)}, attrs, loc);
}
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& weight,
                  const Tensor& bias, double eps, Loc loc) {
  static const OpDef& op = op_named("BatchNormalization");
  const std::vector<int64_t> channels = channels_of(x, "batch_norm", loc);
  const Tensor y = eager::apply(
      op, {x, given_or(weight, x, channels, 1), given_or(bias, x, channels, 0), mean, variance},
      {{"epsilon", static_cast<float>(eps)}}, loc);
  return in_type_of(x, y, loc);
}
Tensor normalize(const Tensor& x, NormalizeOptions options, Loc loc) {
  const Tensor length = norm(x, options.p, {options.axis}, true, loc);
  return div({x, loc}, clamp(length, options.eps, {}, loc));
}

// torch's window of an even size has one channel more before than after.
Tensor local_response_norm(const Tensor& x, int64_t size, LocalResponseNormOptions options,
                           Loc loc) {
  require_defined(x, "local_response_norm", "x", loc);
  if (x.rank() < 2 || size < 1)
    fail_at(loc, "local_response_norm: expected x [N, C, ...] and a size of at least 1, got ",
            x.type(), " and ", size);
  std::vector<int64_t> pads(2 * (x.rank() - 1), 0);
  pads[pads.size() - 2] = size / 2;
  pads[pads.size() - 1] = (size - 1) / 2;
  const Tensor squares = pad(square(x, loc), pads, 0, loc);
  Tensor sums = squares.slice(1, {Dim(0), x.size(1, loc)}, loc);
  for (int64_t i = 1; i < size; ++i)
    sums = eager::add({sums, loc}, squares.slice(1, {Dim(i), x.size(1, loc) + i}, loc));
  const Tensor base =
      eager::add({mul({sums, loc}, options.alpha / static_cast<double>(size)), loc}, options.k);
  return div({x, loc}, pow({base, loc}, options.beta));
}
Tensor LocalResponseNorm::forward(const Tensor& x) const {
  return local_response_norm(x, size_, options_, caller());
}

}  // namespace sardonyx::eager::nn
