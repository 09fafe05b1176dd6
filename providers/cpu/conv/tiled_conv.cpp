#include "providers/cpu/conv/tiled_conv.h"

#include <algorithm>
#include <utility>

#include "providers/cpu/conv/igemm_f32.h"

namespace sardonyx::cpu {
namespace {

// Work below this many multiplications is not worth a second thread.
constexpr int64_t kMinProducts = 1 << 18;
// About as many windows as a micro-kernel's tile has. Threads share images in multiples of this.
constexpr int64_t kWindowsPerTile = 14;

}  // namespace

TiledConvKernel::TiledConvKernel(const ConvParams& form, TiledConvWeights weights, int threads,
                                 bool may_share_outputs)
    : f_(form), weights_(std::move(weights)) {
  const int64_t pixels = f_.images * f_.out_height * f_.out_width;
  const int64_t products = pixels * f_.out_channels() * f_.elements();
  threads_ =
      static_cast<int>(std::min<int64_t>(threads, std::max<int64_t>(products / kMinProducts, 1)));
  // Where weights are more than inputs, each thread reads a part of them.
  shares_outputs_ = may_share_outputs && f_.groups == 1 && f_.outputs > pixels &&
                    f_.outputs >= kConvolutionUnit * threads_;
  unit_ = f_.is_line() ? kWindowsPerTile : std::max<int64_t>(kWindowsPerTile / f_.out_width, 1);
  units_ = (f_.length() + unit_ - 1) / unit_;
  if (!shares_outputs_)
    threads_ = static_cast<int>(std::min<int64_t>(threads_, f_.images * units_));
}

void TiledConvKernel::run(const KernelArgs& args) const {
  parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
    float* padded = reinterpret_cast<float*>(args.scratch) + part * thread_scratch();
    float* results = padded + rounded_up(f_.padded_size(), kChannelBlock);
    TiledConvWork share{args, sign, padded, results, {0, f_.outputs}};
    if (!shares_outputs_) {
      run_units(share, f_.images * units_ * part / parts, f_.images * units_ * (part + 1) / parts);
      return;
    }
    share.outputs = split_range(f_.outputs, kConvolutionUnit, part, parts);
    run_units(share, 0, f_.images * units_);
  });
}

size_t TiledConvKernel::scratch_bytes() const {
  return static_cast<size_t>(threads_ * thread_scratch()) * sizeof(float);
}

int64_t TiledConvKernel::thread_scratch() const {
  return rounded_up(f_.padded_size(), kChannelBlock) +
         rounded_up(f_.transposed_size(), kChannelBlock);
}

// Computes units [begin, end) of rows or columns, counted over all images.
void TiledConvKernel::run_units(const TiledConvWork& share, int64_t begin, int64_t end) const {
  const int64_t most = f_.is_line() ? f_.tile.columns : f_.tile.rows;
  while (begin < end) {
    const int64_t image = begin / units_, unit = begin - image * units_;
    const int64_t count = std::min(units_ - unit, end - begin);
    const int64_t last = std::min(f_.length(), (unit + count) * unit_);
    for (int64_t at = unit * unit_; at < last; at += most) {
      if (!run_tile(share, image, f_.cut(at, std::min(last, at + most)))) return;
    }
    begin += count;
  }
}

// Computes one tile. Returns false once the run is cancelled.
bool TiledConvKernel::run_tile(const TiledConvWork& share, int64_t image,
                               const OutputTile& tile) const {
  for (int64_t group = 0; group < f_.groups; ++group) {
    if (share.sign.ask()) return false;
    if (f_.is_padded) pad(share, image, group, tile);
    if (!convolve(share, image, group, tile)) return false;
  }
  if (f_.finish.function) apply(share, image, tile);
  return true;
}

const float* TiledConvKernel::input(const TiledConvWork& share, int64_t image,
                                    int64_t group) const {
  const int64_t channel = group * f_.inputs;
  const float* first = static_cast<const float*>(share.args.inputs[0]) +
                       image * f_.in_channels() * f_.height * f_.width;
  if (f_.from == ImageOrder::kPixels) return first + channel;
  const int64_t blocks = f_.from == ImageOrder::kBlocks ? channel / kChannelBlock : channel;
  return first + blocks * f_.in_steps().block;
}

const float* TiledConvKernel::first_window(const TiledConvWork& share, int64_t image, int64_t group,
                                           const OutputTile& tile) const {
  if (f_.is_padded) return share.padded;
  const ImageSteps steps = f_.read_steps();
  return input(share, image, group) + (tile.row * f_.stride[0] - f_.pad[0]) * steps.row +
         (tile.column * f_.stride[1] - f_.pad[1]) * steps.column;
}

int64_t TiledConvKernel::place_of(int64_t image, const OutputTile& tile) const {
  const ImageSteps steps = f_.out_steps();
  return image * f_.out_channels() * f_.out_height * f_.out_width + tile.row * steps.row +
         tile.column * steps.column;
}

TiledConvKernel::PaddedColumns TiledConvKernel::padded_columns(const OutputTile& tile) const {
  const int64_t width = f_.covered(1, tile.columns);
  const int64_t first = tile.column * f_.stride[1] - f_.pad[1];
  const int64_t begin = std::clamp<int64_t>(-first, 0, width);
  const int64_t end = std::clamp<int64_t>(f_.width - first, begin, width);
  return {begin, end, first + begin};
}

Prepared accept_tiled(std::unique_ptr<Kernel> kernel, const char* implementation,
                      const ConvParams& form, const KernelRequest& request) {
  Prepared prepared = Prepared::accept(std::move(kernel), implementation);
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[0] = layout_for(form.from, request.inputs[0].shape);
  prepared.output_layouts = {layout_for(form.to, request.outputs[0].shape)};
  if (form.has_residual) prepared.input_layouts[3] = prepared.output_layouts[0];
  prepared.unread_inputs = 1u << 1 | 1u << 2;
  return prepared;
}

}  // namespace sardonyx::cpu
