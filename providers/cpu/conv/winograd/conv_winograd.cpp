#include "providers/cpu/conv/winograd/conv_winograd.h"

#include <algorithm>

#include "ir/core/memory/evictable_buffer.h"
#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/conv/conv_params.h"
#include "providers/cpu/conv/winograd/winograd_f32.h"
#include "providers/cpu/conv/winograd/winograd_pack.h"
#include "providers/cpu/image_layout.h"

namespace sardonyx::cpu {
namespace {

// Floats of the transformed tiles and their products with one unit of outputs that a second-level
// cache holds.
constexpr int64_t kMaxTileScratch = 96 << 10;
// The fewest tiles processed at a time: with fewer, weights are read too often.
constexpr int64_t kMinTiles = 28;

struct WinogradParams {
  WinogradImage image{};  // without addresses
  int64_t images;
  bool from_blocks, to_blocks, has_residual;
  std::optional<RowActivation> function;
};

class WinogradKernel : public Kernel {
 public:
  WinogradKernel(const WinogradParams& form, std::shared_ptr<const Buffer> weights,
                 std::shared_ptr<const Buffer> bias, int threads)
      : f_(form), weights_(std::move(weights)), bias_(std::move(bias)) {
    f_.image.weights = reinterpret_cast<const float*>(weights_->data());
    f_.image.bias = reinterpret_cast<const float*>(bias_->data());
    const int64_t tiles = f_.images * f_.image.tiles();
    shares_outputs_ = tiles < threads * kMinTiles && f_.image.outputs >= threads * kWinogradUnit;
    threads_ = static_cast<int>(shares_outputs_ ? threads : std::min<int64_t>(threads, tiles));
    const int64_t most = std::max(kMinTiles, kMaxTileScratch / winograd_scratch(f_.image, 1));
    tiles_per_block_ = std::min(most, f_.image.tiles());
  }

  void run(const KernelArgs& args) const override {
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      auto* scratch = reinterpret_cast<float*>(args.scratch) + part * thread_scratch();
      WinogradWork share{args, sign, scratch, {0, f_.image.outputs}};
      const int64_t tiles = f_.images * f_.image.tiles();
      if (!shares_outputs_)
        return run_tiles(share, tiles * part / parts, tiles * (part + 1) / parts);
      share.outputs = split_range(f_.image.outputs, kWinogradUnit, part, parts);
      run_tiles(share, 0, tiles);
    });
  }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * thread_scratch()) * sizeof(float);
  }
  bool may_alias(size_t output, size_t input) const override {
    return f_.has_residual && output == 0 && input == 3;
  }

 private:
  struct WinogradWork {
    const KernelArgs& args;
    const CancelFlag& sign;
    float* scratch;
    IndexRange outputs;
  };

  int64_t thread_scratch() const { return winograd_scratch(f_.image, tiles_per_block_); }

  // Computes tiles [begin, end), counted over all images.
  void run_tiles(const WinogradWork& share, int64_t begin, int64_t end) const {
    const int64_t tiles = f_.image.tiles();
    while (begin < end && !share.sign.ask()) {
      const int64_t image = begin / tiles, tile = begin - image * tiles;
      const int64_t left = std::min(tiles - tile, end - begin);
      const int64_t times = (left + tiles_per_block_ - 1) / tiles_per_block_,
                    count = (left + times - 1) / times;
      const WinogradImage at = image_at(share.args, image);
      convolve_winograd(at, tile, tile + count, share.outputs.begin, share.outputs.end,
                        share.scratch);
      if (f_.function) apply(at, share, tile, tile + count);
      begin += count;
    }
  }

  WinogradImage image_at(const KernelArgs& args, int64_t index) const {
    WinogradImage image = f_.image;
    const int64_t in = index * image.inputs * image.height * image.width;
    const int64_t out = index * image.outputs * image.out_height * image.out_width;
    image.in = static_cast<const float*>(args.inputs[0]) + in;
    image.out = static_cast<float*>(args.outputs[0]) + out;
    if (f_.has_residual) image.residual = static_cast<const float*>(args.inputs[3]) + out;
    return image;
  }

  // Applies the activation to the outputs of tiles, one row of tiles after the other. Tiles of
  // dilated windows are not adjacent and go one by one.
  void apply(const WinogradImage& image, const WinogradWork& share, int64_t begin,
             int64_t end) const {
    const int64_t across = image.tiles_across(), step = image.dilation[1];
    while (begin < end) {
      const int64_t row = begin / across;
      const int64_t last = step > 1 ? begin + 1 : std::min(end, (row + 1) * across);
      const int64_t first_row = image.first_of_tile(0, row);
      const int64_t column = image.first_of_tile(1, begin - row * across);
      const int64_t extent = (last - begin) * image.side;
      const int64_t rows_end =
          std::min(first_row + image.side * image.dilation[0], image.out_height);
      for (int64_t y = first_row; y < rows_end; y += image.dilation[0])
        apply_to_row(image, share, y, column, std::min(column + extent * step, image.out_width));
      begin = last;
    }
  }

  void apply_to_row(const WinogradImage& image, const WinogradWork& share, int64_t row,
                    int64_t column, int64_t end) const {
    const int64_t step = image.dilation[1], pixels = step == 1 ? end - column : 1;  // adjacent
    for (; column < end; column += step * pixels) {
      apply_to_pixels(
          *f_.function, image.out + row * image.out_steps.row + column * image.out_steps.column,
          pixels, image.out_steps, f_.to_blocks, share.outputs.begin, share.outputs.end);
    }
  }

  WinogradParams f_;
  std::shared_ptr<const Buffer> weights_, bias_;
  int64_t tiles_per_block_ = 0;
  int threads_ = 1;
  bool shares_outputs_ = false;
};

