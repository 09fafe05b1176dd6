// DFT, STFT and MelWeightMatrix.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"
#include "ir/ops/signal/fft.h"
#include "ir/ops/signal/signal_gradient.h"

namespace sardonyx::ops {
namespace {

using Complex = FourierTransform::Complex;

struct DftAttrs {
  bool inverse = false;
  bool onesided = false;
  static auto fields() {
    return std::tuple{field("inverse", &DftAttrs::inverse), field("onesided", &DftAttrs::onesided)};
  }
};

struct StftAttrs {
  bool onesided = true;
  static auto fields() { return std::tuple{field("onesided", &StftAttrs::onesided)}; }
};

struct MelAttrs {
  DType output_datatype = DType::kFloat;
  static auto fields() { return std::tuple{field("output_datatype", &MelAttrs::output_datatype)}; }
};

// An integer input of one element: given as a dim; `otherwise` where omitted; fresh where unknown.
Dim scalar_dim(InferContext& c, size_t input, const Dim& otherwise) {
  if (!c.has(input)) return otherwise;
  require_single(c, input);
  const std::optional<Dims> elements = c.dims(input);
  return elements && elements->size() == 1 ? (*elements)[0] : c.unknown();
}

Dim positive_dim(InferContext& c, size_t input, const Dim& otherwise) {
  const Dim dim = scalar_dim(c, input, otherwise);
  if (dim.is_known() && dim.value() <= 0) {
    if (c.has(input)) c.fail_input(input, "expected a positive number, got ", dim);
    c.fail("the transform would have the length ", dim);
  }
  return dim;
}

// The last dim of a signal: 1 (real) or 2 (complex), as far as it is known.
void check_parts(InferContext& c, size_t input, const Dim& parts) {
  if (parts.is_known() && parts.value() != 1 && parts.value() != 2) {
    c.fail_input(input, "last dim: expected 1 (real) or 2 (complex), got ", parts);
  }
}

// Element `at` of a signal whose last dim is `parts`.
template <typename T>
Complex read_complex(const T* data, int64_t at, int64_t parts) {
  return {static_cast<double>(data[at * parts]),
          parts == 2 ? static_cast<double>(data[at * parts + 1]) : 0.0};
}

// ---- DFT

enum DftInput { kSignal, kDftLength, kDftAxis };

void infer_dft(InferContext& c) {
  const DftAttrs& attrs = c.attrs<DftAttrs>();
  const bool to_real = attrs.inverse && attrs.onesided;
  const Dims* shape = c.shape(kSignal);
  const Dim axis_dim = scalar_dim(c, kDftAxis, -2);
  if (!shape) return c.set(0, c.dtype(0), std::nullopt);
  if (shape->size() < 2) c.fail_input(kSignal, "expected rank 2 or more, got ", shape->size());
  check_parts(c, kSignal, shape->back());
  const Dim parts = to_real ? 1 : 2;
  if (attrs.onesided && shape->back() == (to_real ? 1 : 2)) {
    c.fail_input(kSignal, to_real ? "the inverse of a one-sided transform takes complex input"
                                  : "a one-sided transform takes real input");
  }
  if (!axis_dim.is_known()) {
    Dims unknown = unknown_dims(c, shape->size());
    unknown.back() = parts;
    return c.set(0, c.dtype(0), std::move(unknown));
  }
  const auto axis = static_cast<size_t>(c.normalized_axis(axis_dim.value(), shape->size()));
  c.require(axis + 1 < shape->size(), "axis ", axis, " is that of the real and imaginary parts");
  const Dim size = (*shape)[axis];
  const Dim length = positive_dim(c, kDftLength, to_real ? Dim(2) * (size - Dim(1)) : size);
  Dims out = *shape;
  out[axis] = attrs.onesided && !attrs.inverse ? floor_div(length, 2) + Dim(1) : length;
  out.back() = parts;
  c.set(0, c.dtype(0), std::move(out));
}

int64_t read_integer(const TensorView& view) {
  return view.dtype == DType::kInt32 ? *view.data<int32_t>() : *view.data<int64_t>();
}

void run_dft(const KernelCall& call) {
  const DftAttrs& attrs = call.attrs<DftAttrs>();
  const bool to_real = attrs.inverse && attrs.onesided;
  const TensorView& in = call.inputs[kSignal];
  const TensorView& out = call.outputs[0];
  const size_t axis =
      axis_of(call.has(kDftAxis) ? read_integer(call.inputs[kDftAxis]) : -2, in.rank());
  if (out.count() == 0) return;
  const AxisSplit from = split_at(in.shape.first(in.rank() - 1), axis);
  const AxisSplit to = split_at(out.shape.first(in.rank() - 1), axis);
  int64_t length = to.size;
  if (call.has(kDftLength))
    length = read_integer(call.inputs[kDftLength]);
  else if (!to_real)
    length = from.size;
  const auto held = FourierTransform::of(static_cast<size_t>(length));
  const FourierTransform& transform = *held;
  // A one-sided spectrum holds half of the values: the other side is the mirrored conjugate.
  const int64_t given = std::min(from.size, to_real ? length / 2 + 1 : length);
  const int64_t in_parts = in.shape.back(), out_parts = out.shape.back();
  const bool is_real = in_parts == 1 && !attrs.inverse;
  const ScratchMark mark;
  std::pmr::vector<Complex> line(static_cast<size_t>(length), scratch());
  std::pmr::vector<double> reals(is_real ? line.size() : 0, scratch());
  dispatch_floats(in.dtype, [&]<typename T>() {
    for (int64_t i = 0; i < to.outer * to.inner; ++i) {
      const int64_t outer = i / to.inner, inner = i % to.inner;
      const auto place = [&](int64_t n) { return (outer * from.size + n) * from.inner + inner; };
      for (int64_t n = 0; is_real && n < given; ++n)
        reals[static_cast<size_t>(n)] = static_cast<double>(in.data<T>()[place(n)]);
      if (!is_real) std::fill(line.begin(), line.end(), Complex{});
      for (int64_t n = 0; !is_real && n < given; ++n) {
        const Complex x = read_complex(in.data<T>(), place(n), in_parts);
        line[static_cast<size_t>(n)] = x;
        if (to_real && n > 0 && 2 * n < length)
          line[static_cast<size_t>(length - n)] = std::conj(x);
      }
      if (is_real)
        transform.forward_real(reals, line);
      else
        attrs.inverse ? transform.inverse(line) : transform.forward(line);
      for (int64_t n = 0; n < to.size; ++n) {
        const int64_t at = ((outer * to.size + n) * to.inner + inner) * out_parts;
        out.data<T>()[at] = narrowed<T>(line[static_cast<size_t>(n)].real());
        if (!to_real) out.data<T>()[at + 1] = narrowed<T>(line[static_cast<size_t>(n)].imag());
      }
    }
  });
}

// ---- STFT

enum StftInput { kStftSignal, kFrameStep, kWindow, kFrameLength };

void infer_stft(InferContext& c) {
  const bool onesided = c.attrs<StftAttrs>().onesided;
  c.require_rank(kStftSignal, 3);
  c.require_rank(kWindow, 1);
  const Dims signal = c.shape(kStftSignal) ? *c.shape(kStftSignal) : unknown_dims(c, 3);
  check_parts(c, kStftSignal, signal[2]);
  if (onesided && signal[2] == 2) {
    c.fail_input(kStftSignal, "a one-sided transform takes real input; set onesided = 0");
  }
  Dim window = signal[1];
  if (c.has(kWindow)) window = c.shape(kWindow) ? (*c.shape(kWindow))[0] : c.unknown();
  const Dim step = positive_dim(c, kFrameStep, 1), length = positive_dim(c, kFrameLength, window);
  if (c.has(kWindow)) c.merged(window, length, "frame_length and the length of window");
  if (length.is_known() && signal[1].is_known() && length.value() > signal[1].value()) {
    c.fail("frames of ", length, " samples do not fit a signal of ", signal[1]);
  }
  const Dim frames = floor_div(signal[1] - length, step) + Dim(1);
  const Dim bins = onesided ? floor_div(length, 2) + Dim(1) : length;
  c.set(0, c.dtype(0), Dims{signal[0], frames, bins, 2});
}

void run_stft(const KernelCall& call) {
  const TensorView& in = call.inputs[kStftSignal];
  const TensorView& out = call.outputs[0];
  if (out.count() == 0) return;
  const int64_t step = read_integer(call.inputs[kFrameStep]);
  const int64_t samples = in.shape[1], parts = in.shape[2];
  int64_t length = samples;
  if (call.has(kFrameLength))
    length = read_integer(call.inputs[kFrameLength]);
  else if (call.has(kWindow))
    length = call.inputs[kWindow].shape[0];
  const int64_t frames = out.shape[1], bins = out.shape[2];
  const auto held = FourierTransform::of(static_cast<size_t>(length));
  const FourierTransform& transform = *held;
  const bool is_real = parts == 1;
  const ScratchMark mark;
  std::pmr::vector<Complex> line(static_cast<size_t>(length), scratch());
  std::pmr::vector<double> reals(is_real ? line.size() : 0, scratch());
  dispatch_floats(in.dtype, [&]<typename T>() {
    const T* window = call.has(kWindow) ? call.inputs[kWindow].data<T>() : nullptr;
    T* to = out.data<T>();
    for (int64_t frame = 0; frame < in.shape[0] * frames; ++frame) {
      const int64_t start = frame / frames * samples + frame % frames * step;
      for (int64_t n = 0; n < length; ++n) {
        const double weight = window ? static_cast<double>(window[n]) : 1.0;
        const auto at = static_cast<size_t>(n);
        if (is_real)
          reals[at] = static_cast<double>(in.data<T>()[start + n]) * weight;
        else
          line[at] = read_complex(in.data<T>(), start + n, parts) * weight;
      }
      is_real ? transform.forward_real(reals, line) : transform.forward(line);
      for (int64_t k = 0; k < bins; ++k) {
        *to++ = narrowed<T>(line[static_cast<size_t>(k)].real());
        *to++ = narrowed<T>(line[static_cast<size_t>(k)].imag());
      }
    }
  });
}

// ---- MelWeightMatrix

enum MelInput { kMelBins, kMelDftLength, kSampleRate, kLowerEdge, kUpperEdge };

void infer_mel(InferContext& c) {
  const DType dtype = c.attrs<MelAttrs>().output_datatype;
  c.require(kNumbers.has(dtype), "attribute output_datatype: expected a type of numbers, got ",
            dtype);
  const Dim bins = scalar_dim(c, kMelBins, 0), length = scalar_dim(c, kMelDftLength, 0);
  for (const size_t input : {kSampleRate, kLowerEdge, kUpperEdge})
    require_single(c, input);
  for (const Dim& dim : {bins, length}) {
    c.require(!dim.is_known() || dim.value() >= 0,
              "num_mel_bins and dft_length: expected 0 or more, got ", dim);
  }
  c.set(0, dtype, Dims{floor_div(length, 2) + Dim(1), bins});
}

double read_real(const TensorView& view) {
  return dispatch_floats(view.dtype,
                         [&]<typename T>() { return static_cast<double>(*view.data<T>()); });
}

double mel_of(double hertz) {
  return 2595 * std::log10(1 + hertz / 700);
}

// The spectrogram bins at which the triangles of the filters start, peak and end: num_mel_bins + 2.
std::vector<int64_t> mel_edges(const KernelCall& call, int64_t bins, int64_t rows) {
  const int64_t length = read_integer(call.inputs[kMelDftLength]);
  const int64_t rate = read_integer(call.inputs[kSampleRate]);
  const double lower = read_real(call.inputs[kLowerEdge]);
  const double upper = read_real(call.inputs[kUpperEdge]);
  if (rate <= 0) {
    fail(ErrorCode::kInvalidArgument,
         "MelWeightMatrix: sample_rate: expected a positive number, got ", rate);
  }
  if (!(lower >= 0 && upper >= lower && std::isfinite(upper))) {
    fail(ErrorCode::kInvalidArgument,
         "MelWeightMatrix: expected 0 <= lower_edge_hertz <= "
         "upper_edge_hertz, got ",
         lower, " and ", upper);
  }
  const double step = (mel_of(upper) - mel_of(lower)) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double mel = mel_of(lower) + static_cast<double>(i) * step;
    const double hertz = 700 * (std::pow(10.0, mel / 2595) - 1);
    const double bin =
        std::floor((static_cast<double>(length) + 1) * hertz / static_cast<double>(rate));
    if (bin >= static_cast<double>(rows)) {
      fail(ErrorCode::kInvalidArgument, "MelWeightMatrix: filter ", i, " at ", hertz,
           " Hz lies beyond the spectrogram of ", rows, " bins at a sample_rate of ", rate);
    }
    edges.push_back(static_cast<int64_t>(bin));
  }
  return edges;
}

void run_mel(const KernelCall& call) {
  const TensorView& out = call.outputs[0];
  const int64_t rows = out.shape[0], bins = out.shape[1];
  const std::vector<int64_t> edges = mel_edges(call, bins, rows);
  dispatch_numbers(out.dtype, [&]<typename T>() {
    T* weights = out.data<T>();
    std::fill(weights, weights + out.count(), T{});
    for (int64_t i = 0; i < bins; ++i) {
      check_interrupted();
      const auto at = static_cast<size_t>(i);
      const int64_t start = edges[at], peak = edges[at + 1], end = edges[at + 2];
      const auto set = [&](int64_t row, double weight) {
        weights[row * bins + i] = from_real<T>(weight);
      };
      if (start == peak) set(peak, 1);
      for (int64_t row = start; row <= peak && start < peak; ++row) {
        set(row, static_cast<double>(row - start) / static_cast<double>(peak - start));
      }
      for (int64_t row = peak; row < end; ++row) {
        set(row, static_cast<double>(end - row) / static_cast<double>(end - peak));
      }
    }
  });
}

// ---- Rows

SampleInput int64_input(int64_t value) {
  return {.shape = {}, .value = Tensor::scalar(value)};
}

std::vector<Sample> dft_samples() {
  const SampleInput none{.omitted = true};
  return {
      {.inputs = {{.shape = {2, 6, 2}}}},
      {.inputs = {{.shape = {2, 10, 3, 1}}, none, int64_input(1)},
       .attrs = {{"onesided", int64_t{1}}}},
      {.inputs = {{.shape = {3, 6, 2}}, int64_input(9), int64_input(-2)},
       .attrs = {{"onesided", int64_t{1}}, {"inverse", int64_t{1}}}},
      {.inputs = {{.shape = {7, 37, 1}}, int64_input(5), int64_input(0)},
       .attrs = {{"inverse", int64_t{1}}}},
      {.inputs = {{.shape = {37, 2}}}},
  };
}

std::vector<Sample> stft_samples() {
  const SampleInput none{.omitted = true};
  return {
      {.inputs = {{.shape = {2, 32, 1}}, int64_input(4), {.shape = {12}, .low = 0, .high = 1}}},
      {.inputs = {{.shape = {1, 20, 2}}, int64_input(3), none, int64_input(7)},
       .attrs = {{"onesided", int64_t{0}}}},
  };
}

std::vector<Sample> mel_samples() {
  return {{.inputs = {int64_input(8),
                      int64_input(16),
                      int64_input(8192),
                      {.shape = {}, .low = 0, .high = 10},
                      {.shape = {}, .low = 3000, .high = 4000}}}};
}

}  // namespace

