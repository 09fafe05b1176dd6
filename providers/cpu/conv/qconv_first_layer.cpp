#include <algorithm>
#include <cstring>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/conv/conv_params.h"
#include "providers/cpu/conv/igemm_u8s8.h"
#include "providers/cpu/conv/qconv_igemm.h"

namespace sardonyx::cpu {
namespace {

// Rows of planes with padding at their ends.
struct QConvFirstLayerParams {
  ConvParams f;       // elements are bytes
  int64_t rows;       // output rows computed from one tile of planes
  int64_t row_bytes;  // of a padded row
  int64_t quads;      // of a row of a window

  int64_t planes_rows_read() const { return f.covered(0, rows); }
  int64_t window_quads() const { return f.inputs * f.kernel[0] * quads; }
  // The last VNNI group may reach beyond the window; its weights are zero there.
  int64_t tile_bytes() const {
    return rounded_up(f.inputs * planes_rows_read() * row_bytes + kVnniGroup, kU8S8Unit);
  }
};

QConvFirstLayerParams first_layer_params(const QConvCall& call) {
  constexpr int64_t kNearBytes = 32 << 10;  // the most bytes of a tile, beside weights and results
  QConvFirstLayerParams form{
      conv_int8_params(call.x(), call.w(), call.y(), call.window, 1, ImageOrder::kPlanes,
                       /*is_copied=*/true),
      1, 0, 0};
  ConvParams& f = form.f;
  f.inputs = call.w()[1];
  form.row_bytes = f.covered(1, f.out_width) + kVnniGroup;
  form.quads = (f.kernel[1] + kVnniGroup - 1) / kVnniGroup;
  const auto are_near = [&](int64_t rows) {
    QConvFirstLayerParams more = form;
    more.rows = rows;
    return more.tile_bytes() <= kNearBytes;
  };
  while (form.rows < f.out_height && are_near(form.rows + 1))
    ++form.rows;
  return form;
}

class QConvFirstLayerKernel : public Kernel {
 public:
  QConvFirstLayerKernel(const QConvFirstLayerParams& form, std::shared_ptr<const Buffer> weights,
                        RequantizeParams finish, const QConvCall& call)
      : form_(form),
        weights_(std::move(weights)),
        finish_(std::move(finish)),
        flips_(call.source_is_signed() ? 0x80 : 0),
        zero_(call.source_zero()) {
    const ConvParams& f = form_.f;
    for (int64_t input = 0; input < f.inputs; ++input) {
      for (int64_t row = 0; row < f.kernel[0]; ++row) {
        const int64_t first =
            (input * form_.planes_rows_read() + row * f.dilation[0]) * form_.row_bytes;
        for (int64_t quad = 0; quad < form_.quads; ++quad)
          offsets_.push_back(static_cast<int32_t>(first + quad * kVnniGroup));
      }
    }
    tiles_ = (f.out_height + form_.rows - 1) / form_.rows;
    threads_ = static_cast<int>(std::min<int64_t>(call.request.threads, f.images * tiles_));
  }

  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * form_.tile_bytes());
  }

  void run(const KernelArgs& args) const override {
    const int64_t tiles = form_.f.images * tiles_;
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      auto* planes = reinterpret_cast<uint8_t*>(args.scratch) + part * form_.tile_bytes();
      for (int64_t tile = tiles * part / parts; tile < tiles * (part + 1) / parts; ++tile) {
        if (sign.ask()) return;
        run_tile(args, tile / tiles_, tile % tiles_ * form_.rows, planes);
      }
    });
  }

 private:
  void run_tile(const KernelArgs& args, int64_t image, int64_t row, uint8_t* planes) const {
    const ConvParams& f = form_.f;
    const auto* in =
        static_cast<const uint8_t*>(args.inputs[0]) + image * f.inputs * f.height * f.width;
    uint8_t* to = planes;
    for (int64_t input = 0; input < f.inputs; ++input) {
      for (int64_t k = 0; k < form_.planes_rows_read(); ++k, to += form_.row_bytes) {
        const int64_t at = row * f.stride[0] - f.pad[0] + k;
        const bool is_inside = at >= 0 && at < f.height;
        pad_row(is_inside ? in + (input * f.height + at) * f.width : nullptr, to);
      }
    }
    ConvU8S8Args windows;
    windows.in = planes;
    windows.offsets = offsets_;
    windows.weights = reinterpret_cast<const int8_t*>(weights_->data());
    windows.start = finish_.start.data();
    windows.scales = finish_.scales.data();
    windows.zero = finish_.zero;
    windows.result = finish_.is_signed ? U8S8Output::kInt8 : U8S8Output::kUInt8;
    windows.out = static_cast<uint8_t*>(args.outputs[0]) +
                  (image * f.out_height + row) * f.out_width * f.outputs;
    windows.in_row = f.stride[0] * form_.row_bytes;
    windows.in_column = f.stride[1];
    windows.out_row = f.out_width * f.outputs;
    windows.out_column = f.outputs;
    windows.columns = f.out_width;
    windows.outputs = f.outputs;
    run_igemm_u8s8(windows, 0, std::min(form_.rows, f.out_height - row), 0, f.outputs);
  }

  void pad_row(const uint8_t* from, uint8_t* to) const {
    const ConvParams& f = form_.f;
    std::memset(to, zero_, static_cast<size_t>(form_.row_bytes));
    // A negative pad crops the input.
    const int64_t ahead = std::max<int64_t>(f.pad[1], 0), first = std::max<int64_t>(-f.pad[1], 0);
    const int64_t count = std::min(f.width - first, form_.row_bytes - ahead);
    if (!from || count <= 0) return;
    to += ahead;
    std::memcpy(to, from + first, static_cast<size_t>(count));
    for (int64_t i = 0; flips_ != 0 && i < count; ++i)
      to[i] ^= flips_;
  }

  const QConvFirstLayerParams form_;
  const std::shared_ptr<const Buffer> weights_;
  const RequantizeParams finish_;
  const uint8_t flips_;  // bits of the source
  const int32_t zero_;
  std::vector<int32_t> offsets_;
  int64_t tiles_ = 0;  // of an image
  int threads_ = 1;
};

