#include "providers/cpu/conv/conv_igemm.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ir/core/threading/parallel_for.h"
#include "providers/cpu/conv/conv_igemm_kernel.h"
#include "providers/cpu/gemm/pack_transposed.h"

namespace sardonyx::cpu {
namespace {

class ConvIgemmKernel final : public IgemmTileKernel {
 public:
  using IgemmTileKernel::IgemmTileKernel;

 private:
  void pad(const TiledConvWork& share, int64_t image, int64_t group,
           const OutputTile& tile) const override {
    const ImageSteps from = f_.in_steps(), to = f_.read_steps();
    const float* source = input(share, image, group);
    const int64_t interleaved = f_.channels_interleaved(), rows = f_.covered(0, tile.rows);
    const bool is_planes = f_.from == ImageOrder::kPlanes;
    for (int64_t begin = 0; begin < f_.inputs; begin += interleaved) {
      const int64_t channels = std::min(interleaved, f_.inputs - begin);
      const int64_t first_block = is_planes ? begin : begin / interleaved;
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t in_row = tile.row * f_.stride[0] + row - f_.pad[0];
        float* target = share.padded + begin / interleaved * to.block + row * to.row;
        if (in_row < 0 || in_row >= f_.height)
          std::fill_n(target, f_.covered(1, tile.columns) * to.column, 0.0f);
        else
          pad_row(source + first_block * from.block + in_row * from.row, from, channels, tile,
                  target, to.column);
      }
    }
  }

  void pad_row(const float* from, const ImageSteps& steps, int64_t channels, const OutputTile& tile,
               float* to, int64_t to_step) const {
    const int64_t from_step = steps.column;
    const auto [begin, end, first] = padded_columns(tile);
    const int64_t width = f_.covered(1, tile.columns);
    std::fill_n(to, begin * to_step, 0.0f);
    std::fill_n(to + end * to_step, (width - end) * to_step, 0.0f);
    if (begin == end) return;
    from += first * from_step;
    to += begin * to_step;
    if (f_.from != f_.read && f_.from == ImageOrder::kPlanes) {
      pack_transposed(from, steps.block, channels, end - begin, to, to_step);
    } else if (from_step == to_step) {
      // The copy ends with the last pixel's channels of this group: the image may end there.
      const int64_t elements = (end - begin - 1) * to_step + channels;
      std::memcpy(to, from, static_cast<size_t>(elements) * sizeof(float));
    } else {
      copy_pixels(from, from_step, channels, end - begin, to);
    }
  }

  // Copies pixels into blocks of kChannelBlock floats. A whole block is copied where the row is
  // long enough: the elements behind the group's channels have no weights, so their values do not
  // matter.
  static void copy_pixels(const float* from, int64_t from_step, int64_t channels, int64_t count,
                          float* to) {
    const int64_t behind = std::max<int64_t>(kChannelBlock - channels, 0);
    const int64_t whole = std::max<int64_t>(count - (behind + from_step - 1) / from_step, 0);
    for (int64_t column = 0; column < whole; ++column, from += from_step, to += kChannelBlock)
      std::memcpy(to, from, kChannelBlock * sizeof(float));
    for (int64_t column = whole; column < count; ++column, from += from_step, to += kChannelBlock)
      std::copy_n(from, channels, to);
  }

  bool convolve(const TiledConvWork& share, int64_t image, int64_t group,
                const OutputTile& tile) const override {
    const ImageSteps in = f_.read_steps();
    const int64_t place = first_output(image, group, tile);
    ConvolutionRows rows = rows_to(share, group, tile, place);
    if (f_.is_transposed) {
      rows.out = share.results;
      rows.out_steps = image_steps(false, f_.outputs, tile.rows, tile.columns);
    }
    rows.in = first_window(share, image, group, tile);
    rows.offsets = offsets();
    rows.weights = weights() + group * weights_size();
    rows.residual =
        f_.has_residual ? static_cast<const float*>(share.args.inputs[3]) + place : nullptr;
    rows.in_row = f_.stride[0] * in.row;
    rows.in_column = f_.stride[1] * in.column;
    if (!multiply(share, rows, tile.rows)) return false;
    if (f_.is_transposed) transpose(share, rows, tile, place);
    return true;
  }

  // Applies the activation to the results of a tile and writes them as planes; `place` is that of
  // the first one.
  void transpose(const TiledConvWork& share, const ConvolutionRows& rows, const OutputTile& tile,
                 int64_t place) const {
    const auto [begin, end] = share.outputs;
    const int64_t pixels = tile.rows * tile.columns, plane = f_.out_steps().block;
    if (f_.finish.function) {
      apply_to_pixels(*f_.finish.function, rows.out, pixels, rows.out_steps, false, begin, end);
    }
    auto* to = static_cast<float*>(share.args.outputs[0]) + place;
    for (int64_t first = begin; first < end; first += kPlanesAtOnce) {
      pack_transposed(rows.out + first, f_.outputs, pixels, std::min(kPlanesAtOnce, end - first),
                      to + first * plane, plane);
    }
  }

