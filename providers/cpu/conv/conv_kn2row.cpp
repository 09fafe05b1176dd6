#include "providers/cpu/conv/conv_kn2row.h"

#include <algorithm>
#include <limits>

#include "ir/core/threading/parallel_for.h"
#include "providers/cpu/conv/conv_igemm_kernel.h"

namespace sardonyx::cpu {
namespace {

// The rows or columns of a tile, from `first` on, that read the image at this tap.
IndexRange inside(const ConvParams& f, size_t axis, int64_t tap, int64_t first, int64_t count) {
  const int64_t place = first * f.stride[axis] + tap * f.dilation[axis] - f.pad[axis];
  return windows_inside(count, f.stride[axis], place, axis == 0 ? f.height : f.width);
}

// Outputs begin with bias and residual; each tap adds its products where it reads the image.
class ConvKn2rowKernel final : public IgemmTileKernel {
 public:
  using IgemmTileKernel::IgemmTileKernel;

 private:
  void pad(const TiledConvWork&, int64_t, int64_t, const OutputTile&) const override {}

  bool convolve(const TiledConvWork& share, int64_t image, int64_t group,
                const OutputTile& tile) const override {
    const ConvolutionRows all = rows_to(share, group, tile, first_output(image, group, tile));
    start(share, all, tile);
    for (int64_t tap = 0; tap < f_.taps(); ++tap) {
      if (share.sign.ask() || !add_tap(share, image, group, tile, tap, all)) return false;
    }
    if (f_.finish.low > -kInfinity || f_.finish.high < kInfinity) clip(share, all, tile);
    return true;
  }

  bool add_tap(const TiledConvWork& share, int64_t image, int64_t group, const OutputTile& tile,
               int64_t tap, const ConvolutionRows& all) const {
    const int64_t tap_row = tap / f_.kernel[1], tap_column = tap % f_.kernel[1];
    const IndexRange down = inside(f_, 0, tap_row, tile.row, tile.rows);
    const IndexRange along = inside(f_, 1, tap_column, tile.column, tile.columns);
    if (down.begin == down.end || along.begin == along.end) return true;
    const ImageSteps in = f_.in_steps();
    ConvolutionRows rows = all;
    rows.in =
        first_window(share, image, group,
                     {tile.row + down.begin, tile.column + along.begin, tile.rows, tile.columns}) +
        tap_row * f_.dilation[0] * in.row + tap_column * f_.dilation[1] * in.column;
    rows.offsets = offsets();
    rows.weights = weights() + group * weights_size() + tap * (weights_size() / f_.taps());
    rows.bias = zeros_.data();
    rows.out += down.begin * rows.out_steps.row + along.begin * rows.out_steps.column;
    rows.residual = rows.out;
    rows.in_row = f_.stride[0] * in.row;
    rows.in_column = f_.stride[1] * in.column;
    rows.columns = along.end - along.begin;
    rows.low = -kInfinity;
    rows.high = kInfinity;
    return multiply(share, rows, down.end - down.begin);
  }

  // Calls visit(place from the tile's first output, channel, count) for all outputs of the share;
  // the `count` channels are adjacent.
  template <typename Visit>
  void for_outputs(const TiledConvWork& share, const OutputTile& tile, const Visit& visit) const {
    const ImageSteps out = f_.out_steps();
    const auto [begin, end] = share.outputs;
    const int64_t most = f_.to == ImageOrder::kBlocks ? kChannelBlock : end - begin;
    for (int64_t channel = begin; channel < end; channel += most) {
      const int64_t count = std::min(most, end - channel);
      const int64_t first = f_.to == ImageOrder::kBlocks
                                ? channel / kChannelBlock * out.block + channel % kChannelBlock
                                : channel;
      for (int64_t row = 0; row < tile.rows; ++row) {
        for (int64_t column = 0; column < tile.columns; ++column)
          visit(first + row * out.row + column * out.column, channel, count);
      }
    }
  }

  void start(const TiledConvWork& share, const ConvolutionRows& all, const OutputTile& tile) const {
    const auto* results = static_cast<const float*>(share.args.outputs[0]);
    const float* residual =
        f_.has_residual ? static_cast<const float*>(share.args.inputs[3]) + (all.out - results)
                        : nullptr;
    for_outputs(share, tile, [&](int64_t place, int64_t channel, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        all.out[place + i] = all.bias[channel + i] + (residual ? residual[place + i] : 0.0f);
    });
  }

  void clip(const TiledConvWork& share, const ConvolutionRows& all, const OutputTile& tile) const {
    for_outputs(share, tile, [&](int64_t place, int64_t, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        float& value = all.out[place + i];
        value = value < all.low ? all.low : value > all.high ? all.high : value;  // NaN stays
      }
    });
  }

  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> zeros_ = std::vector<float>(  // the bias of all taps
      static_cast<size_t>(rounded_up(f_.outputs, kConvolutionUnit)));
};

std::shared_ptr<const Buffer> tap_weights(const KernelRequest& request, const ConvParams& form,
                                          std::span<const int64_t> channels) {
  const int64_t size = packed_windows_size(form.inputs, form.outputs), taps = form.taps();
  const int64_t units = (form.outputs + kConvolutionUnit - 1) / kConvolutionUnit;
  const std::string name = text("kn2row in ", form.groups);
  return packed_floats_once(request, 1, name, form.groups * taps * size, [&](float* to) {
    const LooseFloat* from = peek_floats(*request.inputs[1].constant);
    parallel_for_each(form.groups * taps * units, request.threads, [&](int64_t task) {
      const int64_t matrix = task / units, first = task % units * kConvolutionUnit;
      const int64_t output = matrix / taps * form.outputs + first;
      pack_conv_weights(from + output * form.elements() + matrix % taps, form.elements(), channels,
                        std::min(kConvolutionUnit, form.outputs - first),
                        to + matrix * size + first * form.inputs);
    });
  });
}

}  // namespace

Prepared prepare_conv_kn2row(const KernelRequest& request, const ops::ConvAttrs& attrs,
                             const ops::FusedActivation& activation) {
  const auto made = [&](const ConvParams& form) {
    ConvParams one_tap = form;
    one_tap.kernel[0] = one_tap.kernel[1] = 1;
    IndirectionBuffer walk = make_indirection(one_tap);
    for (int64_t& channel : walk.order)
      channel *= form.taps();
    TiledConvWeights weights{std::move(walk.offsets), tap_weights(request, form, walk.order),
                             packed_bias_in_groups(request, form.groups, kConvolutionUnit)};
    return accept_tiled(
        std::make_unique<ConvKn2rowKernel>(form, std::move(weights), request.threads), "kn2row",
        form, request);
  };
  return prepare_igemm_tiles(request, attrs, activation, conv_kn2row_params, why_unsupported_kn2row,
                             made);
}

}  // namespace sardonyx::cpu