std::shared_ptr<const Buffer> transformed_weights(const KernelRequest& request,
                                                  const WinogradImage& image) {
  const int64_t size = rounded_up(image.outputs, kWinogradUnit) * image.places() * image.inputs;
  return packed_floats_once(request, 1, text("winograd of ", image.side), size, [&](float* to) {
    transform_weights(peek_floats(*request.inputs[1].constant), image.outputs, image.inputs,
                      image.side, to, request.threads);
  });
}

// Twice as many floats as tiles of 2 need for the weights, where the image is small, take more
// memory and time to read than they save.
int64_t side_of(const WinogradImage& image) {
  constexpr int64_t kManyWeights = 8 << 20 >> 2, kFewOutputs = 400;
  const bool is_heavy = 36 * image.inputs * image.outputs > kManyWeights &&
                        image.out_height * image.out_width < kFewOutputs;
  return is_heavy ? 2 : 4;
}

// Sizes at which one block of tiles needs too much memory, or too long between two checks of the
// deadline.
bool is_too_large(const WinogradImage& image) {
  constexpr int64_t kMaxScratch = 1 << 24;
  constexpr double kMaxProducts = static_cast<double>(int64_t{1} << 33);
  const int64_t scratch = winograd_scratch(image, kMinTiles);
  return scratch > kMaxScratch ||
         static_cast<double>(scratch) * static_cast<double>(image.outputs) > kMaxProducts;
}

// The windows along an axis that read the image, summed over the taps. The kernel for dilated
// windows skips the others.
int64_t windows_read(const WinogradImage& image, size_t axis) {
  const int64_t out = axis == 0 ? image.out_height : image.out_width;
  const int64_t in = axis == 0 ? image.height : image.width;
  if (image.dilation[axis] == 1) return 3 * out;
  int64_t count = 0;
  for (int64_t tap = 0; tap < 3; ++tap) {
    const IndexRange inside =
        windows_inside(out, 1, tap * image.dilation[axis] - image.pad[axis], in);
    count += inside.end - inside.begin;
  }
  return count;
}

