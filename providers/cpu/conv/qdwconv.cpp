#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/conv/conv_params.h"
#include "providers/cpu/conv/dwconv_u8s8.h"
#include "providers/cpu/conv/qconv_igemm.h"

namespace sardonyx::cpu {
namespace {

// An element of a window, or of that of the next column; kNone: none.
struct TapPosition {
  static constexpr int64_t kNone = -2;
  int64_t row, column;
};

struct QDepthwiseParams {
  ConvParams f;     // of one group; elements are bytes
  int64_t repeats;  // pixels that fill a block of channels, where windows are next to each other
  bool in_pairs;    // two columns share the elements of their windows
  std::vector<TapPosition> taps;  // row by row, in groups

  int64_t channels() const { return f.outputs; }
  int64_t reach() const { return f.covered(1, 1); }  // columns of the input under a window
  // Bytes behind the last column of a window that may be read with it.
  int64_t behind() const { return kDwConvBlock + channels(); }
};

constexpr size_t kMaxTaps = 256;

// Rows of windows of up to three elements, of which the next column's are all but the first: a
// group holds the elements of both.
QDepthwiseParams qdepthwise_params(const QConvCall& call) {
  QDepthwiseParams form{
      conv_int8_params(call.x(), call.w(), call.y(), call.window, 1, ImageOrder::kPixels, false),
      1,
      false,
      {}};
  ConvParams& f = form.f;
  f.inputs = f.outputs;
  if (f.stride[1] == 1 && f.outputs < kDwConvBlock && kDwConvBlock % f.outputs == 0)
    form.repeats = kDwConvBlock / f.outputs;
  else
    form.in_pairs =
        f.stride[1] == 1 && f.dilation[1] == 1 && f.kernel[1] > 1 && f.kernel[1] < kTapsPerTile;
  const int64_t columns = form.in_pairs ? kTapsPerTile : f.kernel[1];
  for (int64_t row = 0; row < f.kernel[0]; ++row) {
    for (int64_t column = 0; column < columns; ++column)
      form.taps.push_back(
          {row, column < f.kernel[1] + (form.in_pairs ? 1 : 0) ? column : TapPosition::kNone});
  }
  while (form.taps.size() % kTapsPerTile != 0)
    form.taps.push_back({0, TapPosition::kNone});
  return form;
}

// Rows are read from the image; columns whose windows reach outside are read from a padded copy.
class QDwConvKernel : public Kernel {
 public:
  QDwConvKernel(QDepthwiseParams form, std::shared_ptr<const Buffer> weights,
                RequantizeParams finish, const QConvCall& call)
      : form_(std::move(form)),
        weights_(std::move(weights)),
        finish_(std::move(finish)),
        source_is_signed_(call.source_is_signed()),
        source_zero_(call.x_zero),
        threads_(call.request.threads) {
    const ConvParams& f = form_.f;
    row_bytes_ = f.width * form_.channels();
    patch_row_ = form_.reach() * form_.channels();
    all_rows_ = f.images * f.height;
    last_rows_ = std::min(all_rows_, (form_.behind() + row_bytes_ - 1) / row_bytes_);
    const int64_t ahead = std::max<int64_t>(f.pad[1], 0);  // a negative pad crops
    first_whole_ = std::min((ahead + f.stride[1] - 1) / f.stride[1], f.out_width);
    const int64_t last_start = f.width - form_.reach() + f.pad[1];
    const int64_t whole = last_start < 0 ? 0 : last_start / f.stride[1] + 1;
    end_whole_ = std::clamp(whole, first_whole_, f.out_width);
    constexpr double kMinProducts = 1 << 16;
    const auto rows = static_cast<double>(f.images * f.out_height);
    const double products = rows * static_cast<double>(f.out_width * form_.channels()) *
                            static_cast<double>(form_.taps.size());
    threads_ = static_cast<int>(
        std::min({static_cast<double>(threads_), std::max(products / kMinProducts, 1.0), rows}));
  }

  size_t scratch_bytes() const override { return static_cast<size_t>(threads_) * thread_scratch(); }

  void run(const KernelArgs& args) const override {
    const int64_t rows = form_.f.images * form_.f.out_height;
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      auto* scratch =
          reinterpret_cast<uint8_t*>(args.scratch) + static_cast<size_t>(part) * thread_scratch();
      std::memset(scratch, source_zero_, zeros_bytes());
      std::memcpy(scratch + zeros_bytes(), row_of(args, all_rows_ - last_rows_),
                  static_cast<size_t>(last_rows_ * row_bytes_));
      for (int64_t row = rows * part / parts; row < rows * (part + 1) / parts; ++row) {
        if (sign.ask()) return;
        run_row(args, row, scratch);
      }
    });
  }

