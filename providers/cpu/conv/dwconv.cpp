// Depthwise Conv and FusedConv in float32 by our own kernel: NHWC, or NCHW16c where the input has
// that layout; between row-major images, planes are transposed to blocks of channels one at a time.
// The channel multiplier is 1, 2, 4 or 8.
#include <algorithm>
#include <bit>

#include "ir/core/memory/evictable_buffer.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/conv.h"
#include "providers/cpu/conv/conv_entries.h"
#include "providers/cpu/conv/dwconv_f32.h"
#include "providers/cpu/gemm/pack_transposed.h"
#include "providers/cpu/image_layout.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

// Work below this many multiplications is not worth a second thread.
constexpr int64_t kDepthwiseProductsPerThread = 1 << 17;
// Threads take rows in units of this many: one tile of the micro-kernel.
constexpr int64_t kRowsPerTile = 2;
// Elements to which the activation is applied at once, while they are in a near cache.
constexpr int64_t kActivatedElements = 1 << 12;

struct DepthwiseForm {
  DepthwiseImage image;  // without addresses
  int64_t images, out_height;
  std::optional<RowActivation> function;  // of the clipped sums
};

class DepthwiseKernel : public Kernel {
 public:
  DepthwiseKernel(const DepthwiseForm& form, std::shared_ptr<const Buffer> weights,
                  std::shared_ptr<const Buffer> bias, int threads)
      : f_(form), weights_(std::move(weights)), bias_(std::move(bias)) {
    f_.image.weights = reinterpret_cast<const float*>(weights_->data());
    f_.image.bias = reinterpret_cast<const float*>(bias_->data());
    const int64_t products = f_.images * f_.out_height * f_.image.out_width * f_.image.channels *
                             f_.image.kernel[0] * f_.image.kernel[1];
    pairs_ = (f_.out_height + kRowsPerTile - 1) / kRowsPerTile;
    const int64_t most = std::min(products / kDepthwiseProductsPerThread + 1, f_.images * pairs_);
    threads_ = static_cast<int>(std::min<int64_t>(threads, most));
  }

  void run(const KernelArgs& args) const override {
    const int64_t units = f_.images * pairs_;
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      run_share(args, units * part / parts, units * (part + 1) / parts, sign);
    });
  }

 private:
  static constexpr int64_t kMaxProducts = 1 << 27;  // between two looks at the clock

  // Computes pairs [begin, end) of rows, counted over all images.
  void run_share(const KernelArgs& args, int64_t begin, int64_t end, const CancelFlag& sign) const {
    const int64_t products = f_.image.out_width * f_.image.channels * kRowsPerTile *
                             f_.image.kernel[0] * f_.image.kernel[1];
    const int64_t most = std::max<int64_t>(kMaxProducts / products, 1);
    while (begin < end && !(begin % most == 0 && sign.ask())) {
      const int64_t image = begin / pairs_, first = begin - image * pairs_;
      const int64_t last = std::min({pairs_, first + end - begin, first + most - begin % most});
      DepthwiseImage at = f_.image;
      at.in = static_cast<const float*>(args.inputs[0]) +
              image * at.height * at.width * (at.channels >> at.repeat);
      at.out =
          static_cast<float*>(args.outputs[0]) + image * f_.out_height * at.out_width * at.channels;
      run_rows(at, first * kRowsPerTile, std::min(f_.out_height, last * kRowsPerTile));
      begin += last - first;
    }
  }

  void run_rows(const DepthwiseImage& image, int64_t first, int64_t last) const {
    if (!f_.function) {
      convolve_depthwise(image, first, last, 0, image.channels);
      return;
    }
    const int64_t row = image.out_width * image.channels;
    const int64_t tile_rows =
        std::max<int64_t>(1, kActivatedElements / row / kRowsPerTile) * kRowsPerTile;
    for (int64_t begin = first; begin < last;) {
      // Includes the remaining rows if they are too few for a tile.
      const int64_t end = begin + tile_rows + kRowsPerTile > last ? last : begin + tile_rows;
      convolve_depthwise(image, begin, end, 0, image.channels);
      activate(image, begin, end);
      begin = end;
    }
  }

  void activate(const DepthwiseImage& image, int64_t first, int64_t last) const {
    const auto apply = [&](float* values, int64_t count) {
      unary_row(f_.function->op, f_.function->params, values, values, static_cast<size_t>(count));
    };
    const int64_t column = image.out_steps.column, length = (last - first) * image.out_steps.row;
    for (int64_t channel = 0; channel < image.channels; channel += column)
      apply(
          image.out + channel / kChannelBlock * image.out_steps.block + first * image.out_steps.row,
          length);
  }

  DepthwiseForm f_;
  std::shared_ptr<const Buffer> weights_, bias_;
  int64_t pairs_ = 0;
  int threads_ = 1;
};

