// ConvTranspose and FusedConvTranspose in float32 on planes of pixels (NCHW), for windows that
// neither overlap nor leave gaps and an image that is row-major where it comes from and where it is
// read: the weights times a matrix of pixels gives a plane for each tap, and these are interleaved.
// Pixels are packed a few panels at a time. Without groups, elements are the bits that
// conv_transpose gives.
#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/conv.h"
#include "providers/cpu/conv/conv_transpose_params.h"
#include "providers/cpu/conv/interleave_rows.h"
#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/gemm/pack_transposed.h"
#include "providers/cpu/image_layout.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

// Work below this many multiplications is not worth a second thread.
constexpr int64_t kTransposedPlaneProducts = 1 << 17;
// The packed pixels of a tile, and the products that wait to be interleaved, in floats: both stay
// in the L2 cache.
constexpr int64_t kTransposedAtOnce = int64_t{1} << 15;
// The fewest pixels of a plane; fewer leave vectors partly empty.
constexpr int64_t kFewestTransposedPixels = 2 * kGemmF32Unit;

struct TransposedPlanes {
  int64_t images, groups, inputs, outputs;  // channels of a group
  int64_t rows, columns;                    // of the input
  int64_t kernel[2];                        // of the window, and its strides
  Epilogue finish;

  int64_t pixels() const { return rows * columns; }
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t units() const { return ceil_div(pixels(), kGemmF32Unit); }
  // The pixels that are packed at a time, a multiple of kGemmF32Unit.
  int64_t pixels_at_once() const {
    const int64_t most = std::max<int64_t>(kTransposedAtOnce / inputs / kGemmF32Unit, 1);
    return std::min(most, units()) * kGemmF32Unit;
  }
  // The channels of the output whose products are interleaved at a time.
  int64_t outputs_at_once() const {
    return std::clamp<int64_t>(kTransposedAtOnce / (taps() * pixels_at_once()), 1, outputs);
  }
};

class TransposedPlanesKernel : public Kernel {
 public:
  TransposedPlanesKernel(const TransposedPlanes& form, std::shared_ptr<const Buffer> weights,
                         std::shared_ptr<const Buffer> bias, int threads)
      : f_(form), weights_(std::move(weights)), bias_(std::move(bias)) {
    const int64_t products = planes() * f_.pixels() * f_.inputs * f_.outputs * f_.taps();
    const int64_t most = std::max<int64_t>(products / kTransposedPlaneProducts, 1);
    threads_ = static_cast<int>(std::min({int64_t{threads}, most, planes() * f_.units()}));
    packed_ = rounded_up(packed_gemm_f32_size(f_.inputs, f_.pixels_at_once()), kGemmF32Unit);
    scratch_ = packed_ + f_.outputs_at_once() * f_.taps() * f_.pixels_at_once();
  }

  void run(const KernelArgs& args) const override {
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      float* packed = reinterpret_cast<float*>(args.scratch) + part * scratch_;
      const int64_t units = planes() * f_.units();
      run_units(args, units * part / parts, units * (part + 1) / parts, packed, sign);
    });
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * scratch_) * sizeof(float);
  }

 private:
  int64_t planes() const { return f_.images * f_.groups; }

  // Computes units [begin, end) of input pixels, counted over the groups of all images.
  void run_units(const KernelArgs& args, int64_t begin, int64_t end, float* packed,
                 const CancelFlag& sign) const {
    while (begin < end) {
      const int64_t plane = begin / f_.units(), unit = begin - plane * f_.units();
      const int64_t units =
          std::min({f_.units() - unit, end - begin, f_.pixels_at_once() / kGemmF32Unit});
      const int64_t first = unit * kGemmF32Unit;
      const int64_t count = std::min(units * kGemmF32Unit, f_.pixels() - first);
      const float* in =
          static_cast<const float*>(args.inputs[0]) + plane * f_.inputs * f_.pixels() + first;
      pack_gemm_f32(in, 1, f_.pixels(), f_.inputs, count, packed);
      for (int64_t output = 0; output < f_.outputs; output += f_.outputs_at_once()) {
        if (sign.ask()) return;
        const int64_t outputs = std::min(f_.outputs_at_once(), f_.outputs - output);
        multiply(plane % f_.groups * f_.outputs + output, outputs, count, packed);
        float* out = static_cast<float*>(args.outputs[0]) +
                     (plane * f_.outputs + output) * f_.pixels() * f_.taps();
        interleave(packed + packed_, outputs, first, count, out);
      }
      begin += units;
    }
  }

  // The products of `count` packed pixels with all taps of some channels.
  void multiply(int64_t channel, int64_t outputs, int64_t count, float* packed) const {
    GemmF32Args product{};
    product.in = reinterpret_cast<const float*>(weights_->data()) + channel * f_.taps() * f_.inputs;
    product.weights = packed;
    product.row_bias = reinterpret_cast<const float*>(bias_->data()) + channel * f_.taps();
    product.out = packed + packed_;
    product.in_step = f_.inputs;
    product.out_step = count;
    product.inputs = f_.inputs;
    product.outputs = count;
    product.low = f_.finish.low;
    product.high = f_.finish.high;
    run_gemm_f32(product, 0, outputs * f_.taps(), 0, count);
    if (!f_.finish.function) return;
    const auto& [op, params] = *f_.finish.function;
    unary_row(op, params, product.out, product.out,
              static_cast<size_t>(outputs * f_.taps() * count));
  }

  // Writes the products of pixels [first, first + count) to where their windows are.
  void interleave(const float* products, int64_t outputs, int64_t first, int64_t count,
                  float* out) const {
    const int64_t out_width = f_.columns * f_.kernel[1];
    for (int64_t tap_row = 0; tap_row < outputs * f_.kernel[0]; ++tap_row) {
      const int64_t output = tap_row / f_.kernel[0], tap = tap_row % f_.kernel[0];
      const float* from = products + tap_row * f_.kernel[1] * count;
      for (int64_t pixel = first; pixel < first + count;) {
        const int64_t row = pixel / f_.columns, column = pixel - row * f_.columns;
        const int64_t length = std::min(f_.columns - column, first + count - pixel);
        const int64_t out_row = (output * f_.rows + row) * f_.kernel[0] + tap;
        interleave_rows(from, count, f_.kernel[1], length,
                        out + out_row * out_width + column * f_.kernel[1]);
        from += length;
        pixel += length;
      }
    }
  }

  TransposedPlanes f_;
  std::shared_ptr<const Buffer> weights_;  // [channels of the output, taps, inputs]
  std::shared_ptr<const Buffer> bias_;     // [channels of the output, taps]
  int64_t packed_, scratch_;               // floats of a thread: the packed pixels, all
  int threads_ = 1;
};