 private:
  static size_t whole_lines(int64_t bytes) {
    return static_cast<size_t>(rounded_up(bytes, kDwConvBlock));
  }
  // The scratch of a thread: a row of padding, a copy of the last rows (the kernel reads beyond the
  // end of a row), and the windows of one column.
  size_t zeros_bytes() const { return whole_lines(row_bytes_ + form_.behind()); }
  size_t last_bytes() const { return whole_lines(last_rows_ * row_bytes_ + form_.behind()); }
  size_t patch_bytes() const {
    return whole_lines(form_.f.kernel[0] * patch_row_ + form_.behind());
  }
  size_t thread_scratch() const { return zeros_bytes() + last_bytes() + patch_bytes(); }

  // The rows of the input under a row of windows; null where they are outside.
  using Rows = std::array<const uint8_t*, kMaxTaps>;

  // Row `row` of the input, counted over all images.
  const uint8_t* row_of(const KernelArgs& args, int64_t row) const {
    return static_cast<const uint8_t*>(args.inputs[0]) + row * row_bytes_;
  }

  void run_row(const KernelArgs& args, int64_t row, uint8_t* scratch) const {
    const ConvParams& f = form_.f;
    const int64_t image = row / f.out_height, first = row % f.out_height * f.stride[0] - f.pad[0];
    Rows rows;
    for (int64_t k = 0; k < f.kernel[0]; ++k) {
      const int64_t at = first + k * f.dilation[0];
      const uint8_t*& from = rows[static_cast<size_t>(k)];
      const int64_t number = image * f.height + at, of_last = number - (all_rows_ - last_rows_);
      if (at < 0 || at >= f.height)
        from = nullptr;
      else
        from = of_last < 0 ? row_of(args, number) : scratch + zeros_bytes() + of_last * row_bytes_;
    }
    auto* out = static_cast<uint8_t*>(args.outputs[0]) + row * f.out_width * form_.channels();
    uint8_t* patch = scratch + zeros_bytes() + last_bytes();
    for (int64_t column = 0; column < first_whole_; ++column)
      run_at_border(rows, column, out, patch);
    if (first_whole_ < end_whole_) run_inside(rows, scratch, out);
    for (int64_t column = end_whole_; column < f.out_width; ++column)
      run_at_border(rows, column, out, patch);
  }

  void run_inside(const Rows& rows, const uint8_t* zeros, uint8_t* out) const {
    const int64_t start = first_whole_ * form_.f.stride[1] - form_.f.pad[1];
    convolve(
        [&](int64_t row) {
          const uint8_t* from = rows[static_cast<size_t>(row)];
          return (from ? from : zeros) + start * form_.channels();
        },
        end_whole_ - first_whole_, out + first_whole_ * form_.channels());
  }

  void run_at_border(const Rows& rows, int64_t column, uint8_t* out, uint8_t* patch) const {
    const ConvParams& f = form_.f;
    const int64_t channels = form_.channels(), start = column * f.stride[1] - f.pad[1];
    const int64_t begin = std::clamp<int64_t>(-start, 0, form_.reach());
    const int64_t end = std::clamp<int64_t>(f.width - start, begin, form_.reach());
    for (int64_t row = 0; row < f.kernel[0]; ++row) {
      uint8_t* to = patch + row * patch_row_;
      const uint8_t* from = rows[static_cast<size_t>(row)];
      const auto fill = [&](int64_t first, int64_t last) {
        std::memset(to + first * channels, source_zero_,
                    static_cast<size_t>((last - first) * channels));
      };
      if (!from) {
        fill(0, form_.reach());
        continue;
      }
      fill(0, begin);
      std::memcpy(to + begin * channels, from + (start + begin) * channels,
                  static_cast<size_t>((end - begin) * channels));
      fill(end, form_.reach());
    }
    convolve([&](int64_t row) { return patch + row * patch_row_; }, 1, out + column * channels);
  }