// Estimated cycles (of two FMAs of 16 floats) of direct convolution and of Winograd's algorithm:
// the multiplications, or loading the weights from memory where that takes longer. Transformed
// tiles that a second-level cache does not hold are loaded again for each unit of outputs, and the
// weights for each block of tiles.
bool is_worth_it(const WinogradImage& image, int64_t images) {
  constexpr double kFloatsPerCycle = 2, kTransform = 8;  // cycles for a channel of a tile
  constexpr int64_t kNear = 1 << 19;                     // floats
  const auto of = [](int64_t count) { return static_cast<double>(count); };
  const double pairs = of(image.inputs) * of(image.outputs), tiles = of(images * image.tiles());
  const double places = of(image.places());
  const auto sums = [&](double count, double weights) {
    return pairs * std::max(count * weights / 32, weights / kFloatsPerCycle);
  };
  const double windows = of(images * windows_read(image, 0) * windows_read(image, 1)) / 9;
  const double direct = sums(windows, 9);
  const double transforms = tiles * of(image.inputs + image.outputs) * kTransform;
  double loads = 0;
  if (winograd_scratch(image, std::min(kMinTiles, image.tiles())) > kNear) {
    loads = (tiles / of(kMinTiles) * pairs +
             tiles * of(image.inputs) * of(image.outputs) / kWinogradUnit) *
            places / kFloatsPerCycle;
  }
  return sums(tiles, places) + transforms + loads < 0.9 * direct;
}

WinogradParams winograd_params(const KernelRequest& request, const ops::ConvAttrs& attrs) {
  const KernelTensor &x = request.inputs[0], &w = request.inputs[1], &y = request.outputs[0];
  const ops::Window window = ops::conv_window(request.op.name, attrs, x.shape, w.shape);
  WinogradParams form;
  WinogradImage& image = form.image;
  form.images = x.shape[0];
  form.has_residual = request.has(3);
  image.inputs = x.shape[1];
  image.outputs = y.shape[1];
  form.from_blocks = is_nchw16c(x);
  form.to_blocks = form.from_blocks && image.outputs % kChannelBlock == 0;
  image.in_steps = image_steps(form.from_blocks, x.shape[1], x.shape[2], x.shape[3]);
  image.out_steps = image_steps(form.to_blocks, y.shape[1], y.shape[2], y.shape[3]);
  image.height = x.shape[2], image.width = x.shape[3];
  image.out_height = y.shape[2], image.out_width = y.shape[3];
  for (size_t axis = 0; axis < 2; ++axis) {
    image.pad[axis] = window.pads_begin[axis];
    image.dilation[axis] = window.dilations[axis];
  }
  image.side = side_of(image);
  return form;
}

}  // namespace

Prepared prepare_conv_winograd(const KernelRequest& request, const ops::ConvAttrs& attrs,
                               const ops::FusedActivation& activation) {
  if (const char* why = why_unsupported_image(request)) return Prepared::refuse(why);
  const auto finish = make_epilogue(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  WinogradParams form = winograd_params(request, attrs);
  if (is_too_large(form.image)) return Prepared::refuse("there are many channels");
  if (!is_worth_it(form.image, form.images)) return Prepared::refuse("direct sums are as fast");
  form.image.low = finish->low;
  form.image.high = finish->high;
  form.function = finish->function;
  Prepared prepared =
      Prepared::accept(std::make_unique<WinogradKernel>(
                           form, transformed_weights(request, form.image),
                           packed_bias_in_groups(request, 1, kWinogradUnit), request.threads),
                       text("winograd ", form.image.side, "x3"));
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[0] = float_image_layout(request.inputs[0].shape, form.from_blocks);
  prepared.output_layouts = {float_image_layout(request.outputs[0].shape, form.to_blocks)};
  if (form.has_residual) prepared.input_layouts[3] = prepared.output_layouts[0];
  prepared.unread_inputs = 1u << 1 | 1u << 2;
  return prepared;
}

}  // namespace sardonyx::cpu
