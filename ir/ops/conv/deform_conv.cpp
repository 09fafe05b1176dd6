// Relatives of the convolution: DeformConv (taps that are moved by data), Col2Im (the sum of
// overlapping blocks) and CausalConvWithState (a depthwise convolution over a stream).
#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <utility>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/conv_inference.h"
#include "ir/ops/conv/deform_conv_gradient.h"
#include "ir/ops/conv/window_taps.h"
#include "ir/ops/data_movement/image_gradient.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {

namespace {

// DeformConv

constexpr size_t kMaxAxes = 8;  // a sample reads 2^axes elements

// Checks one of the inputs that hold something for each tap: [N, `channels`, out...].
void require_tap_input(const InferContext& c, size_t input, const Dim& batch, const Dim& channels,
                       const Dims& out) {
  const Dims* shape = c.shape(input);
  if (!shape) return;
  c.require_rank(input, out.size() + 2);
  const Dims expected = joined(batch, channels, out);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Dim& dim = (*shape)[i];
    if (dim.is_known() && expected[i].is_known() && dim.value() != expected[i].value()) {
      c.fail_input(input, "expected shape ", to_text(expected));
    }
  }
}

void infer_deform_conv(InferContext& c) {
  const auto& attrs = c.attrs<DeformConvAttrs>();
  c.require(attrs.offset_group >= 1, "offset_group: expected at least 1, got ", attrs.offset_group);
  const auto shapes = conv_shapes(c, 0, 1, attrs.group, attrs.kernel_shape);
  if (!shapes) return c.set(0, c.dtype(0), std::nullopt);
  const Dim channels = c.merged(shapes->x[1], shapes->w[1] * Dim(attrs.group),
                                "channels of the input and the weight");
  require_divides(c, attrs.group, shapes->w[0], "group", "output channels");
  require_divides(c, attrs.offset_group, channels, "offset_group", "input channels");
  require_length(c, 3, shapes->w[0], "output channels");
  if (shapes->kernel.size() > kMaxAxes) {
    throw Error(ErrorCode::kUnsupported, text("DeformConv: ", shapes->kernel.size(),
                                              " spatial axes; at most ", kMaxAxes, " are handled"));
  }
  const Dims out =
      window_dims(window_spec(c.op().name, attrs), spatial_dims(shapes->x), shapes->kernel);
  const Dim taps = element_count(shapes->kernel) * Dim(attrs.offset_group);
  require_tap_input(c, 2, shapes->x[0], taps * Dim(static_cast<int64_t>(out.size())), out);
  require_tap_input(c, 4, shapes->x[0], taps, out);
  c.set(0, c.dtype(0), joined(shapes->x[0], shapes->w[0], out));
}

// A channel as a function of real coordinates: linear between its elements, zero outside.
template <typename T>
double sample_linear(const T* image, std::span<const int64_t> shape,
                     std::span<const double> point) {
  double sum = 0;
  for (uint64_t corner = 0; corner < uint64_t{1} << shape.size(); ++corner) {
    double weight = 1;
    int64_t element = 0;
    for (size_t axis = 0; axis < shape.size() && weight != 0; ++axis) {
      const double below = std::floor(point[axis]);
      const bool is_above = corner >> axis & 1;
      const double at = is_above ? below + 1 : below;
      const bool is_inside = at >= 0 && at < static_cast<double>(shape[axis]);
      weight *= !is_inside ? 0 : is_above ? point[axis] - below : below + 1 - point[axis];
      if (is_inside) element = element * shape[axis] + static_cast<int64_t>(at);
    }
    if (weight != 0) sum += weight * widened(image[element]);
  }
  return sum;
}

// The parts of one DeformConv call that are the same for all its outputs.
template <typename T>
struct DeformCall {
  const KernelCall& call;
  Window window;
  int64_t groups, offset_groups;
  int64_t channels;        // of the input
  int64_t group_channels;  // of the input, within a group
  int64_t in_size, out_size, taps;

  explicit DeformCall(const KernelCall& kernel_call) : call(kernel_call) {
    const auto& attrs = call.attrs<DeformConvAttrs>();
    const TensorView &x = call.inputs[0], &w = call.inputs[1];
    window = make_window(window_spec(call.op.name, attrs), spatial_shape(x.shape),
                         spatial_shape(w.shape));
    groups = attrs.group;
    offset_groups = attrs.offset_group;
    channels = x.shape[1];
    group_channels = w.shape[1];
    in_size = element_count(window.in);
    out_size = element_count(window.out);
    taps = element_count(window.kernel);
  }

