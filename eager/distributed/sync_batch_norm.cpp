#include "eager/distributed/sync_batch_norm.h"

#include <cmath>
#include <cstring>

#include "eager/autograd/autograd.h"
#include "eager/functional/functional.h"
#include "eager/nn/normalization.h"
#include "eager/op.h"
#include "eager/trace/frame.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager::distributed {
namespace {

// Of each channel over all ranks.
struct ChannelStatistics {
  double elements = 0;
  std::vector<float> mean, variance;
};

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

Tensor of_channels(const std::vector<float>& values) {
  return Tensor(sardonyx::Tensor::vector(values));
}

// Of this rank's batch: the number of elements of a channel, then means, then variances.
std::vector<float> own_statistics(const Tensor& x, int64_t elements) {
  const auto channels = static_cast<size_t>(x.data().shape()[1]);
  std::vector<float> own(2 * channels);
  if (elements == 0) return own;
  const Tensor mean = x.mean(axes_but_channels(x), true);
  const Tensor centred = x - mean;
  const Tensor variance = (centred * centred).mean(axes_but_channels(x), true);
  std::memcpy(own.data(), mean.data().raw(), channels * sizeof(float));
  std::memcpy(own.data() + channels, variance.data().raw(), channels * sizeof(float));
  return own;
}

// Combined in the order of the ranks (Chan, Golub and LeVeque, 1979), so that all have the same
// bits.
ChannelStatistics statistics_of_all(const Tensor& x, const ProcessGroup& group) {
  const auto channels = static_cast<size_t>(x.data().shape()[1]);
  const int64_t elements = channels == 0 ? 0 : x.data().count() / static_cast<int64_t>(channels);
  const std::vector<float> own = own_statistics(x, elements);
  std::string bytes(sizeof elements + own.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), &elements, sizeof elements);
  std::memcpy(bytes.data() + sizeof elements, own.data(), own.size() * sizeof(float));
  std::vector<double> mean(channels), squares(channels);
  double total = 0;
  for (const std::string& there : group.all_gather(bytes)) {
    if (there.size() != bytes.size()) {
      fail(ErrorCode::kInvalidArgument, "SyncBatchNorm: ranks bring different numbers of channels");
    }
    int64_t theirs = 0;
    std::vector<float> values(2 * channels);
    std::memcpy(&theirs, there.data(), sizeof theirs);
    std::memcpy(values.data(), there.data() + sizeof theirs, values.size() * sizeof(float));
    if (theirs == 0) continue;
    const auto count = static_cast<double>(theirs);
    for (size_t c = 0; c < channels; ++c) {
      const double step = values[c] - mean[c];
      mean[c] += step * count / (total + count);
      squares[c] += values[channels + c] * count + step * step * total * count / (total + count);
    }
    total += count;
  }
  ChannelStatistics all{.elements = total};
  for (size_t c = 0; c < channels; ++c) {
    all.mean.push_back(static_cast<float>(mean[c]));
    all.variance.push_back(static_cast<float>(squares[c] / total));
  }
  return all;
}

// What forward leaves for backward.
struct NormalizedBatch {
  double elements = 0;
  Tensor mean, inverse_deviation;  // [C], float32
};

std::vector<Tensor> gradients_over_ranks(const std::vector<Tensor>& inputs,
                                         const Tensor& given_gradient, const NormalizedBatch& batch,
                                         const ProcessGroup& group) {
  if (is_grad_enabled()) {
    fail(ErrorCode::kUnsupported,
         "SyncBatchNorm: gradients of gradients would need the other ranks'; call backward() "
         "without create_graph");
  }
  const Tensor x = inputs[0].to(DType::kFloat), d_y = given_gradient.to(DType::kFloat);
  const Tensor weight = inputs[1].to(DType::kFloat);
  const std::vector<int64_t> axes = axes_but_channels(x);
  const Tensor normalized =
      (x - by_channel(batch.mean, x)) * by_channel(batch.inverse_deviation, x);
  const Tensor d_bias = d_y.sum(axes), d_weight = (d_y * normalized).sum(axes);
  const Tensor sums = group.all_reduce(stack({d_bias, d_weight}, 0));
  const auto share = static_cast<float>(1 / batch.elements);
  const Tensor of_mean = by_channel(sums.select(0, 0) * share, x);
  const Tensor of_deviation = by_channel(sums.select(0, 1) * share, x);
  const Tensor d_x =
      (d_y - of_mean - normalized * of_deviation) * by_channel(weight * batch.inverse_deviation, x);
  return {d_x.to(inputs[0].dtype()), d_weight.to(inputs[1].dtype()), d_bias.to(inputs[2].dtype())};
}

nn::BatchNormResult normalize_over_ranks(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                         double eps, const ProcessGroup& group) {
  if (TraceContext::active()) {
    fail(ErrorCode::kUnsupported,
         "SyncBatchNorm: a traced step can't wait for other ranks; run it eagerly, or trace in "
         "evaluation mode");
  }
  if (x.dtype() == DType::kDouble)
    fail(ErrorCode::kUnsupported,
         "SyncBatchNorm: elements of type double; expected float32 or 16 bits");
  ChannelStatistics all;
  {
    const NoGrad no_grad;
    all = statistics_of_all(x.detach().to(DType::kFloat), group);
  }
  if (all.elements < 2) {
    fail(ErrorCode::kInvalidArgument, "SyncBatchNorm: the variance of ", all.elements,
         " elements for each channel over all ranks is nothing to train by; give a larger "
         "batch, or call eval()");
  }
  NormalizedBatch batch{.elements = all.elements, .mean = of_channels(all.mean)};
  const Tensor variance = of_channels(all.variance);
  std::vector<float> inverse;
  for (const float one : all.variance)
    inverse.push_back(1 / std::sqrt(one + static_cast<float>(eps)));
  batch.inverse_deviation = of_channels(inverse);
  CustomFunction function;
  function.forward = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{
        nn::batch_norm(inputs[0], batch.mean, variance, inputs[1], inputs[2], eps)};
  };
  function.backward = [batch, group](const std::vector<Tensor>& inputs, const std::vector<Tensor>&,
                                     const std::vector<Tensor>& gradients) {
    return gradients_over_ranks(inputs, gradients[0], batch, group);
  };
  return {.y = apply(function, {x, weight, bias})[0],
          .mean = batch.mean,
          .variance = variance,
          .elements = Tensor::scalar(all.elements)};
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