std::shared_ptr<const Buffer> weights_of_planes(const KernelRequest& request,
                                                const TransposedPlanes& form) {
  const int64_t outputs = form.outputs * form.taps(), size = form.inputs * outputs;
  const std::string name = text("transposed planes ", form.groups);
  return packed_floats_once(request, 1, name, form.groups * size, [&](float* to) {
    const LooseFloat* from = peek_floats(*request.inputs[1].constant);
    for (int64_t group = 0; group < form.groups; ++group) {
      pack_transposed(from + group * size, outputs, form.inputs, outputs, to + group * size,
                      form.inputs);
    }
  });
}

std::shared_ptr<const Buffer> bias_of_planes(const KernelRequest& request,
                                             const TransposedPlanes& form) {
  const int64_t channels = form.groups * form.outputs, taps = form.taps();
  const std::string name = text("bias of ", taps, " taps");
  return packed_floats_once(request, 2, name, channels * taps, [&](float* to) {
    const bool is_given = request.has(2);
    for (int64_t channel = 0; channel < channels; ++channel) {
      const size_t at = static_cast<size_t>(channel);
      std::fill_n(to + channel * taps, taps,
                  is_given ? request.inputs[2].constant->values<float>()[at] : 0.0f);
    }
  });
}

const char* why_unsupported_planes(const KernelRequest& request) {
  const KernelTensor& x = request.inputs[0];
  if (!request.layouts) return "layouts are not free";
  if (x.layout || request.layout_readers)
    return "the image is in another layout, or readers may want it to be";
  if (x.dtype != DType::kFloat || x.shape.size() < 3 || x.shape.size() > 4)
    return "only rows and images of float are computed here";
  if (!request.inputs[1].constant || (request.has(2) && !request.inputs[2].constant))
    return "the weights are not known ahead";
  return nullptr;
}

Prepared prepare_transposed_planes(const KernelRequest& request) {
  if (const char* why = why_unsupported_planes(request)) return Prepared::refuse(why);
  const auto [attrs, activation] = transposed_call(request);
  const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape;
  const auto finish = make_epilogue(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  const ops::Window window = ops::conv_transpose_window(request.op.name, attrs, x, w);
  const ConvTransposeParams params =
      conv_transpose_params(window, x, w, attrs.group, request.threads);
  if (params.is_depthwise) return Prepared::refuse("depthwise windows are no product");
  if (!params.rows.is_tiled() || !params.columns.is_tiled())
    return Prepared::refuse("windows overlap or leave gaps");
  const TransposedPlanes form{params.images,
                              params.groups,
                              params.inputs,
                              params.outputs,
                              params.rows.in,
                              params.columns.in,
                              {params.rows.kernel, params.columns.kernel},
                              *finish};
  if (form.pixels() < kFewestTransposedPixels) return Prepared::refuse("planes of few pixels");
  Prepared prepared = Prepared::accept(
      std::make_unique<TransposedPlanesKernel>(form, weights_of_planes(request, form),
                                               bias_of_planes(request, form), request.threads),
      "transposed planes");
  prepared.unread_inputs = 1u << 1 | 1u << 2;
  return prepared;
}

constexpr KernelEntry kTransposedPlanesKernels[] = {
    {"ConvTranspose", "conv_transpose_nchw", size_checked<prepare_transposed_planes>},
    {"sardonyx::FusedConvTranspose", "conv_transpose_nchw",
     size_checked<prepare_transposed_planes>},
};

}  // namespace

std::span<const KernelEntry> conv_transpose_nchw_kernels() {
  return kTransposedPlanesKernels;
}

}  // namespace sardonyx::cpu