// Between row-major images: a block of channels is transposed, convolved and transposed back while
// it is in a near cache. Elements are the bits that the kernel above gives.
class DepthwisePlanesKernel : public Kernel {
 public:
  DepthwisePlanesKernel(const DepthwiseForm& form, std::shared_ptr<const Buffer> weights,
                        std::shared_ptr<const Buffer> bias, int threads)
      : f_(form), weights_(std::move(weights)), bias_(std::move(bias)) {
    f_.image.weights = reinterpret_cast<const float*>(weights_->data());
    f_.image.bias = reinterpret_cast<const float*>(bias_->data());
    f_.image.in_steps.block = f_.image.out_steps.block = 0;  // there is but one block
    blocks_ = (f_.image.channels >> f_.image.repeat) / kChannelBlock;
    const int64_t products =
        f_.images * out_plane() * f_.image.channels * f_.image.kernel[0] * f_.image.kernel[1];
    const int64_t most = std::min(products / kDepthwiseProductsPerThread + 1, f_.images * blocks_);
    threads_ = static_cast<int>(std::min<int64_t>(threads, most));
  }

  void run(const KernelArgs& args) const override {
    const int64_t units = f_.images * blocks_;
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      float* scratch = reinterpret_cast<float*>(args.scratch) + part * thread_scratch();
      for (int64_t unit = units * part / parts; unit < units * (part + 1) / parts; ++unit) {
        if (sign.ask() || !run_block(args, unit, scratch, sign)) return;
      }
    });
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * thread_scratch()) * sizeof(float);
  }

 private:
  static constexpr int64_t kMaxProducts = 1 << 27;  // between two looks at the clock

  int64_t in_plane() const { return f_.image.height * f_.image.width; }
  int64_t out_plane() const { return f_.out_height * f_.image.out_width; }
  int64_t thread_scratch() const { return (in_plane() + out_plane()) * kChannelBlock; }

  // Computes all outputs of a block of input channels, counted over all images. Returns false once
  // the run is cancelled.
  bool run_block(const KernelArgs& args, int64_t unit, float* scratch,
                 const CancelFlag& sign) const {
    DepthwiseImage at = f_.image;
    const int64_t times = int64_t{1} << at.repeat;
    at.in = scratch;
    at.out = scratch + in_plane() * kChannelBlock;
    pack_transposed(static_cast<const float*>(args.inputs[0]) + unit * kChannelBlock * in_plane(),
                    in_plane(), kChannelBlock, in_plane(), scratch, kChannelBlock);
    auto* to = static_cast<float*>(args.outputs[0]) + unit * times * kChannelBlock * out_plane();
    for (int64_t i = 0; i < times; ++i, to += kChannelBlock * out_plane()) {
      if (!convolve(at, (unit % blocks_ * times + i) * kChannelBlock, sign)) return false;
      if (f_.function) {
        unary_row(f_.function->op, f_.function->params, at.out, at.out,
                  static_cast<size_t>(out_plane() * kChannelBlock));
      }
      pack_transposed(at.out, kChannelBlock, out_plane(), kChannelBlock, to, out_plane());
    }
    return true;
  }

  // Computes the block of outputs from `channel` on.
  bool convolve(const DepthwiseImage& image, int64_t channel, const CancelFlag& sign) const {
    const int64_t products = image.out_width * kChannelBlock * image.kernel[0] * image.kernel[1];
    const int64_t most =
        std::max<int64_t>(kMaxProducts / products / kRowsPerTile, 1) * kRowsPerTile;
    for (int64_t row = 0; row < f_.out_height; row += most) {
      if (row > 0 && sign.ask()) return false;
      convolve_depthwise(image, row, std::min(f_.out_height, row + most), channel,
                         channel + kChannelBlock);
    }
    return true;
  }

  DepthwiseForm f_;
  std::shared_ptr<const Buffer> weights_, bias_;
  int64_t blocks_ = 0;  // of input channels
  int threads_ = 1;
};

