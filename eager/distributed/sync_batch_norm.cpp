#include "eager/distributed/sync_batch_norm.h"

#include <cstring>
#include <mutex>

#include "eager/autograd/autograd.h"
#include "eager/distributed/collective_ops.h"
#include "eager/distributed/exchanged_tensors.h"
#include "eager/functional/functional.h"
#include "eager/nn/normalization.h"
#include "eager/op.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager::distributed {
namespace {

// Of each channel over all ranks; tensors of the trace in a compiled step.
struct ChannelStatistics {
  Tensor mean, variance;  // [C], float32 or float64
  Tensor elements;        // of each channel: float64, rank 0
};

// What statistics and gradients are computed in.
DType working_dtype(const Tensor& x) {
  return x.dtype() == DType::kDouble ? DType::kDouble : DType::kFloat;
}

std::vector<int64_t> axes_but_channels(const Tensor& x) {
  std::vector<int64_t> axes{0};
  for (size_t i = 2; i < x.rank(); ++i)
    axes.push_back(static_cast<int64_t>(i));
  return axes;
}

// A value for each channel, beside x.
Tensor by_channel(const Tensor& values, const Tensor& x) {
  Dims shape(x.rank() - 1, 1);
  shape[0] = values.size(0);
  return values.reshape(shape);
}

// What each rank sends: its number of elements of a channel, then means, then variances.
struct OwnStatistics {
  int64_t elements = 0;
  const std::byte* mean = nullptr;
  const std::byte* variance = nullptr;
};

std::string packed(const OwnStatistics& own, size_t channel_bytes) {
  std::string bytes(sizeof own.elements + 2 * channel_bytes, '\0');
  std::memcpy(bytes.data(), &own.elements, sizeof own.elements);
  if (own.elements == 0 || channel_bytes == 0) return bytes;
  std::memcpy(bytes.data() + sizeof own.elements, own.mean, channel_bytes);
  std::memcpy(bytes.data() + sizeof own.elements + channel_bytes, own.variance, channel_bytes);
  return bytes;
}

// Combined in the order of the ranks (Chan, Golub and LeVeque, 1979), so that all have the same
// bits. Gives the number of elements of a channel.
template <typename T>
double combine(const std::vector<std::string>& by_rank, std::span<T> means,
               std::span<T> variances) {
  const size_t channels = means.size();
  std::vector<double> mean(channels), squares(channels);
  double total = 0;
  for (const std::string& there : by_rank) {
    int64_t theirs = 0;
    if (there.size() != sizeof theirs + 2 * channels * sizeof(T)) {
      fail(ErrorCode::kInvalidArgument,
           "SyncBatchNorm: ranks bring different numbers of channels, or elements of other types");
    }
    std::vector<T> values(2 * channels);
    std::memcpy(&theirs, there.data(), sizeof theirs);
    std::memcpy(values.data(), there.data() + sizeof theirs, values.size() * sizeof(T));
    if (theirs == 0) continue;
    const auto count = static_cast<double>(theirs);
    for (size_t c = 0; c < channels; ++c) {
      const double step = static_cast<double>(values[c]) - mean[c];
      mean[c] += step * count / (total + count);
      squares[c] += static_cast<double>(values[channels + c]) * count +
                    step * step * total * count / (total + count);
    }
    total += count;
  }
  if (total < 2) {
    fail(ErrorCode::kInvalidArgument, "SyncBatchNorm: the variance of ", total,
         " elements for each channel over all ranks is nothing to train by; give a larger "
         "batch, or call eval()");
  }
  for (size_t c = 0; c < channels; ++c) {
    means[c] = static_cast<T>(mean[c]);
    variances[c] = static_cast<T>(squares[c] / total);
  }
  return total;
}

// The row CombineStatistics: this rank's elements, means and variances to those of all.
void combine_over_ranks(const EvalCall& call) {
  const sardonyx::Tensor &mean = call.inputs[1].tensor(), &variance = call.inputs[2].tensor();
  const OwnStatistics own{.elements = *static_cast<const int64_t*>(call.inputs[0].tensor().raw()),
                          .mean = static_cast<const std::byte*>(mean.raw()),
                          .variance = static_cast<const std::byte*>(variance.raw())};
  const std::vector<std::string> by_rank =
      ProcessGroup::world().all_gather(packed(own, mean.bytes()));
  sardonyx::Tensor& all_mean = call.tensor(0, mean.dtype(), mean.shape());
  sardonyx::Tensor& all_variance = call.tensor(1, mean.dtype(), mean.shape());
  const double elements = mean.dtype() == DType::kDouble
                              ? combine(by_rank, all_mean.mutable_values<double>(),
                                        all_variance.mutable_values<double>())
                              : combine(by_rank, all_mean.mutable_values<float>(),
                                        all_variance.mutable_values<float>());
  call.set_scalar(call.outputs[2], elements);
}

void register_combining() {
  CustomOp op = collective_op("CombineStatistics",
                              "(elements: int64, mean: T, variance: T) -> "
                              "(all_mean: T, all_variance: T, all_elements: double)",
                              DTypeSet{DType::kFloat, DType::kDouble});
  op.compute = combine_over_ranks;
  op.infer = [](InferContext& context) {
    context.set(0, context.type(1));
    context.set(1, context.type(1));
    context.set(2, DType::kDouble, Dims{});
  };
  register_custom_op(std::move(op));
}

// This rank's batch is the whole one where a graph is for a file.
ChannelStatistics statistics_of_all(const Tensor& x) {
  const NoGrad no_grad;
  Dim elements = 1;
  for (const int64_t axis : axes_but_channels(x))
    elements *= x.size(axis);
  const Tensor count = dim_tensor(elements);
  const Tensor mean = x.mean(axes_but_channels(x), true);
  const Tensor centred = x - mean;
  const Tensor variance = (centred * centred).mean(axes_but_channels(x));
  const Tensor flat_mean = mean.reshape({x.size(1)});
  if (collective_place("SyncBatchNorm") == CollectivePlace::kLeftOut)
    return {.mean = flat_mean, .variance = variance, .elements = count.to(DType::kDouble)};
  static std::once_flag is_registered;
  std::call_once(is_registered, register_combining);
  const std::vector<Tensor> all =
      recorded_call(3, "CombineStatistics", {count, flat_mean, variance}, {});
  return {.mean = all[0], .variance = all[1], .elements = all[2]};
}

// What forward leaves for backward.
struct NormalizedBatch {
  Tensor elements;                 // rank 0
  Tensor mean, inverse_deviation;  // [C]
  double eps = 0;
};

// The statistics as functions of x, for gradients of gradients.
NormalizedBatch differentiable(const NormalizedBatch& batch, const Tensor& x,
                               const ProcessGroup& group) {
  const std::vector<int64_t> axes = axes_but_channels(x);
  const Tensor share = reciprocal(batch.elements).to(x.dtype());
  NormalizedBatch made = batch;
  made.mean = summed_over_ranks(x.sum(axes), group) * share;
  const Tensor centred = x - by_channel(made.mean, x);
  const Tensor variance = summed_over_ranks((centred * centred).sum(axes), group) * share;
  made.inverse_deviation = reciprocal(sqrt(variance + batch.eps));
  return made;
}

std::vector<Tensor> gradients_over_ranks(const std::vector<Tensor>& inputs,
                                         const Tensor& given_gradient, const NormalizedBatch& given,
                                         const ProcessGroup& group) {
  const DType working = working_dtype(inputs[0]);
  const Tensor x = inputs[0].to(working), d_y = given_gradient.to(working);
  const Tensor weight = inputs[1].to(working);
  const NormalizedBatch batch = is_grad_enabled() ? differentiable(given, x, group) : given;
  const std::vector<int64_t> axes = axes_but_channels(x);
  const Tensor normalized =
      (x - by_channel(batch.mean, x)) * by_channel(batch.inverse_deviation, x);
  const Tensor d_bias = d_y.sum(axes), d_weight = (d_y * normalized).sum(axes);
  const Tensor sums = summed_over_ranks(stack({d_bias, d_weight}, 0), group);
  const Tensor share = reciprocal(batch.elements).to(working);
  const Tensor of_mean = by_channel(sums.select(0, 0) * share, x);
  const Tensor of_deviation = by_channel(sums.select(0, 1) * share, x);
  const Tensor d_x =
      (d_y - of_mean - normalized * of_deviation) * by_channel(weight * batch.inverse_deviation, x);
  return {d_x.to(inputs[0].dtype()), d_weight.to(inputs[1].dtype()), d_bias.to(inputs[2].dtype())};
}

nn::BatchNormResult normalize_over_ranks(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                         double eps, const ProcessGroup& group) {
  const ChannelStatistics all = statistics_of_all(x.detach().to(working_dtype(x)));
  NormalizedBatch batch{.elements = all.elements, .mean = all.mean, .eps = eps};
  batch.inverse_deviation = reciprocal(sqrt(all.variance + eps));
  CustomFunction function;
  function.forward = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{
        nn::batch_norm(inputs[0], all.mean, all.variance, inputs[1], inputs[2], eps)};
  };
  function.backward = [batch, group](const std::vector<Tensor>& inputs, const std::vector<Tensor>&,
                                     const std::vector<Tensor>& gradients) {
    return gradients_over_ranks(inputs, gradients[0], batch, group);
  };
  return {.y = apply(function, {x, weight, bias})[0],
          .mean = all.mean,
          .variance = all.variance,
          .elements = all.elements};
}

}  // namespace

size_t sync_batch_norms(const nn::Module& module, const ProcessGroup& group) {
  size_t count = 0;
  for (const auto& [path, inner] : module.named_modules()) {
    if (!nn::is_batch_norm(inner)) continue;
    ++count;
    if (group.size() == 1) continue;
    nn::set_batch_computation(
        inner, [group](const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
          return normalize_over_ranks(x, weight, bias, eps, group);
        });
  }
  return count;
}

}  // namespace sardonyx::eager::distributed
