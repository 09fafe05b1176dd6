// Conv and FusedConv of 1x1 windows in float32 by our own kernel, channels last: any groups,
// strides and residuals.
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
constexpr int64_t kPointwiseProductsPerThread = 1 << 18;
// Threads take pixels in units of this many: one tile of the micro-kernel.
constexpr int64_t kPixelUnit = 14;
// Elements to which the activation is applied at once, while they are in a near cache.
constexpr int64_t kFinishedElements = 1 << 13;

struct Conv1x1Params {
  int64_t groups, inputs, outputs;    // channels of a group
  int64_t images, rows, pixels;       // rows of an image; pixels at constant stride
  int64_t in_image, in_row, in_step;  // from one to the next, in elements
  Epilogue finish;
  bool has_residual;
};

class PointwiseKernel : public Kernel {
 public:
  PointwiseKernel(const Conv1x1Params& form, std::shared_ptr<const Buffer> weights,
                  std::shared_ptr<const Buffer> bias, int threads)
      : f_(form), weights_(std::move(weights)), bias_(std::move(bias)) {
    const int64_t pixels = f_.images * f_.rows * f_.pixels;
    const int64_t most =
        std::max<int64_t>(pixels * channels() * f_.inputs / kPointwiseProductsPerThread, 1);
    threads_ = static_cast<int>(std::min<int64_t>(threads, most));
    // Where weights are more than inputs, each thread reads a part of them.
    shares_outputs_ =
        f_.groups == 1 && f_.outputs > pixels && f_.outputs >= 2 * kGemmF32Unit * threads_;
    if (!shares_outputs_)
      threads_ = static_cast<int>(std::min<int64_t>(threads_, units_of(pixels)));
  }

  void run(const KernelArgs& args) const override {
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      run_share(args, part, parts, sign);
    });
  }
  bool may_alias(size_t output, size_t input) const override {
    return f_.has_residual && output == 0 && input == 3;
  }

 private:
  int64_t channels() const { return f_.groups * f_.outputs; }
  static int64_t units_of(int64_t pixels) { return (pixels + kPixelUnit - 1) / kPixelUnit; }

  void run_share(const KernelArgs& args, int64_t part, int64_t parts,
                 const CancelFlag& sign) const {
    const int64_t pixels = f_.images * f_.rows * f_.pixels;
    if (shares_outputs_) {
      const auto [first, last] = split_range(f_.outputs, kGemmF32Unit, part, parts);
      return run_pixels(args, 0, pixels, first, last, sign);
    }
    const int64_t units = units_of(pixels);
    run_pixels(args, std::min(pixels, units * part / parts * kPixelUnit),
               std::min(pixels, units * (part + 1) / parts * kPixelUnit), 0, f_.outputs, sign);
  }

  // Computes the pixels [begin, end), counted over all rows.
  void run_pixels(const KernelArgs& args, int64_t begin, int64_t end, int64_t first, int64_t last,
                  const CancelFlag& sign) const {
    const int64_t at_ease =
        std::max<int64_t>(kMaxProducts / (channels() * f_.inputs) / kPixelUnit, 1) * kPixelUnit;
    const int64_t most = f_.finish.function ? std::min(pixels_at_once(), at_ease) : at_ease;
    int64_t pixels = 0;  // since the last look at the clock
    while (begin < end) {
      if (pixels >= at_ease && sign.ask()) return;
      if (pixels >= at_ease) pixels = 0;
      const int64_t row = begin / f_.pixels, column = begin - row * f_.pixels;
      const int64_t count = std::min({f_.pixels - column, end - begin, most});
      multiply(args, row, column, count, first, last);
      if (f_.finish.function) {
        apply_to_pixels(*f_.finish.function,
                        static_cast<float*>(args.outputs[0]) + begin * channels(), count,
                        image_steps(false, channels(), 1, count), false,
                        shares_outputs_ ? first : 0, shares_outputs_ ? last : channels());
      }
      begin += count;
      pixels += count;
    }
  }

  static constexpr int64_t kMaxProducts = int64_t{1} << 30;  // between two looks at the clock

  int64_t pixels_at_once() const {
    return std::max<int64_t>(kFinishedElements / channels() / kPixelUnit, 1) * kPixelUnit;
  }

  void multiply(const KernelArgs& args, int64_t row, int64_t column, int64_t count, int64_t first,
                int64_t last) const {
    const int64_t in_at =
        row / f_.rows * f_.in_image + row % f_.rows * f_.in_row + column * f_.in_step;
    const int64_t out_at = (row * f_.pixels + column) * channels();
    const int64_t size = static_cast<int64_t>(weights_->size() / sizeof(float)) / f_.groups;
    for (int64_t group = 0; group < f_.groups; ++group) {
      const int64_t place = out_at + group * f_.outputs;
      GemmF32Args rows;
      rows.in = static_cast<const float*>(args.inputs[0]) + in_at + group * f_.inputs;
      rows.weights = reinterpret_cast<const float*>(weights_->data()) + group * size;
      rows.bias = reinterpret_cast<const float*>(bias_->data()) +
                  group * rounded_up(f_.outputs, kGemmF32Unit);
      rows.residual = f_.has_residual ? static_cast<const float*>(args.inputs[3]) + place : nullptr;
      rows.out = static_cast<float*>(args.outputs[0]) + place;
      rows.in_step = f_.in_step;
      rows.out_step = channels();
      rows.inputs = f_.inputs;
      rows.outputs = f_.outputs;
      rows.low = f_.finish.low;
      rows.high = f_.finish.high;
      run_gemm_f32(rows, 0, count, first, last);
    }
  }

  Conv1x1Params f_;
  std::shared_ptr<const Buffer> weights_, bias_;
  int threads_ = 1;
  bool shares_outputs_ = false;
};

