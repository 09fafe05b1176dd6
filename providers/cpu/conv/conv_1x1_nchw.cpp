// Conv and FusedConv of 1x1 windows in float32 on planes of pixels (NCHW), for an image that is
// row-major where it comes from and where it is read: the weights times a matrix of pixels. Pixels
// are packed a few panels at a time; those that strides leave over are gathered before. Elements
// are the bits that conv_1x1 gives.
#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/conv.h"
#include "providers/cpu/conv/conv_entries.h"
#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/image_layout.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

// Work below this many multiplications is not worth a second thread.
constexpr int64_t kPlaneProductsPerThread = 1 << 18;
// The packed pixels of a tile, in floats: they stay in the L2 cache while they are multiplied with
// all weights.
constexpr int64_t kPackedAtOnce = int64_t{1} << 15;
// The fewest pixels of a plane; fewer leave vectors partly empty.
constexpr int64_t kFewestPixels = 2 * kGemmF32Unit;

struct Conv1x1Planes {
  int64_t images, groups, inputs, outputs;  // channels of a group
  int64_t pixels;                           // of a plane of the output
  Epilogue finish;
  bool has_residual;
  int64_t width = 0, in_width = 0, in_pixels = 0;  // of a row; of the input, and of its planes
  int64_t stride[2] = {1, 1};

  bool is_dense() const { return stride[0] == 1 && stride[1] == 1; }

  int64_t units() const { return (pixels + kGemmF32Unit - 1) / kGemmF32Unit; }
  // The pixels that are packed at a time, a multiple of kGemmF32Unit.
  int64_t pixels_at_once() const {
    const int64_t most = std::max<int64_t>(kPackedAtOnce / inputs / kGemmF32Unit, 1);
    return std::min(most, units()) * kGemmF32Unit;
  }
};

