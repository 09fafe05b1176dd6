// Pools over windows and over whole channels.
#include "ir/ops/pooling/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/run_control.h"
#include "ir/ops/conv/conv_inference.h"
#include "ir/ops/conv/window_taps.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/pooling/pool_gradient.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {

namespace {

void require_pool_rank(const InferContext& c) {
  const auto rank = rank_of(c, 0);
  if (rank && *rank < 3)
    c.fail_input(0, "expected at least rank 3: batch, channels and spatial dims");
}

// A window in the padding alone would have no maximum and no mean. Lists of a wrong length are
// refused with the windows.
void require_windows_inside(const InferContext& c, const PoolAttrs& attrs) {
  const auto pads = given_ints(attrs.pads);
  const size_t rank = attrs.kernel_shape.size();
  if (pads.size() != 2 * rank) return;
  for (size_t i = 0; i < pads.size(); ++i) {
    const int64_t size = attrs.kernel_shape[i % rank];
    c.require(size < 1 || pads[i] < size, "pads: expected less than the kernel's size ", size,
              " on spatial axis ", i % rank, ", got ", pads[i]);
  }
}

// Y [N, C, out...] of X [N, C, spatial...].
void infer_pool(InferContext& c, const PoolAttrs& attrs) {
  require_pool_rank(c);
  c.require(!attrs.kernel_shape.empty(),
            "kernel_shape: expected a size for each spatial axis, got none");
  require_windows_inside(c, attrs);
  const size_t rank = attrs.kernel_shape.size();
  const Dims x = shape_of(c, 0).value_or(unknown_dims(c, rank + 2));
  const Dims out =
      window_dims(window_spec(c.op().name, attrs), spatial_dims(x), to_dims(attrs.kernel_shape));
  c.set(0, c.dtype(0), joined(x[0], x[1], out));
}

void infer_average_pool(InferContext& c) {
  infer_pool(c, c.attrs<AveragePoolAttrs>());
}

void infer_max_pool(InferContext& c) {
  const auto& attrs = c.attrs<MaxPoolAttrs>();
  c.require(attrs.storage_order == 0 || attrs.storage_order == 1,
            "storage_order: expected 0 (row-major) or 1 (column-major), got ", attrs.storage_order);
  infer_pool(c, attrs);
  c.set(1, DType::kInt64, c.outputs()[0].type.shape);
}

void require_norm(const InferContext& c, int64_t p) {
  c.require(p >= 1, "p: expected at least 1, got ", p);
}

void infer_lp_pool(InferContext& c) {
  require_norm(c, c.attrs<LpPoolAttrs>().p);
  infer_pool(c, c.attrs<LpPoolAttrs>());
}

void infer_global_pool(InferContext& c) {
  require_pool_rank(c);
  std::optional<Dims> shape = shape_of(c, 0);
  if (shape) std::fill(shape->begin() + 2, shape->end(), Dim(1));
  c.set(0, c.dtype(0), std::move(shape));
}

void infer_global_lp_pool(InferContext& c) {
  require_norm(c, c.attrs<GlobalLpPoolAttrs>().p);
  infer_global_pool(c);
}

// Calls store(output element, first element of the channel, taps, output position) for each window
// of each channel.
template <typename Store>
void for_each_window(const KernelCall& call, const Window& window, Store&& store) {
  const TensorView& x = call.inputs[0];
  const int64_t channels = x.shape[0] * x.shape[1];
  const int64_t in_size = element_count(window.in), out_size = element_count(window.out);
  std::vector<int64_t> position(window.rank(), 0);
  std::vector<Tap> taps;
  if (channels == 0) return;
  for (int64_t at = 0; at < out_size; ++at, next_position(position, window.out)) {
    check_interrupted();
    list_taps(window, position, taps);
    for (int64_t channel = 0; channel < channels; ++channel) {
      store(channel * out_size + at, channel * in_size, taps, position);
    }
  }
}

int64_t padded_taps(const Window& window, std::span<const int64_t> position) {
  int64_t count = 1;
  for (size_t axis = 0; axis < window.rank(); ++axis)
    count *= counted_taps(window, axis, position[axis], true);
  return count;
}

void average(const KernelCall& call, const Window& window, bool count_include_pad) {
  dispatch_floats(call.inputs[0].dtype, [&]<typename T>() {
    const T* x = call.inputs[0].data<T>();
    T* y = call.outputs[0].data<T>();
    for_each_window(call, window,
                    [&](int64_t output, int64_t begin, const std::vector<Tap>& taps,
                        std::span<const int64_t> position) {
                      double sum = 0;
                      for (const Tap& tap : taps)
                        sum += widened(x[begin + tap.element]);
                      const double count = count_include_pad
                                               ? static_cast<double>(padded_taps(window, position))
                                               : static_cast<double>(taps.size());
                      y[output] = narrowed<T>(sum / count);
                    });
  });
}

void reference_average_pool(const KernelCall& call) {
  const auto& attrs = call.attrs<AveragePoolAttrs>();
  average(call, pool_window(call.op.name, attrs, call.inputs[0].shape), attrs.count_include_pad);
}

void reference_global_average_pool(const KernelCall& call) {
  average(call, global_window(call.inputs[0].shape), false);
}

// `element` of a channel, counted in column-major order.
int64_t column_major(int64_t element, std::span<const int64_t> shape) {
  int64_t size = element_count(Shape(shape.begin(), shape.end())), result = 0;
  for (size_t axis = shape.size(); axis > 0; --axis) {
    size /= shape[axis - 1];
    result += element % shape[axis - 1] * size;
    element /= shape[axis - 1];
  }
  return result;
}

template <typename T>
T lowest_value() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::lowest();
  else
    return T(-std::numeric_limits<float>::infinity());
}