  // Planes that are written at a time: each is on a page of its own, and processors know the
  // addresses of few pages that are written.
  static constexpr int64_t kPlanesAtOnce = 8;

  void apply(const TiledConvWork& share, int64_t image, const OutputTile& tile) const override {
    if (!f_.is_transposed) IgemmTileKernel::apply(share, image, tile);
  }
};

std::shared_ptr<const Buffer> packed_weights(const KernelRequest& request, const ConvParams& form,
                                             const std::vector<int64_t>& order) {
  const std::string name = text("direct in ", form.groups, " by ", static_cast<int>(form.read));
  const int64_t size = packed_windows_size(form.elements(), form.outputs);
  return packed_floats_once(request, 1, name, form.groups * size, [&](float* to) {
    const LooseFloat* from = peek_floats(*request.inputs[1].constant);
    const int64_t units = (form.outputs + kConvolutionUnit - 1) / kConvolutionUnit;
    parallel_for_each(form.groups * units, request.threads, [&](int64_t task) {
      const int64_t group = task / units, first = task % units * kConvolutionUnit;
      pack_conv_weights(from + (group * form.outputs + first) * form.elements(), form.elements(),
                        order, std::min(kConvolutionUnit, form.outputs - first),
                        to + group * size + first * form.elements());
    });
  });
}

}  // namespace

int64_t IgemmTileKernel::first_output(int64_t image, int64_t group, const OutputTile& tile) const {
  const int64_t channel = group * f_.outputs, block = f_.out_steps().block;
  const int64_t place = place_of(image, tile);
  if (f_.to == ImageOrder::kPixels) return place + channel;
  return place + (f_.to == ImageOrder::kPlanes ? channel : channel / kChannelBlock) * block;
}

ConvolutionRows IgemmTileKernel::rows_to(const TiledConvWork& share, int64_t group,
                                         const OutputTile& tile, int64_t place) const {
  ConvolutionRows rows{};
  rows.bias = bias() + group * rounded_up(f_.outputs, kConvolutionUnit);
  rows.out = static_cast<float*>(share.args.outputs[0]) + place;
  rows.out_steps = f_.out_steps();
  rows.columns = tile.columns;
  rows.outputs = f_.outputs;
  rows.low = f_.finish.low;
  rows.high = f_.finish.high;
  return rows;
}

bool IgemmTileKernel::multiply(const TiledConvWork& share, ConvolutionRows rows,
                               int64_t count) const {
  // Rows that follow each other in memory are one: it fills the tiles of the micro-kernel better.
  if (rows.in_row == rows.columns * rows.in_column &&
      rows.out_steps.row == rows.columns * rows.out_steps.column)
    rows.columns *= std::exchange(count, 1);
  const int64_t products =
      count * rows.columns * static_cast<int64_t>(rows.offsets.size()) * kConvolutionUnit;
  const int64_t most = std::max<int64_t>(kProductsPerPoll / products, 1) * kConvolutionUnit;
  const auto [begin, end] = share.outputs;
  for (int64_t output = begin; output < end; output += most) {
    if (output > begin && share.sign.ask()) return false;
    convolve_rows(rows, 0, count, output, std::min(end, output + most));
  }
  return true;
}

void IgemmTileKernel::apply(const TiledConvWork& share, int64_t image,
                            const OutputTile& tile) const {
  const IndexRange outputs = shares_outputs_ ? share.outputs : IndexRange{0, f_.out_channels()};
  apply_to_pixels(*f_.finish.function,
                  static_cast<float*>(share.args.outputs[0]) + place_of(image, tile),
                  tile.rows * tile.columns, f_.out_steps(), f_.to == ImageOrder::kBlocks,
                  outputs.begin, outputs.end);
}

Prepared prepare_conv_igemm(const KernelRequest& request, const ops::ConvAttrs& attrs,
                            const ops::FusedActivation& activation) {
  const auto made = [&](const ConvParams& form) {
    IndirectionBuffer walk = make_indirection(form);
    TiledConvWeights weights{std::move(walk.offsets), packed_weights(request, form, walk.order),
                             packed_bias_in_groups(request, form.groups, kConvolutionUnit)};
    return accept_tiled(
        std::make_unique<ConvIgemmKernel>(form, std::move(weights), request.threads), "direct",
        form, request);
  };
  return prepare_igemm_tiles(request, attrs, activation, conv_params, why_unsupported, made);
}

}  // namespace sardonyx::cpu