class PointwisePlanesKernel : public Kernel {
 public:
  PointwisePlanesKernel(const Conv1x1Planes& form, std::shared_ptr<const Buffer> bias, int threads)
      : f_(form), bias_(std::move(bias)) {
    const int64_t products = planes() * f_.pixels * f_.outputs * f_.inputs;
    const int64_t most = std::max<int64_t>(products / kPlaneProductsPerThread, 1);
    threads_ = static_cast<int>(std::min({int64_t{threads}, most, planes() * f_.units()}));
    packed_ = rounded_up(packed_gemm_f32_size(f_.inputs, f_.pixels_at_once()), kGemmF32Unit);
    scratch_ = packed_ + (f_.is_dense() ? 0 : f_.inputs * f_.pixels_at_once());
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
  bool may_alias(size_t output, size_t input) const override {
    return f_.has_residual && output == 0 && input == 3;
  }

 private:
  int64_t planes() const { return f_.images * f_.groups; }

  // Computes units [begin, end) of pixels, counted over the groups of all images.
  void run_units(const KernelArgs& args, int64_t begin, int64_t end, float* packed,
                 const CancelFlag& sign) const {
    while (begin < end) {
      const int64_t plane = begin / f_.units(), unit = begin - plane * f_.units();
      const int64_t units =
          std::min({f_.units() - unit, end - begin, f_.pixels_at_once() / kGemmF32Unit});
      const int64_t first = unit * kGemmF32Unit;
      if (sign.ask()) return;
      multiply(args, plane, first, std::min(units * kGemmF32Unit, f_.pixels - first), packed);
      begin += units;
    }
  }

  void multiply(const KernelArgs& args, int64_t plane, int64_t first, int64_t count,
                float* packed) const {
    const int64_t group = plane % f_.groups;
    const float* in = static_cast<const float*>(args.inputs[0]) + plane * f_.inputs * f_.in_pixels;
    if (f_.is_dense()) {
      pack_gemm_f32(in + first, 1, f_.in_pixels, f_.inputs, count, packed);
    } else {
      float* gathered = packed + packed_;
      gather(in, first, count, gathered);
      pack_gemm_f32(gathered, 1, count, f_.inputs, count, packed);
    }
    const int64_t place = plane * f_.outputs * f_.pixels + first;
    GemmF32Args product{};
    product.in = static_cast<const float*>(args.inputs[1]) + group * f_.outputs * f_.inputs;
    product.weights = packed;
    product.row_bias = reinterpret_cast<const float*>(bias_->data()) + group * f_.outputs;
    product.residual =
        f_.has_residual ? static_cast<const float*>(args.inputs[3]) + place : nullptr;
    product.out = static_cast<float*>(args.outputs[0]) + place;
    product.in_step = f_.inputs;
    product.out_step = f_.pixels;
    product.inputs = f_.inputs;
    product.outputs = count;
    product.low = f_.finish.low;
    product.high = f_.finish.high;
    run_gemm_f32(product, 0, f_.outputs, 0, count);
    if (!f_.finish.function) return;
    const auto& [op, params] = *f_.finish.function;
    for (int64_t output = 0; output < f_.outputs; ++output) {
      float* values = product.out + output * f_.pixels;
      unary_row(op, params, values, values, static_cast<size_t>(count));
    }
  }

  // Copies `count` pixels of all planes that the windows from `first` on read.
  void gather(const float* in, int64_t first, int64_t count, float* to) const {
    for (int64_t input = 0; input < f_.inputs; ++input, in += f_.in_pixels) {
      for (int64_t pixel = first; pixel < first + count;) {
        const int64_t row = pixel / f_.width, column = pixel - row * f_.width;
        const int64_t length = std::min(f_.width - column, first + count - pixel);
        const float* from = in + row * f_.stride[0] * f_.in_width + column * f_.stride[1];
        gather_row(from, length, to);
        to += length;
        pixel += length;
      }
    }
  }
  void gather_row(const float* from, int64_t count, float* to) const {
    if (f_.stride[1] == 1)
      std::copy_n(from, count, to);
    else if (f_.stride[1] == 2)  // a constant, of which the compiler makes vectors
      for (int64_t i = 0; i < count; ++i)
        to[i] = from[2 * i];
    else
      for (int64_t i = 0; i < count; ++i)
        to[i] = from[i * f_.stride[1]];
  }

  Conv1x1Planes f_;
  std::shared_ptr<const Buffer> bias_;
  int64_t packed_, scratch_;  // floats of a thread: the packed pixels, all
  int threads_ = 1;
};

Prepared prepare_planes(const KernelRequest& request, const ops::ConvAttrs& attrs,
                        const ops::FusedActivation& activation) {
  if (const char* why = why_unsupported_image(request, true)) return Prepared::refuse(why);
  const KernelTensor &x = request.inputs[0], &w = request.inputs[1];
  if (x.layout || request.layout_readers)
    return Prepared::refuse("the image is in another layout, or readers may want it to be");
  if (request.has(3) && request.inputs[3].layout)
    return Prepared::refuse("the residual is in another layout");
  const ops::Window window = ops::conv_window(request.op.name, attrs, x.shape, w.shape);
  if (!window.is_pointwise()) return Prepared::refuse("the window is larger");
  const auto finish = make_epilogue(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  const Shape in = image_shape(x.shape), out = image_shape(request.outputs[0].shape);
  Conv1x1Planes form{in[0],           attrs.group, w.shape[1],    w.shape[0] / attrs.group,
                     out[2] * out[3], *finish,     request.has(3)};
  form.width = out[3];
  form.in_width = in[3];
  form.in_pixels = in[2] * in[3];
  form.stride[0] = window.rank() > 1 ? window.strides.front() : 1;
  form.stride[1] = window.strides.back();
  if (form.pixels < kFewestPixels) return Prepared::refuse("planes of few pixels");
  Prepared prepared =
      Prepared::accept(std::make_unique<PointwisePlanesKernel>(
                           form, packed_bias_in_groups(request, form.groups, 1), request.threads),
                       "pointwise planes");
  prepared.unread_inputs = 1u << 2;
  return prepared;
}

constexpr KernelEntry kPointwisePlanesKernels[] = {
    {"Conv", "conv_1x1_nchw", size_checked<prepare_plain_conv<prepare_planes>>},
    {"sardonyx::FusedConv", "conv_1x1_nchw", size_checked<prepare_fused_conv<prepare_planes>>},
};

}  // namespace

std::span<const KernelEntry> conv_1x1_nchw_kernels() {
  return kPointwisePlanesKernels;
}

}  // namespace sardonyx::cpu