// Packs rows of windows padded to whole VNNI groups, then the sums of all outputs' weights.
std::shared_ptr<const Buffer> packed_weights(const QConvCall& call,
                                             const QConvFirstLayerParams& form) {
  const ConvParams& f = form.f;
  const int64_t panels = packed_igemm_u8s8_size(form.window_quads(), f.outputs);
  const auto bytes = static_cast<size_t>(panels) + static_cast<size_t>(f.outputs) * sizeof(int32_t);
  return packed_once(
      call.request, call.slots.w, "planes " + call.weights.form(), bytes, [&](std::byte* to) {
        const int64_t row = form.quads * kVnniGroup, window = form.window_quads() * kVnniGroup;
        std::vector<int8_t> rows(static_cast<size_t>(f.outputs * window));
        const int8_t* from = call.weights.elements();
        for (int64_t at = 0; at < f.outputs * window; at += row, from += f.kernel[1])
          std::copy_n(from, f.kernel[1], rows.data() + at);
        pack_igemm_u8s8(rows.data(), window, 1, 0, f.outputs, reinterpret_cast<int8_t*>(to),
                        reinterpret_cast<int32_t*>(to + panels));
      });
}

const char* why_unsupported(const QConvCall& call, const QConvFirstLayerParams& form) {
  constexpr int64_t kMaxBytes = 1 << 22, kMaxQuads = 1 << 12;
  constexpr double kMaxProducts = int64_t{1} << 31;  // some milliseconds
  const ConvParams& f = form.f;
  if (call.groups != 1) return "there are groups of odd channels";
  if (call.request.inputs[call.slots.x].layout) return "channels are not in planes";
  if (f.dilation[1] != 1) return "windows are dilated";
  const double window =
      static_cast<double>(f.inputs * f.kernel[0]) * static_cast<double>(form.quads);
  if (window > kMaxQuads || form.row_bytes > kMaxBytes) return "windows are large";
  if (static_cast<double>(f.inputs) * static_cast<double>(form.planes_rows_read()) *
          static_cast<double>(form.row_bytes) >
      kMaxBytes)
    return "tiles are large";
  const double products = window * static_cast<double>(kVnniGroup * f.out_width * form.rows) *
                          static_cast<double>(f.outputs);
  return products > kMaxProducts ? "tiles take long" : nullptr;
}

}  // namespace

Prepared prepare_qconv_first_layer(const QConvCall& call) {
  const QConvFirstLayerParams form = first_layer_params(call);
  if (const char* why = why_unsupported(call, form)) return Prepared::refuse(why);
  auto weights = packed_weights(call, form);
  const auto* sums =
      reinterpret_cast<const int32_t*>(weights->data() + weights->size()) - form.f.outputs;
  RequantizeParams finish = make_requantize(
      call, form.f.outputs, rounded_up(form.f.outputs, kU8S8Unit),
      [](int64_t output) { return output; }, [&](int64_t output) { return sums[output]; });
  return accept_int8(
      call,
      std::make_unique<QConvFirstLayerKernel>(form, std::move(weights), std::move(finish), call),
      "first_layer_u8s8", /*reads_planes=*/true);
}

}  // namespace sardonyx::cpu