  // `first(row)` is where the first window has its first element in a row.
  void convolve(const auto& first, int64_t columns, uint8_t* out) const {
    const int64_t channels = form_.channels(), rest = columns % form_.repeats;
    std::array<const uint8_t*, kMaxTaps> taps;
    for (size_t i = 0; i < form_.taps.size(); ++i) {
      const auto& [row, column] = form_.taps[i];
      const bool is_one = column != TapPosition::kNone;
      taps[i] = first(is_one ? row : 0) + (is_one ? column * form_.f.dilation[1] * channels : 0);
    }
    ByteDepthwiseRow row;
    row.taps = std::span(taps).first(form_.taps.size());
    row.source_is_signed = source_is_signed_;
    row.weights = reinterpret_cast<const int8_t*>(weights_->data());
    row.start = finish_.start.data();
    row.scales = finish_.scales.data();
    row.zero = finish_.zero;
    row.is_signed = finish_.is_signed;
    row.in_pairs = form_.in_pairs;
    row.out = out;
    row.in_column = form_.f.stride[1] * channels * form_.repeats;
    row.out_column = channels * form_.repeats;
    row.columns = (columns + form_.repeats - 1) / form_.repeats;
    row.channels = channels * form_.repeats;
    row.last_channels = rest == 0 ? row.channels : rest * channels;
    convolve_byte_channels(row);
  }

  const QDepthwiseParams form_;
  const std::shared_ptr<const Buffer> weights_;
  const RequantizeParams finish_;
  const bool source_is_signed_;
  const int32_t source_zero_;  // a byte of the source
  int threads_;
  int64_t row_bytes_ = 0, patch_row_ = 0;
  int64_t all_rows_ = 0, last_rows_ = 0;     // of the input
  int64_t first_whole_ = 0, end_whole_ = 0;  // columns whose windows are inside
};

// Packs the weights as ByteDepthwiseRow reads them: blocks of kDwConvBlock channels, each with
// kTapsPerTile adjacent taps per channel.
std::shared_ptr<const Buffer> packed_weights(const QConvCall& call, const QDepthwiseParams& form) {
  const ConvParams& f = form.f;
  const int64_t columns = form.in_pairs ? 2 : 1, all = f.outputs * form.repeats;
  const int64_t part = kDwConvBlock * kTapsPerTile;  // of one group and column
  const int64_t block = static_cast<int64_t>(form.taps.size()) / kTapsPerTile * columns * part;
  const auto bytes = static_cast<size_t>(rounded_up(all, kDwConvBlock) / kDwConvBlock * block);
  const std::string name =
      text("channels ", form.repeats, " ", form.in_pairs, " ", call.weights.form());
  return packed_once(call.request, call.slots.w, name, bytes, [&](std::byte* out) {
    auto* to = reinterpret_cast<int8_t*>(out);
    std::fill_n(to, bytes, int8_t{0});
    const int8_t* weights = call.weights.elements();
    for (int64_t channel = 0; channel < all; ++channel) {
      const int8_t* window = weights + channel % f.outputs * f.kernel[0] * f.kernel[1];
      int8_t* lane = to + channel / kDwConvBlock * block +
                     place_in_block(channel) % kDwConvBlock * kTapsPerTile;
      for (size_t i = 0; i < form.taps.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        for (int64_t column = 0; column < columns; ++column) {
          const int64_t element = form.taps[i].column - column;
          if (element < 0 || element >= f.kernel[1]) continue;
          lane[(at / kTapsPerTile * columns + column) * part + at % kTapsPerTile] =
              window[form.taps[i].row * f.kernel[1] + element];
        }
      }
    }
  });
}

}  // namespace

Prepared prepare_qdwconv(const QConvCall& call) {
  QDepthwiseParams form = qdepthwise_params(call);
  if (form.taps.size() > kMaxTaps) return Prepared::refuse("windows are large");
  auto weights = packed_weights(call, form);
  const int64_t outputs = form.f.outputs * form.repeats,
                window = call.w().back() * (call.w().size() == 4 ? call.w()[2] : 1);
  const int8_t* from = call.weights.elements();
  const auto sum = [&](int64_t output) {
    return std::accumulate(from + output * window, from + (output + 1) * window, int32_t{0});
  };
  RequantizeParams finish =
      make_requantize(call, outputs, rounded_up(outputs, kDwConvBlock), place_in_block, sum);
  return accept_int8(
      call,
      std::make_unique<QDwConvKernel>(std::move(form), std::move(weights), std::move(finish), call),
      "dwconv_u8s8");
}

}  // namespace sardonyx::cpu
