#include "providers/cpu/conv/conv_igemm.h"
#include "ir/core/threading/parallel_for.h"

#include <algorithm>
#include <cstring>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/conv/igemm_f32.h"
#include "providers/cpu/conv/tiled_conv.h"

namespace sardonyx::cpu {
namespace {

class ConvIgemmKernel : public TiledConvKernel {
 public:
  ConvIgemmKernel(const ConvParams& form, TiledConvWeights weights, int threads)
      : TiledConvKernel(form, std::move(weights), threads, /*may_share_outputs=*/true) {}

 private:
  void pad(const TiledConvWork& share, int64_t image, int64_t group,
           const OutputTile& tile) const override {
    const ImageSteps from = f_.in_steps(), to = f_.read_steps();
    const float* source = input(share, image, group);
    const int64_t interleaved = f_.channels_interleaved(), rows = f_.covered(0, tile.rows);
    for (int64_t begin = 0; begin < f_.inputs; begin += interleaved) {
      const int64_t channels = std::min(interleaved, f_.inputs - begin);
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t in_row = tile.row * f_.stride[0] + row - f_.pad[0];
        float* target = share.padded + begin / interleaved * to.block + row * to.row;
        if (in_row < 0 || in_row >= f_.height)
          std::fill_n(target, f_.covered(1, tile.columns) * to.column, 0.0f);
        else
          pad_row(source + begin / interleaved * from.block + in_row * from.row, from.column,
                  channels, tile, target, to.column);
      }
    }
  }

  void pad_row(const float* from, int64_t from_step, int64_t channels, const OutputTile& tile,
               float* to, int64_t to_step) const {
    const auto [begin, end, first] = padded_columns(tile);
    const int64_t width = f_.covered(1, tile.columns);
    std::fill_n(to, begin * to_step, 0.0f);
    std::fill_n(to + end * to_step, (width - end) * to_step, 0.0f);
    if (begin == end) return;
    from += first * from_step;
    to += begin * to_step;
    if (from_step == to_step) {
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
    const ImageSteps in = f_.read_steps(), out = f_.out_steps();
    const int64_t channel = group * f_.outputs;
    const int64_t place =
        place_of(image, tile) +
        (f_.to == ImageOrder::kPixels ? channel : channel / kChannelBlock * out.block);
    ConvolutionRows rows;
    rows.in = first_window(share, image, group, tile);
    rows.offsets = offsets();
    rows.weights = weights() + group * weights_size();
    rows.bias = bias() + group * rounded_up(f_.outputs, kConvolutionUnit);
    rows.residual =
        f_.has_residual ? static_cast<const float*>(share.args.inputs[3]) + place : nullptr;
    rows.out = static_cast<float*>(share.args.outputs[0]) + place;
    rows.in_row = f_.stride[0] * in.row;
    rows.in_column = f_.stride[1] * in.column;
    rows.out_steps = out;
    rows.columns = tile.columns;
    rows.outputs = f_.outputs;
    rows.low = f_.finish.low;
    rows.high = f_.finish.high;
    const int64_t products = tile.rows * tile.columns * f_.elements() * kConvolutionUnit;
    const int64_t most = std::max<int64_t>(kProductsPerPoll / products, 1) * kConvolutionUnit;
    const auto [begin, end] = share.outputs;
    for (int64_t output = begin; output < end; output += most) {
      if (output > begin && share.sign.ask()) return false;
      convolve_rows(rows, 0, tile.rows, output, std::min(end, output + most));
    }
    return true;
  }

  void apply(const TiledConvWork& share, int64_t image, const OutputTile& tile) const override {
    const IndexRange outputs = shares_outputs_ ? share.outputs : IndexRange{0, f_.out_channels()};
    apply_to_pixels(*f_.finish.function,
                    static_cast<float*>(share.args.outputs[0]) + place_of(image, tile),
                    tile.rows * tile.columns, f_.out_steps(), f_.to == ImageOrder::kBlocks,
                    outputs.begin, outputs.end);
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
      pack_conv_weights(from + (group * form.outputs + first) * form.elements(), order,
                        std::min(kConvolutionUnit, form.outputs - first),
                        to + group * size + first * form.elements());
    });
  });
}

}  // namespace

Prepared prepare_conv_igemm(const KernelRequest& request, const ops::ConvAttrs& attrs,
                            const ops::FusedActivation& activation) {
  if (const char* why = why_unsupported_image(request, true)) return Prepared::refuse(why);
  const KernelTensor &x = request.inputs[0], &w = request.inputs[1], &y = request.outputs[0];
  const auto finish = make_epilogue(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  const ops::Window window = ops::conv_window(request.op.name, attrs, x.shape, w.shape);
  const ConvParams form = conv_params(request, window, attrs.group, *finish);
  if (const char* why = why_unsupported(form)) return Prepared::refuse(why);
  IndirectionBuffer walk = make_indirection(form);
  TiledConvWeights weights{std::move(walk.offsets), packed_weights(request, form, walk.order),
                           packed_bias_in_groups(request, form.groups, kConvolutionUnit)};
  Prepared prepared = Prepared::accept(
      std::make_unique<ConvIgemmKernel>(form, std::move(weights), request.threads), "direct");
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[0] = layout_for(form.from, x.shape);
  prepared.output_layouts = {layout_for(form.to, y.shape)};
  if (form.has_residual) prepared.input_layouts[3] = prepared.output_layouts[0];
  prepared.unread_inputs = 1u << 1 | 1u << 2;
  return prepared;
}

}  // namespace sardonyx::cpu
