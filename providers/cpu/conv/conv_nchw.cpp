#include "providers/cpu/conv/conv_nchw.h"

#include <algorithm>
#include <cstring>

#include "providers/cpu/conv/conv_nchw_f32.h"
#include "providers/cpu/conv/tiled_conv.h"

namespace sardonyx::cpu {
namespace {

class ConvNchwKernel : public TiledConvKernel {
 public:
  ConvNchwKernel(const ConvParams& form, TiledConvWeights weights, int threads)
      : TiledConvKernel(form, std::move(weights), threads, /*may_share_outputs=*/false) {}

 private:
  void pad(const TiledConvWork& share, int64_t image, int64_t group,
           const OutputTile& tile) const override {
    const ImageSteps from = f_.in_steps(), to = f_.read_steps();
    const float* source = input(share, image, group);
    const int64_t rows = f_.covered(0, tile.rows), width = f_.covered(1, tile.columns);
    const auto [begin, end, first] = padded_columns(tile);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t in_row = tile.row * f_.stride[0] + row - f_.pad[0];
      const bool is_inside = in_row >= 0 && in_row < f_.height;
      float* target = share.padded + row * to.row;
      for (int64_t channel = 0; channel < f_.inputs; ++channel) {
        float* plane = target + channel * to.block;
        std::fill_n(plane, is_inside ? begin : width, 0.0f);
        std::fill_n(plane + end, width - end, 0.0f);
      }
      if (!is_inside || begin == end) continue;
      copy_row(source + in_row * from.row + first * from.column, end - begin, target + begin,
               to.block);
    }
  }

  // Copies pixels of all channels into planes.
  void copy_row(const float* from, int64_t count, float* to, int64_t plane) const {
    const ImageSteps steps = f_.in_steps();
    if (f_.from == ImageOrder::kPlanes) {
      for (int64_t channel = 0; channel < f_.inputs; ++channel)
        std::copy_n(from + channel * steps.block, count, to + channel * plane);
      return;
    }
    const int64_t interleaved = f_.from == ImageOrder::kBlocks ? kChannelBlock : f_.inputs;
    for (int64_t channel = 0; channel < f_.inputs; channel += interleaved) {
      pixels_to_planes(from + channel / interleaved * steps.block, steps.column,
                       std::min(interleaved, f_.inputs - channel), count, to + channel * plane,
                       plane);
    }
  }

  bool convolve(const TiledConvWork& share, int64_t image, int64_t group,
                const OutputTile& tile) const override {
    const ImageSteps in = f_.read_steps(), out = f_.out_steps();
    const int64_t place = place_of(image, tile);
    PlaneWindows windows;
    windows.in = first_window(share, image, group, tile);
    windows.offsets = offsets();
    windows.weights = weights();
    windows.bias = bias();
    windows.residual =
        f_.has_residual ? static_cast<const float*>(share.args.inputs[3]) + place : nullptr;
    windows.out = static_cast<float*>(share.args.outputs[0]) + place;
    windows.in_row = f_.stride[0] * in.row;
    windows.out_row = out.row;
    windows.out_plane = out.block;
    windows.columns = tile.columns;
    windows.outputs = f_.outputs;
    windows.low = f_.finish.low;
    windows.high = f_.finish.high;
    convolve_planes(windows, 0, tile.rows);
    return true;
  }

  void apply(const TiledConvWork& share, int64_t image, const OutputTile& tile) const override {
    const auto& [op, params] = *f_.finish.function;
    auto* values = static_cast<float*>(share.args.outputs[0]) + place_of(image, tile);
    const auto count = static_cast<size_t>(tile.rows * tile.columns);
    for (int64_t output = 0; output < f_.outputs; ++output, values += f_.out_steps().block)
      unary_row(op, params, values, values, count);
  }
};

}  // namespace

Prepared prepare_conv_nchw(const KernelRequest& request, const ops::ConvAttrs& attrs,
                           const ops::FusedActivation& activation) {
  if (const char* why = why_unsupported_image(request, true)) return Prepared::refuse(why);
  if (attrs.group != 1) return Prepared::refuse("there are groups");
  const KernelTensor &x = request.inputs[0], &w = request.inputs[1];
  const auto finish = make_epilogue(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  const ops::Window window = ops::conv_window(request.op.name, attrs, x.shape, w.shape);
  const ConvParams form = conv_nchw_params(request, window, *finish);
  if (const char* why = why_unsupported_nchw(form)) return Prepared::refuse(why);
  const IndirectionBuffer walk = make_indirection(form);
  const Tensor& values = *request.inputs[1].constant;
  const auto pack = [&](float* to) {
    pack_plane_windows(peek_floats(values), walk.order, form.outputs, to);
  };
  TiledConvWeights weights{walk.offsets,
                           packed_floats_once(request, 1, "planes", values.count(), pack),
                           packed_bias_in_groups(request, 1, kChannelBlock)};
  Prepared prepared = Prepared::accept(
      std::make_unique<ConvNchwKernel>(form, std::move(weights), request.threads), "planes");
  prepared.input_layouts = {layout_for(form.from, x.shape)};
  prepared.unread_inputs = 1u << 1 | 1u << 2;
  return prepared;
}

}  // namespace sardonyx::cpu