// [kernel elements][channels] out of [channels][kernel elements], with zeros up to whole blocks;
// zeros where the input is omitted.
std::shared_ptr<const Buffer> packed(const KernelRequest& request, size_t input, int64_t channels) {
  const int64_t padded = rounded_up(channels, kChannelBlock);
  const Tensor* from = request.has(input) ? request.inputs[input].constant : nullptr;
  const int64_t taps = from ? from->count() / channels : 1;
  return packed_floats_once(request, input, "depthwise", taps * padded, [&](float* to) {
    std::fill_n(to, taps * padded, 0.0f);
    if (from) pack_transposed(peek_floats(*from), taps, channels, taps, to, padded);
  });
}

const char* refusal(const KernelRequest& request, int64_t group) {
  if (const char* why = why_unsupported_image(request, true)) return why;
  const int64_t from = request.inputs[0].shape[1], channels = request.inputs[1].shape[0];
  if (group != from || (from == 1 && channels > 1)) return "it is not depthwise";
  if (const int64_t times = channels / from; times > 8 || !std::has_single_bit(uint64_t(times)))
    return "a channel gives many others, or a number that is no power of 2";
  if (request.has(3)) return "there is a residual";
  if (channels < kChannelBlock && channels != kChannelBlock / 2) return "there are few channels";
  return nullptr;
}

// Whether the channels of both images fill blocks, and nobody wants other layouts than row-major.
bool is_between_planes(const KernelRequest& request) {
  const auto has_blocks = [](const KernelTensor& image) {
    return !image.layout && image.shape[1] % kChannelBlock == 0;
  };
  return !request.layout_readers && has_blocks(request.inputs[0]) && has_blocks(request.outputs[0]);
}

Prepared prepare_dwconv(const KernelRequest& request, const ops::ConvAttrs& attrs,
                        const ops::FusedActivation& activation) {
  if (const char* why = refusal(request, attrs.group)) return Prepared::refuse(why);
  const KernelTensor &x = request.inputs[0], &w = request.inputs[1], &y = request.outputs[0];
  const ops::Window window = ops::conv_window(request.op.name, attrs, x.shape, w.shape);
  const bool transposes_planes = is_between_planes(request);
  const bool is_blocked = is_nchw16c(x) || transposes_planes;
  const auto finish = make_epilogue(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  DepthwiseForm form{};
  form.function = finish->function;
  const Shape from = image_shape(x.shape), to = image_shape(y.shape);
  form.images = from[0];
  form.out_height = to[2];
  DepthwiseImage& image = form.image;
  image.low = finish->low;
  image.high = finish->high;
  image.channels = to[1];
  image.repeat = std::countr_zero(uint64_t(to[1] / from[1]));
  image.height = from[2];
  image.width = from[3];
  image.out_width = to[3];
  image.in_steps = image_steps(is_blocked, from[1], from[2], from[3]);
  image.out_steps = image_steps(is_blocked, to[1], to[2], to[3]);
  image.kernel[0] = image.stride[0] = image.dilation[0] = 1;
  const size_t first = 4 - x.shape.size();
  for (size_t axis = first; axis < 2; ++axis) {
    image.kernel[axis] = window.kernel[axis - first];
    image.stride[axis] = window.strides[axis - first];
    image.dilation[axis] = window.dilations[axis - first];
    image.pad[axis] = window.pads_begin[axis - first];
  }
  const auto weights = packed(request, 1, image.channels),
             bias = packed(request, 2, image.channels);
  if (transposes_planes) {
    Prepared prepared = Prepared::accept(
        std::make_unique<DepthwisePlanesKernel>(form, weights, bias, request.threads), "depthwise");
    prepared.unread_inputs = 1u << 1 | 1u << 2;
    return prepared;
  }
  Prepared prepared = Prepared::accept(
      std::make_unique<DepthwiseKernel>(form, weights, bias, request.threads), "depthwise");
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[0] = float_image_layout(x.shape, is_blocked);
  prepared.output_layouts = {float_image_layout(y.shape, is_blocked)};
  prepared.unread_inputs = 1u << 1 | 1u << 2;
  return prepared;
}

constexpr KernelEntry kDepthwiseKernels[] = {
    {"Conv", "dwconv", size_checked<prepare_plain_conv<prepare_dwconv>>},
    {"sardonyx::FusedConv", "dwconv", size_checked<prepare_fused_conv<prepare_dwconv>>},
};

}  // namespace

std::span<const KernelEntry> dwconv_kernels() {
  return kDepthwiseKernels;
}

}  // namespace sardonyx::cpu
