#include "providers/cpu/conv/qconv_igemm.h"
#include "ir/core/threading/parallel_for.h"

#include <algorithm>
#include <cstring>

#include "providers/cpu/conv/igemm_u8s8.h"
#include "providers/cpu/conv/tiled_conv.h"

namespace sardonyx::cpu {
namespace {

// One element is 4 int8 channels, the depth of a VNNI dot product.
class ConvU8S8Kernel : public TiledConvKernel {
 public:
  ConvU8S8Kernel(const ConvParams& form, TiledConvWeights weights, RequantizeParams finish,
                 const QConvCall& call)
      : TiledConvKernel(form, std::move(weights), call.request.threads, /*may_share_outputs=*/true),
        finish_(std::move(finish)),
        source_is_signed_(call.source_is_signed()),
        source_zero_(call.source_zero()) {}

 private:
  void pad(const TiledConvWork& share, int64_t image, int64_t group,
           const OutputTile& tile) const override {
    const ImageSteps from = f_.in_steps(), to = f_.read_steps();
    const auto* source = reinterpret_cast<const uint8_t*>(input(share, image, group));
    auto* target = reinterpret_cast<uint8_t*>(share.padded);
    const auto [begin, end, first] = padded_columns(tile);
    const int64_t width = f_.covered(1, tile.columns), rows = f_.covered(0, tile.rows);
    const int64_t pixel = kVnniGroup * to.column;
    const auto fill = [&](int64_t first_column, int64_t columns) {
      std::memset(target + first_column * pixel, source_zero_,
                  static_cast<size_t>(columns * pixel));
    };
    for (int64_t row = 0; row < rows; ++row, target += kVnniGroup * to.row) {
      const int64_t in_row = tile.row * f_.stride[0] + row - f_.pad[0];
      if (in_row < 0 || in_row >= f_.height || begin == end) {
        fill(0, width);
        continue;
      }
      fill(0, begin);
      fill(end, width - end);
      copy(source + kVnniGroup * (in_row * from.row + first * from.column),
           kVnniGroup * from.column, end - begin, pixel, target + begin * pixel);
    }
  }

  // Copies `count` pixels of `bytes` bytes.
  void copy(const uint8_t* from, int64_t from_step, int64_t count, int64_t bytes,
            uint8_t* to) const {
    if (from_step == bytes) {
      bytes *= count;
      count = 1;
    }
    for (int64_t i = 0; i < count; ++i, from += from_step, to += bytes) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
      if (!source_is_signed_) continue;
      for (int64_t byte = 0; byte < bytes; ++byte)
        to[byte] ^= 0x80;
    }
  }

  bool convolve(const TiledConvWork& share, int64_t image, int64_t group,
                const OutputTile& tile) const override {
    const ImageSteps in = f_.read_steps(), out = f_.out_steps();
    const int64_t padded = rounded_up(f_.outputs, kU8S8Unit);
    ConvU8S8Args windows;
    windows.in = reinterpret_cast<const uint8_t*>(first_window(share, image, group, tile));
    windows.offsets = offsets();
    windows.weights = reinterpret_cast<const int8_t*>(weights() + group * weights_size());
    windows.start = finish_.start.data() + group * padded;
    windows.scales = finish_.scales.data() + group * padded;
    windows.zero = finish_.zero;
    windows.result = finish_.is_signed ? U8S8Output::kInt8 : U8S8Output::kUInt8;
    windows.out =
        static_cast<uint8_t*>(share.args.outputs[0]) + place_of(image, tile) + group * f_.outputs;
    windows.in_row = kVnniGroup * f_.stride[0] * in.row;
    windows.in_column = kVnniGroup * f_.stride[1] * in.column;
    windows.out_row = out.row;
    windows.out_column = out.column;
    windows.columns = tile.columns;
    windows.outputs = f_.outputs;
    const int64_t products = tile.rows * tile.columns * f_.elements() * kU8S8Unit;
    const int64_t most = std::max<int64_t>(kProductsPerPoll / products, 1) * kU8S8Unit;
    const auto [begin, end] = share.outputs;
    for (int64_t output = begin; output < end; output += most) {
      if (output > begin && share.sign.ask()) return false;
      run_igemm_u8s8(windows, 0, tile.rows, output, std::min(end, output + most));
    }
    return true;
  }