  // Samples every input channel at every tap of output `at`: [channels, taps].
  void sample(int64_t image, int64_t at, std::span<const int64_t> position,
              std::vector<double>& samples) const {
    const T* x = call.inputs[0].data<T>();
    const T* offset = call.inputs[2].data<T>();
    const T* mask = call.has(4) ? call.inputs[4].data<T>() : nullptr;
    const size_t rank = window.rank();
    std::vector<int64_t> tap_position(rank, 0);
    std::vector<double> point(rank);
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int64_t offset_group = channel / (channels / offset_groups);
      for (int64_t tap = 0; tap < taps; ++tap, next_position(tap_position, window.kernel)) {
        const int64_t row = (image * offset_groups + offset_group) * taps + tap;
        for (size_t axis = 0; axis < rank; ++axis) {
          const auto moved = static_cast<int64_t>(rank) * row + static_cast<int64_t>(axis);
          point[axis] = static_cast<double>(window.start(axis, position[axis]) +
                                            tap_position[axis] * window.dilations[axis]) +
                        widened(offset[moved * out_size + at]);
        }
        const double value =
            sample_linear(x + (image * channels + channel) * in_size, window.in, point);
        samples[static_cast<size_t>(channel * taps + tap)] =
            mask ? value * widened(mask[row * out_size + at]) : value;
      }
    }
  }

  void run() const {
    const T* w = call.inputs[1].data<T>();
    const T* bias = call.has(3) ? call.inputs[3].data<T>() : nullptr;
    T* y = call.outputs[0].data<T>();
    const int64_t batch = call.inputs[0].shape[0], outputs = call.inputs[1].shape[0];
    const int64_t row = group_channels * taps;
    std::vector<double> samples(static_cast<size_t>(channels * taps));
    std::vector<int64_t> position(window.rank(), 0);
    for (int64_t at = 0; at < out_size; ++at, next_position(position, window.out)) {
      for (int64_t image = 0; image < batch; ++image) {
        check_interrupted();
        sample(image, at, position, samples);
        for (int64_t m = 0; m < outputs; ++m) {
          const double* group_samples = samples.data() + m / (outputs / groups) * row;
          double sum = bias ? widened(bias[m]) : 0;
          for (int64_t i = 0; i < row; ++i)
            sum += group_samples[i] * widened(w[m * row + i]);
          y[(image * outputs + m) * out_size + at] = narrowed<T>(sum);
        }
      }
    }
  }
};

void reference_deform_conv(const KernelCall& call) {
  if (call.outputs[0].count() == 0) return;
  dispatch_floats(call.inputs[0].dtype, [&]<typename T>() { DeformCall<T>(call).run(); });
}

// Col2Im

void infer_col2im(InferContext& c) {
  require_vector(c, 1);
  require_vector(c, 2);
  c.require_rank(0, 3);
  if (c.dtype(0) == DType::kString) c.fail_input(0, "strings can't be added up; expected numbers");
  const auto image = c.dims(1), block = c.dims(2);
  if (!image || !block) {
    const auto length = c.shape(1) ? (*c.shape(1))[0].try_value() : std::nullopt;
    if (!length || *length < 0 || *length > 64) return c.set(0, c.dtype(0), std::nullopt);
    return c.set(0, c.dtype(0), unknown_dims(c, static_cast<size_t>(*length) + 2));
  }
  for (const Dim& size : *image) {
    if (size.is_known() && size.value() < 0) {
      c.fail_input(1, "expected sizes that are not negative, got ", to_text(*image));
    }
  }
  for (const Dim& size : *block) {
    if (size.is_known() && size.value() < 1) {
      c.fail_input(2, "expected block_shape of at least 1 along each axis, got ", to_text(*block));
    }
  }
  const Dims blocks = window_dims(window_spec(c.op().name, c.attrs<Col2ImAttrs>()), *image, *block);
  Dim batch = c.unknown(), channels = c.unknown();
  if (const Dims* x = c.shape(0)) {
    batch = (*x)[0];
    const Dim taps = element_count(*block);
    require_divides(c, taps, (*x)[1], "block_shape's element count", "rows of the input");
    channels = exact_div((*x)[1], taps).value_or(floor_div((*x)[1], taps));
    c.merged((*x)[2], element_count(blocks), "columns of the input and blocks of the image");
  }
  c.set(0, c.dtype(0), joined(batch, channels, *image));
}