std::shared_ptr<const Buffer> packed_weights(const KernelRequest& request,
                                             const Conv1x1Params& form) {
  const int64_t size = packed_gemm_f32_size(form.inputs, form.outputs);
  const std::string name = text("pointwise in ", form.groups);
  return packed_floats_once(request, 1, name, form.groups * size, [&](float* to) {
    const LooseFloat* from = peek_floats(*request.inputs[1].constant);
    for (int64_t group = 0; group < form.groups; ++group) {
      pack_gemm_f32(from + group * form.outputs * form.inputs, form.inputs, 1, form.inputs,
                    form.outputs, to + group * size, request.threads);
    }
  });
}

Prepared prepare(const KernelRequest& request, const ops::ConvAttrs& attrs,
                 const ops::FusedActivation& activation) {
  if (const char* why = why_unsupported_image(request, true)) return Prepared::refuse(why);
  const KernelTensor &x = request.inputs[0], &w = request.inputs[1], &y = request.outputs[0];
  const ops::Window window = ops::conv_window(request.op.name, attrs, x.shape, w.shape);
  if (!window.is_pointwise()) return Prepared::refuse("the window is larger");
  const LayoutPtr from = float_image_layout(x.shape, false);
  const LayoutPtr to = float_image_layout(y.shape, false);
  if (x.layout && !same_layout(x.layout, from)) return Prepared::refuse("channels are not last");
  const auto finish = make_epilogue(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  Conv1x1Params form;
  form.groups = attrs.group;
  form.inputs = w.shape[1];
  form.outputs = w.shape[0] / attrs.group;
  const Shape in = image_shape(x.shape), out = image_shape(y.shape);
  const int64_t row_stride = window.rank() > 1 ? window.strides.front() : 1;
  const int64_t stride = window.strides.back(), height = out[2], width = out[3];
  const bool is_dense = row_stride == 1 && stride == 1;
  form.images = is_dense ? 1 : in[0];
  form.rows = is_dense ? 1 : height;
  form.pixels = is_dense ? in[0] * height * width : width;
  form.in_step = stride * in[1];
  form.in_row = row_stride * in[3] * in[1];
  form.in_image = in[2] * in[3] * in[1];
  form.finish = *finish;
  form.has_residual = request.has(3);
  Prepared prepared = Prepared::accept(
      std::make_unique<PointwiseKernel>(form, packed_weights(request, form),
                                        packed_bias_in_groups(request, form.groups, kGemmF32Unit),
                                        request.threads),
      "pointwise");
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[0] = from;
  if (form.has_residual) prepared.input_layouts[3] = to;
  prepared.output_layouts = {to};
  prepared.unread_inputs = 1u << 1 | 1u << 2;
  return prepared;
}

constexpr KernelEntry kPointwiseKernels[] = {
    {"Conv", "conv_1x1", size_checked<prepare_plain_conv<prepare>>},
    {"sardonyx::FusedConv", "conv_1x1", size_checked<prepare_fused_conv<prepare>>},
};

}  // namespace

std::span<const KernelEntry> conv_1x1_kernels() {
  return kPointwiseKernels;
}

}  // namespace sardonyx::cpu
