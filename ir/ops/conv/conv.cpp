// Convolutions over a regular grid of taps: Conv, ConvTranspose, ConvInteger, QLinearConv.
#include "ir/ops/conv/conv.h"

#include <algorithm>
#include <cmath>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/run_control.h"
#include "ir/ops/conv/conv_gradient.h"
#include "ir/ops/conv/conv_inference.h"
#include "ir/ops/conv/window_taps.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {

namespace {

// Y [N, M, out...] of X [N, C, ...], W [M, C/group, kernel...].
void infer_conv(InferContext& c, size_t x, size_t w, DType dtype) {
  const auto& attrs = c.attrs<ConvAttrs>();
  const auto shapes = conv_shapes(c, x, w, attrs.group, attrs.kernel_shape);
  if (!shapes) return c.set(0, dtype, std::nullopt);
  c.merged(shapes->x[1], shapes->w[1] * Dim(attrs.group), "channels of the input and the weight");
  require_divides(c, attrs.group, shapes->w[0], "group", "output channels");
  const Dims out =
      window_dims(window_spec(c.op().name, attrs), spatial_dims(shapes->x), shapes->kernel);
  c.set(0, dtype, joined(shapes->x[0], shapes->w[0], out));
}

// The weight's number of output channels, where it is known.
Dim output_channels(InferContext& c, size_t w) {
  const Dims* shape = c.shape(w);
  return shape ? (*shape)[0] : c.unknown();
}

void infer_conv_float(InferContext& c) {
  infer_conv(c, 0, 1, c.dtype(0));
  require_length(c, 2, output_channels(c, 1), "output channels");
}

void infer_conv_integer(InferContext& c) {
  infer_conv(c, 0, 1, DType::kInt32);
  if (c.has(2)) require_single(c, 2);
  require_length(c, 3, output_channels(c, 1), "output channels", true);
}

void infer_qlinear_conv(InferContext& c) {
  infer_conv(c, 0, 3, c.dtype(7));
  for (const size_t input : {1, 2, 6, 7})
    require_single(c, input);
  const Dim channels = output_channels(c, 3);
  for (const size_t input : {4, 5})
    require_length(c, input, channels, "output channels", true);
  require_length(c, 8, channels, "output channels");
}

void infer_conv_transpose(InferContext& c) {
  const auto& attrs = c.attrs<ConvTransposeAttrs>();
  const auto shapes = conv_shapes(c, 0, 1, attrs.group, attrs.kernel_shape);
  if (!shapes) return c.set(0, c.dtype(0), std::nullopt);
  const Dim in_channels =
      c.merged(shapes->x[1], shapes->w[0], "channels of the input and the weight");
  require_divides(c, attrs.group, in_channels, "group", "input channels");
  const Dim out_channels = shapes->w[1] * Dim(attrs.group);
  require_length(c, 2, out_channels, "output channels");
  const Dims out = transposed_window_dims(window_spec(c.op().name, attrs), spatial_dims(shapes->x),
                                          shapes->kernel);
  c.set(0, c.dtype(0), joined(shapes->x[0], out_channels, out));
}

// How the sums of a convolution are in memory. Channels are counted within a group.
struct SumPlan {
  int64_t batch, groups, in_channels, out_channels;
  int64_t in_size, out_size;  // elements of one channel
  // Elements of the weight from one group, output channel and input channel to the next.
  int64_t weight_group_step, weight_out_step, weight_in_step;
};

// Weights are [out, in / groups, kernel], or of a transposed convolution [in, out / groups,
// kernel].
SumPlan make_plan(const Window& window, const TensorView& x, const TensorView& w, int64_t groups,
                  bool transposed) {
  const int64_t kernel = element_count(window.kernel);
  const int64_t outer = w.shape[0] / groups, inner = w.shape[1];
  const int64_t in_channels = transposed ? outer : inner;
  const int64_t out_channels = transposed ? inner : outer;
  return {x.shape[0],
          groups,
          in_channels,
          out_channels,
          element_count(window.in),
          element_count(window.out),
          out_channels * in_channels * kernel,
          transposed ? kernel : in_channels * kernel,
          transposed ? out_channels * kernel : kernel};
}

using ListTaps = void (*)(const Window&, std::span<const int64_t>, std::vector<Tap>&);

// The elements that one output's window reads of its group's channels, and its weights, counted
// from the first weight of an output channel.
template <typename Sum>
struct Patch {
  std::vector<Sum> values;
  std::vector<int64_t> weights;
};

// Four sums adjacent, since each addition waits for the one before it.
template <typename Sum, typename Weight>
Sum dot(const Patch<Sum>& patch, Weight&& weight) {
  const size_t count = patch.values.size();
  Sum sums[4] = {};
  for (size_t i = 0; i + 4 <= count; i += 4) {
    for (size_t k = 0; k < 4; ++k)
      sums[k] += patch.values[i + k] * weight(patch.weights[i + k]);
  }
  for (size_t i = count / 4 * 4; i < count; ++i) {
    sums[0] += patch.values[i] * weight(patch.weights[i]);
  }
  return sums[0] + sums[1] + (sums[2] + sums[3]);
}

// Calls store(index in y, output channel, sum) with the sum of value(index in x) * weight(index in
// w, output channel) over the taps and input channels of every output.
template <typename Sum, typename Value, typename Weight, typename Store>
void sum_windows(const SumPlan& plan, const Window& window, ListTaps list, Value&& value,
                 Weight&& weight, Store&& store) {
  std::vector<int64_t> position(window.rank(), 0);
  std::vector<Tap> taps;
  Patch<Sum> patch;
  const auto read_patch = [&](int64_t x_begin) {
    patch.values.clear();
    patch.weights.clear();
    for (int64_t c = 0; c < plan.in_channels; ++c) {
      for (const Tap& tap : taps) {
        patch.values.push_back(value(x_begin + c * plan.in_size + tap.element));
        patch.weights.push_back(c * plan.weight_in_step + tap.kernel);
      }
    }
  };
  for (int64_t at = 0; at < plan.out_size; ++at, next_position(position, window.out)) {
    list(window, position, taps);
    for (int64_t block = 0; block < plan.batch * plan.groups; ++block) {
      const int64_t group = block % plan.groups;
      read_patch(block * plan.in_channels * plan.in_size);
      for (int64_t m = 0; m < plan.out_channels; ++m) {
        check_interrupted();
        const int64_t channel = group * plan.out_channels + m;
        const int64_t w_begin = group * plan.weight_group_step + m * plan.weight_out_step;
        store((block * plan.out_channels + m) * plan.out_size + at, channel,
              dot(patch, [&](int64_t offset) { return weight(w_begin + offset, channel); }));
      }
    }
  }
}

void convolve_floats(const KernelCall& call, const SumPlan& plan, const Window& window,
                     ListTaps list) {
  dispatch_floats(call.inputs[0].dtype, [&]<typename T>() {
    const T* x = call.inputs[0].data<T>();
    const T* w = call.inputs[1].data<T>();
    const T* bias = call.has(2) ? call.inputs[2].data<T>() : nullptr;
    T* y = call.outputs[0].data<T>();
    sum_windows<double>(
        plan, window, list, [=](int64_t i) { return widened(x[i]); },
        [=](int64_t i, int64_t) { return widened(w[i]); },
        [=](int64_t i, int64_t channel, double sum) {
          y[i] = narrowed<T>(bias ? sum + widened(bias[channel]) : sum);
        });
  });
}

void reference_conv(const KernelCall& call) {
  const auto& attrs = call.attrs<ConvAttrs>();
  const TensorView &x = call.inputs[0], &w = call.inputs[1];
  const Window window = conv_window(call.op.name, attrs, x.shape, w.shape);
  convolve_floats(call, make_plan(window, x, w, attrs.group, false), window, list_taps);
}

void reference_conv_transpose(const KernelCall& call) {
  const auto& attrs = call.attrs<ConvTransposeAttrs>();
  const TensorView &x = call.inputs[0], &w = call.inputs[1];
  const Window window = conv_transpose_window(call.op.name, attrs, x.shape, w.shape);
  convolve_floats(call, make_plan(window, x, w, attrs.group, true), window, list_transposed_taps);
}

// An 8-bit tensor as int32, element by element: so one loop serves all pairs of signs.
class Bytes {
 public:
  explicit Bytes(const TensorView& view)
      : data_(view.data<uint8_t>()), is_signed_(view.dtype == DType::kInt8) {}
  int32_t operator[](int64_t i) const {
    return is_signed_ ? static_cast<int8_t>(data_[i]) : static_cast<int32_t>(data_[i]);
  }