// The sums of what blocks lay on each pixel, narrowed by `store(value)`.
template <typename T, typename Sum, typename Store>
void sum_blocks(const KernelCall& call, Store&& store) {
  const TensorView &x = call.inputs[0], &y = call.outputs[0];
  const int64_t* block = call.inputs[2].data<int64_t>();
  const size_t rank = y.rank() - 2;
  Window window = make_window(window_spec(call.op.name, call.attrs<Col2ImAttrs>()),
                              spatial_shape(y.shape), Shape(block, block + rank));
  std::swap(window.in, window.out);  // a transposed convolution goes from blocks to the image
  const int64_t blocks = element_count(window.in), pixels = element_count(window.out);
  const int64_t taps_count = element_count(window.kernel);
  // The blocks' elements on each pixel, one pixel after the other: those of one channel.
  std::pmr::vector<int64_t> elements(scratch()), ends(scratch());
  std::vector<int64_t> position(rank, 0);
  std::vector<Tap> taps;
  for (int64_t at = 0; at < pixels; ++at, next_position(position, window.out)) {
    list_transposed_taps(window, position, taps);
    for (const Tap& tap : taps)
      elements.push_back(tap.kernel * blocks + tap.element);
    ends.push_back(static_cast<int64_t>(elements.size()));
  }
  const T* from = x.data<T>();
  T* to = y.data<T>();
  for (int64_t channel = 0; channel < y.shape[0] * y.shape[1]; ++channel) {
    check_interrupted();
    const int64_t* element = elements.data();
    for (const int64_t end : ends) {
      Sum sum{};
      for (; element < elements.data() + end; ++element)
        sum += static_cast<Sum>(from[*element]);
      *to++ = store(sum);
    }
    from += taps_count * blocks;
  }
}

void reference_col2im(const KernelCall& call) {
  const DType dtype = call.inputs[0].dtype;
  if (call.outputs[0].count() == 0) return;
  if (dtype == DType::kBool) {
    return sum_blocks<bool, int64_t>(call, [](int64_t sum) { return sum != 0; });
  }
  if (dtype == DType::kComplex64) {
    return sum_blocks<std::complex<float>, std::complex<double>>(
        call, [](const std::complex<double>& sum) { return std::complex<float>(sum); });
  }
  if (dtype == DType::kComplex128) {
    return sum_blocks<std::complex<double>, std::complex<double>>(
        call, [](const std::complex<double>& sum) { return sum; });
  }
  dispatch_numbers(dtype, [&]<typename T>() {
    sum_blocks<T, Accumulator<T>>(call, [](Accumulator<T> sum) { return narrowed<T>(sum); });
  });
}

// CausalConvWithState

void infer_causal_conv(InferContext& c) {
  const std::string& activation = c.attrs<CausalConvAttrs>().activation;
  c.require(activation == "none" || activation == "silu" || activation == "swish",
            "activation: expected none, silu or swish, got \"", activation, '"');
  for (const size_t input : {0, 1, 3})
    c.require_rank(input, 3);
  const Dims x = shape_of(c, 0).value_or(unknown_dims(c, 3));
  const Dims w = shape_of(c, 1).value_or(unknown_dims(c, 3));
  const Dim channels = c.merged(x[1], w[0], "channels of the input and the weight");
  c.merged(w[1], 1, "the weight's second dim, of a depthwise convolution, and 1");
  c.require(!w[2].is_known() || w[2].value() >= 1, "weight: expected at least one tap, got ", w[2]);
  require_length(c, 2, channels, "channels");
  const Dim state = w[2] - 1;
  if (const Dims* past = c.shape(3)) {
    c.merged((*past)[0], x[0], "batch of past_state and the input");
    c.merged((*past)[1], channels, "channels of past_state and the input");
    c.merged((*past)[2], state, "past_state's length and the weight's taps - 1");
  }
  c.set(0, c.dtype(0), Dims{x[0], channels, x[2]});
  c.set(1, c.dtype(0), Dims{x[0], channels, state});
}

// Convolves one channel's stream: the past, then the input.
template <typename T>
void causal_conv_row(const std::pmr::vector<T>& stream, const T* w, int64_t taps, double bias,
                     bool has_silu, T* y, int64_t length) {
  for (int64_t at = 0; at < length; ++at) {
    double sum = bias;
    for (int64_t k = 0; k < taps; ++k) {
      sum += widened(stream[static_cast<size_t>(at + k)]) * widened(w[k]);
    }
    // The activation sees the rounded sum, as when Conv and activation are two ops.
    y[at] = narrowed<T>(sum);
    if (has_silu) y[at] = narrowed<T>(widened(y[at]) / (1 + std::exp(-widened(y[at]))));
  }
}

