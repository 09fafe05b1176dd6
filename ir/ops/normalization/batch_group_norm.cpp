// Normalizations with statistics over a channel, a group of channels or chosen axes. All are
// computed in double and rounded once, whatever stash_type says: it asks for at least that
// precision.
#include "ir/ops/normalization/batch_group_norm.h"

#include <algorithm>
#include <cmath>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/ops/conv/conv_inference.h"
#include "ir/ops/gradient/function_bodies.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/normalization/normalization_gradient.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {

namespace {

// Element `i` of a floating tensor of any type.
double element(const TensorView& view, int64_t i) {
  return dispatch_floats(view.dtype,
                         [&]<typename T>() -> double { return widened(view.data<T>()[i]); });
}

void set_element(const TensorView& view, int64_t i, double value) {
  dispatch_floats(view.dtype, [&]<typename T>() { view.data<T>()[i] = narrowed<T>(value); });
}

struct Moments {
  double mean, variance;
};

// The mean and the (population) variance of `runs` runs of `length` elements, `step` apart.
template <typename T>
Moments moments(const T* x, int64_t runs, int64_t length, int64_t step) {
  const auto count = static_cast<double>(runs * length);
  double sum = 0, squares = 0;
  for (int64_t run = 0; run < runs; ++run) {
    for (int64_t i = 0; i < length; ++i)
      sum += widened(x[run * step + i]);
  }
  const double mean = sum / count;
  for (int64_t run = 0; run < runs; ++run) {
    for (int64_t i = 0; i < length; ++i) {
      const double distance = widened(x[run * step + i]) - mean;
      squares += distance * distance;
    }
  }
  return {mean, squares / count};
}

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias
template <typename T>
void normalize(const T* x, T* y, int64_t length, const Moments& statistics, double epsilon,
               double scale, double bias) {
  const double inverse = 1 / std::sqrt(statistics.variance + epsilon);
  for (int64_t i = 0; i < length; ++i) {
    y[i] = narrowed<T>((widened(x[i]) - statistics.mean) * inverse * scale + bias);
  }
}

// X seen as [batch, channels, size]; a tensor of rank 1 is a batch of one channel.
struct ChannelView {
  int64_t batch, channels, size;
};

ChannelView channels_of(std::span<const int64_t> shape) {
  if (shape.size() == 1) return {shape[0], 1, 1};
  ChannelView view{shape[0], shape[1], 1};
  for (size_t axis = 2; axis < shape.size(); ++axis)
    view.size *= shape[axis];
  return view;
}

// The channels of input 0, as far as they are known; each of `parameters` must be as long.
Dim require_channels(InferContext& c, size_t min_rank, std::initializer_list<size_t> parameters) {
  const auto rank = rank_of(c, 0);
  if (rank && *rank < min_rank) c.fail_input(0, "expected at least rank ", min_rank);
  Dim channels = c.unknown();
  if (rank) channels = *rank == 1 ? Dim(1) : (*c.shape(0))[1];
  for (const size_t parameter : parameters)
    require_length(c, parameter, channels, "channels");
  return channels;
}

// BatchNormalization

void infer_batch_normalization(InferContext& c) {
  const Dim channels = require_channels(c, 1, {1, 2, 3, 4});
  same_as_first(c);
  c.set(1, c.dtype(3), Dims{channels});
  c.set(2, c.dtype(4), Dims{channels});
}

void reference_batch_normalization(const KernelCall& call) {
  const auto& attrs = call.attrs<BatchNormalizationAttrs>();
  const TensorView& x = call.inputs[0];
  const ChannelView view = channels_of(x.shape);
  for (int64_t channel = 0; channel < view.channels; ++channel) {
    check_interrupted();
    const Moments given{element(call.inputs[3], channel), element(call.inputs[4], channel)};
    const double scale = element(call.inputs[1], channel), bias = element(call.inputs[2], channel);
    Moments running = given;
    dispatch_floats(x.dtype, [&]<typename T>() {
      const T* begin = x.data<T>() + channel * view.size;
      T* out = call.outputs[0].data<T>() + channel * view.size;
      const int64_t step = view.channels * view.size;
      Moments used = given;
      if (attrs.training_mode) {
        used = moments(begin, view.batch, view.size, step);
        const double keep = attrs.momentum;
        running = {given.mean * keep + used.mean * (1 - keep),
                   given.variance * keep + used.variance * (1 - keep)};
      }
      for (int64_t n = 0; n < view.batch; ++n) {
        normalize(begin + n * step, out + n * step, view.size, used, attrs.epsilon, scale, bias);
      }
    });
    if (call.wants(1)) set_element(call.outputs[1], channel, running.mean);
    if (call.wants(2)) set_element(call.outputs[2], channel, running.variance);
  }
}

// InstanceNormalization and GroupNormalization

void infer_instance_normalization(InferContext& c) {
  require_channels(c, 3, {1, 2});
  same_as_first(c);
}

void require_stash_type(const InferContext& c, DType stash_type) {
  c.require(kFloats.has(stash_type), "stash_type: expected a floating type, got ", stash_type);
}

void infer_group_normalization(InferContext& c) {
  const auto& attrs = c.attrs<GroupNormalizationAttrs>();
  c.require(attrs.num_groups >= 1, "num_groups: expected at least 1, got ", attrs.num_groups);
  require_stash_type(c, attrs.stash_type);
  require_divides(c, attrs.num_groups, require_channels(c, 2, {1, 2}), "num_groups", "channels");
  same_as_first(c);
}

// Statistics over each of `groups` equal parts of an image's channels.
void normalize_groups(const KernelCall& call, int64_t groups, double epsilon) {
  const TensorView& x = call.inputs[0];
  if (x.count() == 0) return;
  const ChannelView view = channels_of(x.shape);
  const int64_t members = view.channels / groups;
  dispatch_floats(x.dtype, [&]<typename T>() {
    const T* scale = call.inputs[1].data<T>();
    const T* bias = call.inputs[2].data<T>();
    for (int64_t group = 0; group < view.batch * groups; ++group) {
      check_interrupted();
      const int64_t begin = group * members * view.size;
      const Moments statistics = moments(x.data<T>() + begin, 1, members * view.size, 0);
      for (int64_t member = 0; member < members; ++member) {
        const int64_t channel = group % groups * members + member;
        const int64_t at = begin + member * view.size;
        normalize(x.data<T>() + at, call.outputs[0].data<T>() + at, view.size, statistics, epsilon,
                  widened(scale[channel]), widened(bias[channel]));
      }
    }
  });
}

void reference_instance_normalization(const KernelCall& call) {
  normalize_groups(call, call.inputs[0].shape[1], call.attrs<InstanceNormalizationAttrs>().epsilon);
}

void reference_group_normalization(const KernelCall& call) {
  const auto& attrs = call.attrs<GroupNormalizationAttrs>();
  normalize_groups(call, attrs.num_groups, attrs.epsilon);
}

// MeanVarianceNormalization

void infer_mean_variance(InferContext& c) {
  const auto& axes = c.attrs<MeanVarianceNormalizationAttrs>().axes;
  if (const auto rank = rank_of(c, 0)) normalized_axes(c, axes, *rank);
  same_as_first(c);
}

// The strides of a tensor of statistics: one element for all that `axes` run over.
std::pair<Strides, int64_t> statistics_strides(std::span<const int64_t> shape,
                                               const std::vector<int64_t>& axes) {
  DimValues kept(shape.begin(), shape.end());
  for (const int64_t axis : axes)
    kept[axis_of(axis, shape.size())] = 1;
  int64_t count = 1;
  for (const int64_t dim : kept)
    count *= dim;
  return {broadcast_strides(kept, shape), count};
}

// The text adds 1e-9 to the standard deviation, not to the variance.
constexpr double kMeanVarianceEpsilon = 1e-9;

void reference_mean_variance(const KernelCall& call) {
  const TensorView& x = call.inputs[0];
  if (x.count() == 0) return;
  const auto [strides, groups] =
      statistics_strides(x.shape, call.attrs<MeanVarianceNormalizationAttrs>().axes);
  const Strides operands[] = {row_major_strides(x.shape), strides};
  const RowWalk walk(x.shape, operands);
  const double count = static_cast<double>(x.count() / groups);
  std::pmr::vector<double> mean(static_cast<size_t>(groups), 0, scratch()),
      squares(static_cast<size_t>(groups), 0, scratch());
  dispatch_floats(x.dtype, [&]<typename T>() {
    const auto each = [&](auto&& visit) {
      walk.for_each([&](const int64_t* offsets, int64_t length) {
        for (int64_t i = 0; i < length; ++i) {
          visit(offsets[0] + i * walk.step(0), static_cast<size_t>(offsets[1] + i * walk.step(1)));
        }
      });
    };
    const T* in = x.data<T>();
    T* out = call.outputs[0].data<T>();
    each([&](int64_t i, size_t group) { mean[group] += widened(in[i]) / count; });
    each([&](int64_t i, size_t group) {
      const double distance = widened(in[i]) - mean[group];
      squares[group] += distance * distance / count;
    });
    each([&](int64_t i, size_t group) {
      const double deviation = std::sqrt(squares[group]) + kMeanVarianceEpsilon;
      out[i] = narrowed<T>((widened(in[i]) - mean[group]) / deviation);
    });
  });
}

// LRN

void infer_lrn(InferContext& c) {
  const int64_t size = c.attrs<LrnAttrs>().size;
  c.require(size >= 1, "size: expected at least 1, got ", size);
  require_channels(c, 2, {});
  same_as_first(c);
}

void reference_lrn(const KernelCall& call) {
  const auto& attrs = call.attrs<LrnAttrs>();
  const TensorView& x = call.inputs[0];
  const ChannelView view = channels_of(x.shape);
  const int64_t before = std::min((attrs.size - 1) / 2, view.channels);
  const int64_t after = std::min(attrs.size / 2, view.channels);
  const double alpha = static_cast<double>(attrs.alpha) / static_cast<double>(attrs.size);
  dispatch_floats(x.dtype, [&]<typename T>() {
    for (int64_t n = 0; n < view.batch; ++n) {
      const T* in = x.data<T>() + n * view.channels * view.size;
      T* out = call.outputs[0].data<T>() + n * view.channels * view.size;
      for (int64_t c = 0; c < view.channels; ++c) {
        check_interrupted();
        const int64_t first = std::max(c - before, int64_t{0});
        const int64_t last = std::min(c + after, view.channels - 1);
        for (int64_t i = 0; i < view.size; ++i) {
          double squares = 0;
          for (int64_t other = first; other <= last; ++other) {
            const double value = widened(in[other * view.size + i]);
            squares += value * value;
          }
          const double divisor = std::pow(attrs.bias + alpha * squares, attrs.beta);
          out[c * view.size + i] = narrowed<T>(widened(in[c * view.size + i]) / divisor);
        }
      }
    }
  });
}

std::vector<Sample> batch_samples() {
  const std::vector<SampleInput> inputs{{{2, 3, 4, 5}}, {{3}}, {{3}}, {{3}}, {{3}, 0.1, 2}};
  return {{.inputs = inputs, .attrs = {{"epsilon", 1e-2f}}},
          {.inputs = {{{4, 2}}, {{2}}, {{2}}, {{2}}, {{2}, 0.1, 2}}},
          {.inputs = inputs, .attrs = {{"training_mode", int64_t{1}}}, .outputs = 3}};
}

std::vector<Sample> instance_samples() {
  return {{{{{2, 3, 4, 5}}, {{3}}, {{3}}}}, {{{{1, 2, 7}}, {{2}}, {{2}}}, {{"epsilon", 1e-2f}}}};
}

std::vector<Sample> group_samples() {
  return {{{{{2, 6, 3, 2}}, {{6}}, {{6}}}, {{"num_groups", int64_t{2}}}},
          {{{{1, 4, 5}}, {{4}}, {{4}}}, {{"num_groups", int64_t{4}}, {"epsilon", 1e-2f}}}};
}

std::vector<Sample> mean_variance_samples() {
  return {{{{{2, 3, 4, 5}}}},
          {{{{3, 4, 2}}}, {{"axes", std::vector<int64_t>{-1, 0}}}},
          {.inputs = {{.shape = {2, 3, 4, 2}}}, .attrs = {{"axes", std::vector<int64_t>{2, 3}}}}};
}

std::vector<Sample> lrn_samples() {
  return {{{{{2, 5, 3, 3}}}, {{"size", int64_t{3}}}},
          {{{{1, 4, 6}}}, {{"size", int64_t{4}}, {"alpha", 0.5f}, {"beta", 0.5f}, {"bias", 2.0f}}}};
}

const OpDef kNormalizationOps[] = {
    {.name = "BatchNormalization",
     .doc = "X [N, C, ...] less the mean of its channel, divided by the standard deviation, times "
            "scale [C] plus B [C]; with training_mode = 1 by the batch's own statistics, and the "
            "running ones follow.",
     .since = 15,
     .signature = "(X: T, scale: T1, B: T1, input_mean: T2, input_var: T2) -> "
                  "(Y: T, running_mean?: T2, running_var?: T2)",
     .types = {{"T", kFloats}, {"T1", kFloats}, {"T2", kFloats}},
     .attrs = attr_schema<BatchNormalizationAttrs>(),
     .infer = infer_batch_normalization,
     .reference = reference_batch_normalization,
     .body = batch_normalization_body,
     .grad = batch_normalization_grad,
     .facts = kFloat32InMixed | kFloat32Kernels,
     .layout = LayoutRole::kFollows,
     .samples = batch_samples},
    {.name = "InstanceNormalization",
     .doc = "Each image's channels of X [N, C, ...] made of mean 0 and variance 1, times scale [C] "
            "plus B [C].",
     .since = 22,
     .signature = "(input: T, scale: T, B: T) -> (output: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<InstanceNormalizationAttrs>(),
     .infer = infer_instance_normalization,
     .reference = reference_instance_normalization,
     .grad = instance_normalization_grad,
     .facts = kFloat32InMixed | kFloat32Kernels,
     .samples = instance_samples},
    {.name = "GroupNormalization",
     .doc = "num_groups groups of channels of X [N, C, ...] made of mean 0 and variance 1, times "
            "scale [C] plus bias [C].",
     .since = 21,
     .signature = "(X: T, scale: T, bias: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<GroupNormalizationAttrs>(),
     .infer = infer_group_normalization,
     .reference = reference_group_normalization,
     .body = group_normalization_body,
     .grad = group_normalization_grad,
     .facts = kFloat32InMixed | kFloat32Kernels,
     .samples = group_samples},
    {.name = "MeanVarianceNormalization",
     .doc = "X less its mean over `axes`, divided by its standard deviation over them.",
     .since = 13,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<MeanVarianceNormalizationAttrs>(),
     .infer = infer_mean_variance,
     .reference = reference_mean_variance,
     .grad = mean_variance_normalization_grad,
     .facts = kFloat32InMixed,
     .samples = mean_variance_samples},
    {.name = "LRN",
     .doc = "Each element of X [N, C, ...] divided by (bias + alpha / size * sum of squares over "
            "`size` channels around) ^ beta.",
     .since = 13,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<LrnAttrs>(),
     .infer = infer_lrn,
     .reference = reference_lrn,
     .grad = lrn_grad,
     .samples = lrn_samples},
};

}  // namespace

std::span<const OpDef> normalization_ops() {
  return kNormalizationOps;
}

}  // namespace sardonyx::ops