 private:
  const uint8_t* data_;
  bool is_signed_;
};

// A zero point or scale of the weight: one for all output channels or one for each.
std::vector<int32_t> zero_points(const TensorView& view, int64_t channels) {
  std::vector<int32_t> result(static_cast<size_t>(channels), 0);
  if (!view) return result;
  const Bytes values(view);
  for (int64_t i = 0; i < channels; ++i)
    result[static_cast<size_t>(i)] = values[view.count() == 1 ? 0 : i];
  return result;
}

// Sums of (x - x_zero) * (w - w_zero), exact in int64.
template <typename Store>
void convolve_integers(const KernelCall& call, size_t x_input, size_t w_input, size_t x_zero_input,
                       size_t w_zero_input, Store&& store) {
  const auto& attrs = call.attrs<ConvAttrs>();
  const TensorView &x_view = call.inputs[x_input], &w_view = call.inputs[w_input];
  const Window window = conv_window(call.op.name, attrs, x_view.shape, w_view.shape);
  const Bytes x(x_view), w(w_view);
  const int32_t x_zero = call.has(x_zero_input) ? Bytes(call.inputs[x_zero_input])[0] : 0;
  const std::vector<int32_t> w_zeros = zero_points(
      call.has(w_zero_input) ? call.inputs[w_zero_input] : TensorView{}, w_view.shape[0]);
  sum_windows<int64_t>(
      make_plan(window, x_view, w_view, attrs.group, false), window, list_taps,
      [&](int64_t i) { return static_cast<int64_t>(x[i] - x_zero); },
      [&](int64_t i, int64_t channel) {
        return static_cast<int64_t>(w[i] - w_zeros[static_cast<size_t>(channel)]);
      },
      store);
}

void reference_conv_integer(const KernelCall& call) {
  int32_t* y = call.outputs[0].data<int32_t>();
  convolve_integers(call, 0, 1, 2, 3,
                    [=](int64_t i, int64_t, int64_t sum) { y[i] = static_cast<int32_t>(sum); });
}

// The sum is scaled in float, as integer hardware libraries do: a rounding at a tie then falls the
// same way.
template <typename T>
void requantized_conv(const KernelCall& call) {
  const TensorView& w_scale = call.inputs[4];
  const float* w_scales = w_scale.data<float>();
  const bool per_channel = w_scale.count() != 1;
  const float x_scale = *call.inputs[1].data<float>(), y_scale = *call.inputs[6].data<float>();
  const auto y_zero = static_cast<float>(*call.inputs[7].data<T>());
  const int32_t* bias = call.has(8) ? call.inputs[8].data<int32_t>() : nullptr;
  T* y = call.outputs[0].data<T>();
  convolve_integers(call, 0, 3, 2, 5, [=](int64_t i, int64_t channel, int64_t sum) {
    const auto total = static_cast<int32_t>(bias ? sum + bias[channel] : sum);
    const float scale = x_scale * w_scales[per_channel ? channel : 0] / y_scale;
    y[i] = from_real<T>(std::nearbyint(static_cast<float>(total) * scale) + y_zero);
  });
}

void reference_qlinear_conv(const KernelCall& call) {
  if (call.outputs[0].dtype == DType::kInt8) return requantized_conv<int8_t>(call);
  requantized_conv<uint8_t>(call);
}

using Ints = std::vector<int64_t>;

std::vector<Sample> conv_samples() {
  const AttrMap grouped{{"group", int64_t{2}},
                        {"strides", Ints{2, 1}},
                        {"dilations", Ints{1, 2}},
                        {"pads", Ints{1, 2, 0, 1}}};
  return {{{{{2, 3, 8}}, {{4, 3, 3}}, {{4}}}, {{"pads", Ints{1, 1}}}},
          {{{{2, 4, 6, 5}}, {{6, 2, 3, 2}}, {{6}}}, grouped},
          {{{{1, 2, 5, 5}}, {{3, 2, 3, 3}}}, {{"auto_pad", std::string("SAME_LOWER")}}},
          {{{{1, 2, 4, 3, 4}}, {{2, 2, 2, 2, 2}}}, {{"strides", Ints{1, 1, 2}}}},
          {{{{0, 2, 5, 5}}, {{3, 2, 3, 3}}}}};
}

std::vector<Sample> conv_transpose_samples() {
  const AttrMap grouped{{"group", int64_t{2}},
                        {"strides", Ints{2, 3}},
                        {"pads", Ints{1, 0, 0, 1}},
                        {"output_padding", Ints{1, 2}}};
  return {
      {{{{1, 2, 5}}, {{2, 3, 3}}, {{3}}}, {{"dilations", Ints{2}}}},
      {{{{2, 4, 3, 4}}, {{4, 3, 3, 2}}, {{6}}}, grouped},
      {{{{1, 1, 3, 3}}, {{1, 2, 3, 3}}}, {{"strides", Ints{3, 2}}, {"output_shape", Ints{10, 8}}}},
      {{{{1, 2, 3, 3}}, {{2, 2, 3, 3}}},
       {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2, 2}}}},
      {{{{1, 2, 2, 3, 2}}, {{2, 1, 2, 2, 2}}}}};
}