void reference_causal_conv(const KernelCall& call) {
  const bool has_silu = call.attrs<CausalConvAttrs>().activation != "none";
  const TensorView& x = call.inputs[0];
  const int64_t channels = x.shape[1], length = x.shape[2], taps = call.inputs[1].shape[2];
  const int64_t state = taps - 1;
  dispatch_floats(x.dtype, [&]<typename T>() {
    std::pmr::vector<T> stream(static_cast<size_t>(state + length), scratch());
    for (int64_t row = 0; row < x.shape[0] * channels; ++row) {
      check_interrupted();
      const int64_t channel = row % channels;
      const auto split = stream.begin() + state;
      if (call.has(3))
        std::copy_n(call.inputs[3].data<T>() + row * state, state, stream.begin());
      else
        std::fill(stream.begin(), split, T(0.0f));
      std::copy_n(x.data<T>() + row * length, length, split);
      const double bias = call.has(2) ? widened(call.inputs[2].data<T>()[channel]) : 0;
      causal_conv_row(stream, call.inputs[1].data<T>() + channel * taps, taps, bias, has_silu,
                      call.outputs[0].data<T>() + row * length, length);
      if (call.wants(1)) {
        std::copy_n(stream.end() - state, state, call.outputs[1].data<T>() + row * state);
      }
    }
  });
}

using Ints = std::vector<int64_t>;

std::vector<Sample> deform_conv_samples() {
  const AttrMap grouped{{"group", int64_t{2}},
                        {"offset_group", int64_t{2}},
                        {"pads", Ints{1, 0, 1, 0}},
                        {"strides", Ints{2, 1}}};
  return {
      {{{{1, 1, 3, 3}}, {{1, 1, 2, 2}}, {{1, 8, 2, 2}}}},
      {{{{2, 4, 4, 4}}, {{2, 2, 2, 2}}, {{2, 16, 3, 3}, -0.9, 0.9}, {{2}}, {{2, 8, 3, 3}, 0, 1}},
       grouped},
      {{{{1, 2, 5}}, {{3, 2, 2}}, {{1, 2, 4}, -0.9, 0.9}}}};
}

std::vector<Sample> col2im_samples() {
  const auto sizes = [](const Ints& values) {
    SampleInput input;
    input.value = Tensor::vector(values);
    return input;
  };
  const DTypeSet addable = kNumbers | kComplexes | DType::kBool;
  return {{.inputs = {{{1, 5, 5}}, sizes({5, 5}), sizes({1, 5})}, .only = addable},
          {.inputs = {{{1, 8, 4}}, sizes({5, 5}), sizes({2, 2})},
           .attrs = {{"strides", Ints{2, 2}}},
           .only = addable},
          {.inputs = {{{2, 6, 5}}, sizes({5}), sizes({3})},
           .attrs = {{"pads", Ints{1, 1}}},
           .only = addable}};
}

std::vector<Sample> causal_conv_samples() {
  return {{.inputs = {{{2, 3, 4}}, {{3, 1, 3}}, {{3}}, {{2, 3, 2}}},
           .attrs = {{"activation", std::string("silu")}},
           .outputs = 2},
          {.inputs = {{{1, 2, 1}}, {{2, 1, 4}}}, .outputs = 2}};
}

const OpDef kIrregularConvolutionOps[] = {
    {.name = "DeformConv",
     .doc = "A convolution whose taps are moved by offsets [N, groups * taps * 2, out...] and "
            "scaled by a mask [N, groups * taps, out...]; other shapes as in Conv.",
     .since = 22,
     .signature = "(X: T, W: T, offset: T, B?: T, mask?: T) -> (Y: T)",
     .types = {{"T", kFloats}},
     .attrs = attr_schema<DeformConvAttrs>(),
     .infer = infer_deform_conv,
     .reference = reference_deform_conv,
     .grad = deform_conv_grad,
     .facts = kSmallInMixed,
     .samples = deform_conv_samples},
    {.name = "Col2Im",
     .doc = "Columns [N, C * block, blocks] added up into images [N, C, image_shape...], where "
            "blocks overlap.",
     .since = 18,
     .signature = "(input: T, image_shape: int64, block_shape: int64) -> (output: T)",
     .types = {{"T", kClassicTypes | DType::kBFloat16}},
     .attrs = attr_schema<Col2ImAttrs>(),
     .infer = infer_col2im,
     .reference = reference_col2im,
     .grad = col2im_grad,
     .shape_inputs = 0b110,
     .samples = col2im_samples},
    {.name = "CausalConvWithState",
     .doc = "A depthwise convolution [batch, channels, length] that sees the past alone; gives the "
            "last elements as the state of the next call.",
     .since = 27,
     .signature = "(input: T, weight: T, bias?: T, past_state?: T) -> "
                  "(output: T, present_state: T)",
     .types = {{"T", DTypeSet{DType::kFloat, DType::kFloat16, DType::kBFloat16}}},
     .attrs = attr_schema<CausalConvAttrs>(),
     .infer = infer_causal_conv,
     .reference = reference_causal_conv,
     .grad = causal_conv_grad,
     .samples = causal_conv_samples},
};

}  // namespace

std::span<const OpDef> irregular_convolution_ops() {
  return kIrregularConvolutionOps;
}

}  // namespace sardonyx::ops