// NaN loses to every number. A window that is in the padding altogether gives the lowest value
// and index -1.
template <typename T>
void maximum(const KernelCall& call, const Window& window, bool is_column_major) {
  const T* x = call.inputs[0].data<T>();
  T* y = call.outputs[0].data<T>();
  int64_t* indices = call.wants(1) ? call.outputs[1].data<int64_t>() : nullptr;
  for_each_window(
      call, window,
      [&](int64_t output, int64_t begin, const std::vector<Tap>& taps, std::span<const int64_t>) {
        int64_t best = -1;
        for (const Tap& tap : taps) {
          const bool is_first = best < 0 || x[begin + best] != x[begin + best];
          if (is_first || x[begin + tap.element] > x[begin + best]) best = tap.element;
        }
        y[output] = best < 0 ? lowest_value<T>() : x[begin + best];
        if (!indices) return;
        const int64_t at = best >= 0 && is_column_major ? column_major(best, window.in) : best;
        indices[output] = best < 0 ? -1 : begin + at;
      });
}

void maximum_of(const KernelCall& call, const Window& window, bool is_column_major) {
  switch (call.inputs[0].dtype) {
    case DType::kInt8:
      return maximum<int8_t>(call, window, is_column_major);
    case DType::kUInt8:
      return maximum<uint8_t>(call, window, is_column_major);
    default:
      dispatch_floats(call.inputs[0].dtype,
                      [&]<typename T>() { maximum<T>(call, window, is_column_major); });
  }
}

void reference_max_pool(const KernelCall& call) {
  const auto& attrs = call.attrs<MaxPoolAttrs>();
  maximum_of(call, pool_window(call.op.name, attrs, call.inputs[0].shape),
             attrs.storage_order == 1);
}

void reference_global_max_pool(const KernelCall& call) {
  maximum_of(call, global_window(call.inputs[0].shape), false);
}

// (sum |x|^p)^(1/p)
void norm(const KernelCall& call, const Window& window, int64_t p) {
  const auto power = static_cast<double>(p);
  dispatch_floats(call.inputs[0].dtype, [&]<typename T>() {
    const T* x = call.inputs[0].data<T>();
    T* y = call.outputs[0].data<T>();
    for_each_window(
        call, window,
        [&](int64_t output, int64_t begin, const std::vector<Tap>& taps, std::span<const int64_t>) {
          double sum = 0;
          for (const Tap& tap : taps) {
            const double value = std::abs(widened(x[begin + tap.element]));
            sum += p == 1 ? value : p == 2 ? value * value : std::pow(value, power);
          }
          const double root = p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / power);
          y[output] = narrowed<T>(root);
        });
  });
}