  void apply(const TiledConvWork&, int64_t, const OutputTile&) const override {}

  const RequantizeParams finish_;
  const bool source_is_signed_;
  const int32_t source_zero_;
};

// The packed weights, for each group: panels, then the sum of each output's weights.
std::shared_ptr<const Buffer> packed_weights(const QConvCall& call, const ConvParams& form) {
  const int64_t panels = packed_igemm_u8s8_size(form.elements(), form.outputs);
  const int64_t size = panels + form.outputs * static_cast<int64_t>(sizeof(int32_t));
  const int64_t window = form.elements() * kVnniGroup, taps = form.kernel[0] * form.kernel[1];
  const int64_t units = (form.outputs + kU8S8Unit - 1) / kU8S8Unit;
  const std::string name = text("quads in ", form.groups, " ", call.weights.form());
  const auto fill = [&](std::byte* out) {
    const int8_t* from = call.weights.elements();
    parallel_for_each(form.groups * units, call.request.threads, [&](int64_t task) {
      const int64_t group = task / units, unit = task % units;
      auto* to = reinterpret_cast<int8_t*>(out) + group * size;
      pack_igemm_u8s8(from + group * form.outputs * window, form.inputs * kVnniGroup, taps,
                      unit * kU8S8Unit, std::min(form.outputs, (unit + 1) * kU8S8Unit), to,
                      reinterpret_cast<int32_t*>(to + panels));
    });
  };
  return packed_once(call.request, call.slots.w, name, static_cast<size_t>(form.groups * size),
                     fill);
}

std::vector<int32_t> offsets_of(const ConvParams& form) {
  std::vector<int32_t> offsets = make_indirection(form).offsets;
  for (int32_t& offset : offsets)
    offset *= kVnniGroup;
  return offsets;
}

// Sums over all channels of a group.
Prepared prepare_qconv_igemm(const QConvCall& call) {
  const ConvParams form =
      conv_int8_params(call.x(), call.w(), call.y(), call.window, call.groups, ImageOrder::kPixels,
                       /*is_copied=*/call.source_is_signed());
  if (const char* why = why_unsupported_int8(form)) return Prepared::refuse(why);
  const auto packed = packed_weights(call, form);
  const int64_t padded = rounded_up(form.outputs, kU8S8Unit);
  const auto place = [&](int64_t output) {
    return output / form.outputs * padded + output % form.outputs;
  };
  const auto sum = [&](int64_t output) {
    const auto size = static_cast<int64_t>(packed->size()) / form.groups;
    const std::byte* end = packed->data() + size * (output / form.outputs + 1);
    return reinterpret_cast<const int32_t*>(end)[output % form.outputs - form.outputs];
  };
  RequantizeParams finish =
      make_requantize(call, form.out_channels(), form.groups * padded, place, sum);
  return accept_int8(
      call,
      std::make_unique<ConvU8S8Kernel>(form, TiledConvWeights{offsets_of(form), packed, nullptr},
                                       std::move(finish), call),
      "igemm_u8s8");
}

}  // namespace

Prepared prepare_qconv(const QConvCall& call) {
  const auto& [depthwise, first_layer, igemm] = kQConvKernels;
  if (const char* why = why_unsupported(call))
    return noted(call.request, igemm, Prepared::refuse(why));
  if (call.is_depthwise()) return noted(call.request, depthwise, prepare_qdwconv(call));
  if (call.w()[1] % kVnniGroup != 0)
    return noted(call.request, first_layer, prepare_qconv_first_layer(call));
  return noted(call.request, igemm, prepare_qconv_igemm(call));
}

}  // namespace sardonyx::cpu
