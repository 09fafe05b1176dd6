#include "providers/cpu/conv/qconv_igemm.h"
#include "ir/core/threading/parallel_for.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

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
    return multiply(share, windows_of(share, image, group, tile), tile.rows);
  }

  void apply(const TiledConvWork&, int64_t, const OutputTile&) const override {}

  const RequantizeParams finish_;
  const bool source_is_signed_;
  const int32_t source_zero_;

 protected:
  // The windows of a tile.
  ConvU8S8Args windows_of(const TiledConvWork& share, int64_t image, int64_t group,
                          const OutputTile& tile) const {
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
    return windows;
  }

  // Computes `rows` rows of windows. Returns false once the run is cancelled.
  bool multiply(const TiledConvWork& share, const ConvU8S8Args& windows, int64_t rows) const {
    const int64_t products = rows * windows.columns * f_.elements() * kU8S8Unit;
    const int64_t most = std::max<int64_t>(kProductsPerPoll / products, 1) * kU8S8Unit;
    const auto [begin, end] = share.outputs;
    for (int64_t output = begin; output < end; output += most) {
      if (output > begin && share.sign.ask()) return false;
      run_igemm_u8s8(windows, 0, rows, output, std::min(end, output + most));
    }
    return true;
  }
};

// Outputs whose windows read the image by the same taps, in one rectangle of them.
struct ConvPart {
  IndexRange rows, columns;
  std::vector<IndexRange> quads;  // those of a window that are multiplied
  std::vector<int32_t> start;     // initial sums: of the zero point's products, those of the taps
};

// Windows that reach far outside: the image is read in place, and taps that would read padding are
// left out.
class ConvU8S8InsideKernel final : public ConvU8S8Kernel {
 public:
  ConvU8S8InsideKernel(const ConvParams& form, TiledConvWeights weights, RequantizeParams finish,
                       const QConvCall& call, std::vector<ConvPart> parts)
      : ConvU8S8Kernel(form, std::move(weights), std::move(finish), call),
        parts_(std::move(parts)) {}

 private:
  void pad(const TiledConvWork&, int64_t, int64_t, const OutputTile&) const override {}

  bool convolve(const TiledConvWork& share, int64_t image, int64_t group,
                const OutputTile& tile) const override {
    const int64_t padded = rounded_up(f_.outputs, kU8S8Unit);
    for (const ConvPart& part : parts_) {
      const int64_t row = std::max(part.rows.begin, tile.row);
      const int64_t column = std::max(part.columns.begin, tile.column);
      const OutputTile cut{row, column, std::min(part.rows.end, tile.row + tile.rows) - row,
                           std::min(part.columns.end, tile.column + tile.columns) - column};
      if (cut.rows <= 0 || cut.columns <= 0) continue;
      ConvU8S8Args windows = windows_of(share, image, group, cut);
      windows.parts = part.quads;
      windows.start = part.start.data() + group * padded;
      if (!multiply(share, windows, cut.rows)) return false;
    }
    return true;
  }

  const std::vector<ConvPart> parts_;
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

// The sums of the weights of each output's taps, [outputs][taps].
std::shared_ptr<const Buffer> tap_sums(const QConvCall& call, const ConvParams& form) {
  const int64_t count = form.out_channels() * form.taps(), inputs = form.inputs * kVnniGroup;
  return packed_once(call.request, call.slots.w, "sums of taps " + call.weights.form(),
                     static_cast<size_t>(count) * sizeof(int32_t), [&](std::byte* to) {
                       auto* sums = reinterpret_cast<int32_t*>(to);
                       const int8_t* from = call.weights.elements();
                       std::fill_n(sums, count, 0);
                       for (int64_t output = 0; output < form.out_channels(); ++output) {
                         for (int64_t input = 0; input < inputs; ++input) {
                           for (int64_t tap = 0; tap < form.taps(); ++tap)
                             sums[output * form.taps() + tap] += *from++;
                         }
                       }
                     });
}

// The taps of the rows `down` and the columns `along` of a window, in pieces of adjacent ones.
std::vector<IndexRange> pieces_of(const ConvParams& form, IndexRange down, IndexRange along) {
  const int64_t columns = form.kernel[1];
  if (along.end - along.begin == columns) return {{down.begin * columns, down.end * columns}};
  std::vector<IndexRange> pieces;
  for (int64_t row = down.begin; row < down.end; ++row)
    pieces.push_back({row * columns + along.begin, row * columns + along.end});
  if (pieces.empty()) pieces.push_back({0, 0});
  return pieces;
}

// The rectangles that make up the output. `place` is that of an output in the initial sums.
std::vector<ConvPart> parts_of(const QConvCall& call, const ConvParams& form, int64_t places,
                               const std::function<int64_t(int64_t)>& place) {
  const auto buffer = tap_sums(call, form);
  const auto* sums = reinterpret_cast<const int32_t*>(buffer->data());
  std::vector<ConvPart> parts;
  for (const TapsInside& down : taps_inside(form, 0)) {
    for (const TapsInside& along : taps_inside(form, 1)) {
      std::vector<IndexRange> pieces = pieces_of(form, down.taps, along.taps);
      const auto sum = [&](int64_t output) {
        int32_t total = 0;
        for (const auto& [begin, end] : pieces) {
          for (int64_t tap = begin; tap < end; ++tap)
            total += sums[output * form.taps() + tap];
        }
        return total;
      };
      std::vector<int32_t> start =
          make_requantize(call, form.out_channels(), places, place, sum).start;
      for (IndexRange& piece : pieces)
        piece = {piece.begin * form.inputs, piece.end * form.inputs};
      parts.push_back({down.windows, along.windows, std::move(pieces), std::move(start)});
    }
  }
  return parts;
}

ConvParams form_of(const QConvCall& call) {
  return conv_int8_params(call.x(), call.w(), call.y(), call.window, call.groups,
                          ImageOrder::kPixels, /*is_copied=*/call.source_is_signed());
}

// The form that leaves out taps in the padding; nullopt where that does not pay. Signed images are
// copied, since products take their bytes for unsigned ones.
std::optional<ConvParams> inside_form_of(const QConvCall& call) {
  if (call.source_is_signed()) return std::nullopt;
  const ConvParams form =
      conv_int8_inside_params(call.x(), call.w(), call.y(), call.window, call.groups);
  return why_unsupported_int8_inside(form) ? std::nullopt : std::optional(form);
}

// Sums over all channels of a group.
Prepared prepare_qconv_igemm(const QConvCall& call) {
  const std::optional<ConvParams> inside = inside_form_of(call);
  const ConvParams form = inside ? *inside : form_of(call);
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
  TiledConvWeights weights{offsets_of(form), packed, nullptr};
  if (inside) {
    return accept_int8(
        call,
        std::make_unique<ConvU8S8InsideKernel>(form, std::move(weights), std::move(finish), call,
                                               parts_of(call, form, form.groups * padded, place)),
        "igemm_u8s8 inside");
  }
  return accept_int8(
      call, std::make_unique<ConvU8S8Kernel>(form, std::move(weights), std::move(finish), call),
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