void reference_lp_pool(const KernelCall& call) {
  const auto& attrs = call.attrs<LpPoolAttrs>();
  norm(call, pool_window(call.op.name, attrs, call.inputs[0].shape), attrs.p);
}

void reference_global_lp_pool(const KernelCall& call) {
  norm(call, global_window(call.inputs[0].shape), call.attrs<GlobalLpPoolAttrs>().p);
}

using Ints = std::vector<int64_t>;

std::vector<Sample> pool_samples() {
  return {{{{{2, 3, 9}}}, {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}}},
          {{{{1, 2, 5, 6}}},
           {{"kernel_shape", Ints{3, 2}},
            {"pads", Ints{1, 0, 1, 1}},
            {"strides", Ints{2, 2}},
            {"ceil_mode", int64_t{1}}}},
          {{{{1, 2, 7, 7}}},
           {{"kernel_shape", Ints{2, 3}},
            {"dilations", Ints{2, 2}},
            {"auto_pad", std::string("SAME_UPPER")}}},
          {{{{1, 1, 4, 3, 4}}}, {{"kernel_shape", Ints{2, 2, 2}}}},
          {{{{0, 2, 4, 4}}}, {{"kernel_shape", Ints{2, 2}}}},
          // Windows that begin in the input and end behind all of its padding.
          {{{{1, 3, 2, 1}}},
           {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}}},
          {{{{2, 3, 2}}},
           {{"kernel_shape", Ints{3}},
            {"dilations", Ints{2}},
            {"pads", Ints{1, 1}},
            {"strides", Ints{4}},
            {"ceil_mode", int64_t{1}}}}};
}