std::span<const OpDef> signal_ops() {
  constexpr DTypeSet kIndices{DType::kInt32, DType::kInt64};
  static const OpDef kOps[] = {
      {.name = "DFT",
       .doc = "The discrete Fourier transform along `axis`, which counts from 0; the last axis "
              "holds real parts alone (size 1) or real and imaginary parts (size 2).",
       .since = 20,
       .signature = "(input: T1, dft_length?: T2, axis?: int64) -> (output: T1)",
       .types = {{"T1", kFloats}, {"T2", kIndices}},
       .attrs = attr_schema<DftAttrs>(),
       .infer = infer_dft,
       .reference = run_dft,
       .grad = dft_grad,
       .facts = kFloat32InMixed,
       .shape_inputs = 1u << kDftLength | 1u << kDftAxis,
       .samples = dft_samples},
      {.name = "STFT",
       .doc = "The Fourier transform of windows of a signal [batch, length, 1 or 2], one each "
              "frame_step samples: [batch, frames, bins, 2].",
       .since = 17,
       .signature = "(signal: T1, frame_step: T2, window?: T1, frame_length?: T2) -> (output: T1)",
       .types = {{"T1", kFloats}, {"T2", kIndices}},
       .attrs = attr_schema<StftAttrs>(),
       .infer = infer_stft,
       .reference = run_stft,
       .grad = stft_grad,
       .facts = kFloat32InMixed,
       .shape_inputs = 1u << kFrameStep | 1u << kFrameLength,
       .samples = stft_samples},
      {.name = "MelWeightMatrix",
       .doc = "The weights [bins of the spectrum, num_mel_bins] that sum a spectrum up on the mel "
              "scale; frequencies in Hz.",
       .since = 17,
       .signature = "(num_mel_bins: T1, dft_length: T1, sample_rate: T1, lower_edge_hertz: T2, "
                    "upper_edge_hertz: T2) -> (output: T3)",
       .types = {{"T1", kIndices}, {"T2", kFloats}, {"T3", kNumbers}},
       .attrs = attr_schema<MelAttrs>(),
       .infer = infer_mel,
       .reference = run_mel,
       .shape_inputs = 1u << kMelBins | 1u << kMelDftLength,
       .samples = mel_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