std::vector<Sample> conv_integer_samples() {
  return {{{{{1, 2, 5, 5}, 0, 100}, {{3, 2, 3, 3}, 0, 100}, {{}, 0, 9}, {{3}, 0, 9}},
           {{"pads", Ints{1, 1, 1, 1}}}},
          {{{{2, 3, 7}, 0, 100}, {{2, 3, 2}, 0, 100}}}};
}

std::vector<Sample> qlinear_conv_samples() {
  return {{{{{1, 2, 5, 5}, 0, 100},
            {{}, 0.1, 0.2},
            {{}, 0, 9},
            {{3, 2, 3, 3}, 0, 100},
            {{3}, 0.01, 0.02},
            {{3}, 0, 9},
            {{}, 2, 3},
            {{}, 0, 9},
            {{3}, -50, 50}},
           {{"pads", Ints{1, 1, 1, 1}}}}};
}

constexpr DTypeSet kByteTypes{DType::kInt8, DType::kUInt8};

const OpDef kConvolutionOps[] = {
    {.name = "Conv",
     .doc = "The convolution of X [N, C, spatial...] with weights [M, C / group, kernel...] and a "
            "bias [M]: [N, M, spatial...].",
     .since = 22,
     .signature = "(X: T, W: T, B?: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<ConvAttrs>(),
     .infer = infer_conv_float,
     .reference = reference_conv,
     .grad = conv_grad,
     .facts = kSmallInMixed | kProduct | kFloat32Kernels,
     .weight_inputs = 1u << 1,
     .layout = LayoutRole::kConv,
     .samples = conv_samples},
    {.name = "ConvTranspose",
     .doc = "The transposed convolution, a convolution's gradient, of X [N, C, spatial...] with "
            "weights [C, M / group, kernel...] and a bias [M]: [N, M, spatial...].",
     .since = 22,
     .signature = "(X: T, W: T, B?: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<ConvTransposeAttrs>(),
     .infer = infer_conv_transpose,
     .reference = reference_conv_transpose,
     .grad = conv_transpose_grad,
     .facts = kSmallInMixed | kProduct | kFloat32Kernels,
     .weight_inputs = 1u << 1,
     .layout = LayoutRole::kConv,
     .samples = conv_transpose_samples},
    {.name = "ConvInteger",
     .doc = "The convolution of 8-bit integers less their zero points, summed up in int32; shapes "
            "as in Conv.",
     .since = 10,
     .signature = "(x: T1, w: T2, x_zero_point?: T1, w_zero_point?: T2) -> (y: T3)",
     .types = {{"T1", kByteTypes}, {"T2", kByteTypes}, {"T3", DType::kInt32}},
     .attrs = attr_schema<ConvAttrs>(),
     .infer = infer_conv_integer,
     .reference = reference_conv_integer,
     .weight_inputs = 1u << 1,
     .layout = LayoutRole::kConv,
     .samples = conv_integer_samples},
    {.name = "QLinearConv",
     .doc = "The convolution of quantised values, quantised again; weights may have a scale for "
            "each of the M channels, shapes are as in Conv.",
     .since = 10,
     .signature = "(x: T1, x_scale: float, x_zero_point: T1, w: T2, w_scale: float, "
                  "w_zero_point: T2, y_scale: float, y_zero_point: T3, B?: T4) -> (y: T3)",
     .types = {{"T1", kByteTypes}, {"T2", kByteTypes}, {"T3", kByteTypes}, {"T4", DType::kInt32}},
     .attrs = attr_schema<ConvAttrs>(),
     .infer = infer_qlinear_conv,
     .reference = reference_qlinear_conv,
     .weight_inputs = 1u << 3,
     .layout = LayoutRole::kConv,
     .samples = qlinear_conv_samples},
};

}  // namespace