std::vector<Sample> average_pool_samples() {
  std::vector<Sample> samples = pool_samples();
  for (size_t i = pool_samples().size(); i > 0; --i) {
    Sample sample = samples[i - 1];
    sample.attrs["count_include_pad"] = int64_t{1};
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::vector<Sample> max_pool_samples() {
  std::vector<Sample> samples = pool_samples();
  Sample with_indices = samples[1];
  with_indices.outputs = 2;
  with_indices.attrs["storage_order"] = int64_t{1};
  samples.push_back(std::move(with_indices));
  return samples;
}

std::vector<Sample> lp_pool_samples() {
  std::vector<Sample> samples = pool_samples();
  samples[0].attrs["p"] = int64_t{1};
  samples[1].attrs["p"] = int64_t{3};
  return samples;
}

std::vector<Sample> global_samples() {
  return {{{{{2, 3, 4}}}}, {{{{1, 2, 3, 5}}}}, {{{{2, 1, 2, 3, 2}}}}, {{{{0, 2, 3, 3}}}}};
}

const OpDef kPoolOps[] = {
    {.name = "AveragePool",
     .doc = "The mean of each window of X [N, C, spatial...]; padding counts where "
            "count_include_pad says so.",
     .since = 22,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<AveragePoolAttrs>(),
     .infer = infer_average_pool,
     .reference = reference_average_pool,
     .grad = average_pool_grad,
     .facts = kBFloat16Between | kFloat32Kernels,
     .layout = LayoutRole::kImage,
     .samples = average_pool_samples},
    {.name = "MaxPool",
     .doc = "The largest element of each window of X [N, C, spatial...], and where it is in the "
            "whole tensor (int64).",
     .since = 22,
     .signature = "(X: T) -> (Y: T, Indices?: I)",
     .types = {{"T", kFloats | DType::kInt8 | DType::kUInt8}, {"I", DType::kInt64}},
     .attrs = attr_schema<MaxPoolAttrs>(),
     .infer = infer_max_pool,
     .reference = reference_max_pool,
     .grad = max_pool_grad,
     .facts = kBFloat16Between | kFloat32Kernels,
     .layout = LayoutRole::kImage,
     .samples = max_pool_samples},
    {.name = "LpPool",
     .doc = "The p-norm of each window of X [N, C, spatial...].",
     .since = 22,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<LpPoolAttrs>(),
     .infer = infer_lp_pool,
     .reference = reference_lp_pool,
     .grad = lp_pool_grad,
     .samples = lp_pool_samples},
    {.name = "GlobalAveragePool",
     .doc = "The mean over all spatial axes: [N, C, 1, ...].",
     .since = 22,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .infer = infer_global_pool,
     .reference = reference_global_average_pool,
     .grad = global_average_pool_grad,
     .facts = kBFloat16Between | kFloat32Kernels,
     .layout = LayoutRole::kImage,
     .samples = global_samples},
    {.name = "GlobalMaxPool",
     .doc = "The largest element over all spatial axes: [N, C, 1, ...].",
     .since = 22,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .infer = infer_global_pool,
     .reference = reference_global_max_pool,
     .grad = global_max_pool_grad,
     .facts = kBFloat16Between | kFloat32Kernels,
     .layout = LayoutRole::kImage,
     .samples = global_samples},
    {.name = "GlobalLpPool",
     .doc = "The p-norm over all spatial axes: [N, C, 1, ...].",
     .since = 22,
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<GlobalLpPoolAttrs>(),
     .infer = infer_global_lp_pool,
     .reference = reference_global_lp_pool,
     .grad = global_lp_pool_grad,
     .samples = global_samples},
};

}  // namespace

WindowSpec window_spec(std::string_view op, const PoolAttrs& attrs) {
  return {.op = op,
          .auto_pad = attrs.auto_pad,
          .strides = given_ints(attrs.strides),
          .dilations = given_ints(attrs.dilations),
          .pads = given_ints(attrs.pads),
          .ceil_mode = attrs.ceil_mode,
          .may_have_no_place = true};
}

Window pool_window(std::string_view op, const PoolAttrs& attrs, std::span<const int64_t> x) {
  return make_window(window_spec(op, attrs), spatial_shape(x), attrs.kernel_shape);
}

namespace {

bool may_be_empty(const Window& window, size_t axis) {
  constexpr int64_t kMaxScanned = int64_t{1} << 20;
  const int64_t in = window.in[axis], out = window.out[axis];
  const auto is_empty = [&](int64_t output) {
    const int64_t start = window.start(axis, output);
    return taps_inside(start, window.kernel[axis], window.dilations[axis], in).count() == 0;
  };
  // Only taps that are farther apart than the input is long can step over it.
  if (is_empty(0) || is_empty(out - 1)) return true;
  if (window.start(axis, 0) >= 0 || window.dilations[axis] <= in) return false;
  for (int64_t output = 1; output < out && window.start(axis, output) < 0; ++output) {
    if (output == kMaxScanned || is_empty(output)) return true;
  }
  return false;
}

}  // namespace

int64_t counted_taps(const Window& window, size_t axis, int64_t output, bool with_pads) {
  const int64_t start = with_pads ? output * window.strides[axis] : window.start(axis, output);
  const int64_t pads = with_pads ? window.pads_begin[axis] + window.pads_end[axis] : 0;
  return taps_inside(start, window.kernel[axis], window.dilations[axis], window.in[axis] + pads)
      .count();
}

Window global_window(std::span<const int64_t> shape) {
  Window window;
  window.in = window.kernel = spatial_shape(shape);
  const size_t rank = window.in.size();
  window.strides = window.dilations = window.out = Shape(rank, 1);
  window.pads_begin = window.pads_end = Shape(rank, 0);
  return window;
}

bool may_have_empty_window(const Window& window) {
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    if (window.out[axis] > 0 && may_be_empty(window, axis)) return true;
  }
  return false;
}

std::span<const OpDef> pool_ops() {
  return kPoolOps;
}

}  // namespace sardonyx::ops