WindowSpec window_spec(std::string_view op, const ConvAttrs& attrs) {
  return {.op = op,
          .auto_pad = attrs.auto_pad,
          .strides = given_ints(attrs.strides),
          .dilations = given_ints(attrs.dilations),
          .pads = given_ints(attrs.pads)};
}

WindowSpec window_spec(std::string_view op, const ConvTransposeAttrs& attrs) {
  return {.op = op,
          .auto_pad = attrs.auto_pad,
          .strides = given_ints(attrs.strides),
          .dilations = given_ints(attrs.dilations),
          .pads = given_ints(attrs.pads),
          .output_padding = given_ints(attrs.output_padding),
          .output_shape = given_ints(attrs.output_shape)};
}

WindowSpec window_spec(std::string_view op, const Col2ImAttrs& attrs) {
  return {.op = op,
          .strides = given_ints(attrs.strides),
          .dilations = given_ints(attrs.dilations),
          .pads = given_ints(attrs.pads)};
}

WindowSpec window_spec(std::string_view op, const DeformConvAttrs& attrs) {
  return {.op = op,
          .strides = given_ints(attrs.strides),
          .dilations = given_ints(attrs.dilations),
          .pads = given_ints(attrs.pads)};
}

Window conv_window(std::string_view op, const ConvAttrs& attrs, std::span<const int64_t> x,
                   std::span<const int64_t> w) {
  return make_window(window_spec(op, attrs), spatial_shape(x), spatial_shape(w));
}

Window conv_transpose_window(std::string_view op, const ConvTransposeAttrs& attrs,
                             std::span<const int64_t> x, std::span<const int64_t> w) {
  return make_transposed_window(window_spec(op, attrs), spatial_shape(x), spatial_shape(w));
}

std::span<const OpDef> convolution_ops() {
  return kConvolutionOps;
}

}  // namespace sardonyx::ops
