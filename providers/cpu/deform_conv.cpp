// DeformConv in two dims on float32: what the moved taps read is laid out as a matrix, which the
// weights are multiplied with.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/ops/conv_infer.h"
#include "ir/ops/convolution.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"
#include "providers/cpu/pointwise_rows.h"
#include "providers/cpu/rows.h"
#include "providers/cpu/tasks.h"

namespace sardonyx::cpu {
namespace {

// Pixels that are multiplied with all weights of a group while they are near.
constexpr int64_t kPixelsTogether = 4 * kPointwiseUnit;

enum DeformInput { kX, kW, kOffset, kB, kMask };

// Between four elements of a channel; what lies outside counts as 0.
struct Corners {
  int64_t at[4];
  float weight[4];
};

Corners corners_of(float y, float x, int64_t height, int64_t width) {
  Corners corners{};
  const float top = std::floor(y), left = std::floor(x);
  for (int k = 0; k < 4; ++k) {
    const float row = top + static_cast<float>(k / 2), column = left + static_cast<float>(k % 2);
    const bool is_inside = row >= 0 && row < static_cast<float>(height) && column >= 0 &&
                           column < static_cast<float>(width);
    if (!is_inside) continue;
    corners.at[k] = static_cast<int64_t>(row) * width + static_cast<int64_t>(column);
    corners.weight[k] = (k / 2 ? y - top : top + 1 - y) * (k % 2 ? x - left : left + 1 - x);
  }
  return corners;
}

class DeformKernel : public Kernel {
 public:
  explicit DeformKernel(const KernelRequest& request)
      : has_bias_(request.has(kB)), has_mask_(request.has(kMask)) {
    const auto& attrs = request.attrs<ops::DeformConvAttrs>();
    const Shape &x = request.inputs[kX].shape, &w = request.inputs[kW].shape;
    window_ = ops::make_window(ops::window_spec(request.op.name, attrs), ops::spatial_shape(x),
                               ops::spatial_shape(w));
    batch_ = x[0];
    channels_ = x[1];
    outputs_ = w[0];
    groups_ = attrs.group;
    offset_groups_ = attrs.offset_group;
    taps_ = w[2] * w[3];
    in_size_ = x[2] * x[3];
    out_size_ = window_.out[0] * window_.out[1];
    const int64_t work = channels_ * taps_ * out_size_;
    threads_ = static_cast<int>(std::min<int64_t>(request.threads, work / kElementsPerThread + 1));
  }

  // What the taps read, and for each thread a panel of that and no bias.
  size_t scratch_bytes() const override {
    return static_cast<size_t>(samples_size() + threads_ * panel_size()) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    auto* samples = reinterpret_cast<float*>(args.scratch);
    const int64_t members = outputs_ / groups_;
    const int64_t panels = (out_size_ + kPixelsTogether - 1) / kPixelsTogether;
    for (int64_t image = 0; image < batch_; ++image) {
      for_each_task(offset_groups_ * taps_, threads_, channels_ / offset_groups_ * out_size_,
                    [&](int64_t i) { sample(args, image, i / taps_, i % taps_, samples); });
      const int64_t products = members * channels_ / groups_ * taps_ * kPixelsTogether;
      for_each_task(groups_ * panels, threads_, products, [&](int64_t i) {
        const int64_t thread = threads_ > 1 ? omp_get_thread_num() : 0;
        multiply(args, image, i / panels, i % panels * kPixelsTogether, samples,
                 samples + samples_size() + thread * panel_size());
      });
    }
  }

 private:
  int64_t samples_size() const { return (channels_ * taps_ * out_size_ + 15) / 16 * 16; }
  int64_t panel_size() const { return (channels_ / groups_ * taps_ + 1) * kPixelsTogether; }

  // What all channels of an offset group give at one tap: a row of `samples` each.
  void sample(const KernelArgs& args, int64_t image, int64_t group, int64_t tap,
              float* samples) const {
    const int64_t members = channels_ / offset_groups_;
    const int64_t row = (image * offset_groups_ + group) * taps_ + tap;
    const float* offsets = static_cast<const float*>(args.inputs[kOffset]) + 2 * row * out_size_;
    const float* masks =
        has_mask_ ? static_cast<const float*>(args.inputs[kMask]) + row * out_size_ : nullptr;
    const float* x = static_cast<const float*>(args.inputs[kX]) +
                     (image * channels_ + group * members) * in_size_;
    float* out = samples + (group * members * taps_ + tap) * out_size_;
    const int64_t tap_y = tap / window_.kernel[1] * window_.dilations[0];
    const int64_t tap_x = tap % window_.kernel[1] * window_.dilations[1];
    for (int64_t at = 0; at < out_size_; ++at) {
      const auto y = static_cast<float>(window_.start(0, at / window_.out[1]) + tap_y);
      const auto column = static_cast<float>(window_.start(1, at % window_.out[1]) + tap_x);
      Corners corners = corners_of(y + offsets[at], column + offsets[out_size_ + at], window_.in[0],
                                   window_.in[1]);
      for (float& weight : corners.weight)
        weight *= masks ? masks[at] : 1;
      for (int64_t channel = 0; channel < members; ++channel) {
        const float* plane = x + channel * in_size_;
        float sum = 0;
        for (int k = 0; k < 4; ++k)  // what has no weight may be infinite
          sum += corners.weight[k] != 0 ? corners.weight[k] * plane[corners.at[k]] : 0;
        out[channel * taps_ * out_size_ + at] = sum;
      }
    }
  }

  // All outputs of a group at the pixels from `first` on.
  void multiply(const KernelArgs& args, int64_t image, int64_t group, int64_t first,
                const float* samples, float* panel) const {
    const int64_t length = channels_ / groups_ * taps_, members = outputs_ / groups_;
    const int64_t count = std::min(kPixelsTogether, out_size_ - first);
    float* none = panel + length * kPixelsTogether;
    std::fill_n(none, kPixelsTogether, 0.0f);
    pack_pointwise(samples + group * length * out_size_ + first, 1, out_size_, length, count,
                   panel);
    PointwiseRows product{};
    product.in = static_cast<const float*>(args.inputs[kW]) + group * members * length;
    product.weights = panel;
    product.bias = none;
    product.out = static_cast<float*>(args.outputs[0]) +
                  (image * outputs_ + group * members) * out_size_ + first;
    product.in_step = product.inputs = length;
    product.out_step = out_size_;
    product.outputs = count;
    product.low = -std::numeric_limits<float>::infinity();
    product.high = -product.low;
    multiply_pointwise(product, 0, members, 0, count);
    for (int64_t member = 0; has_bias_ && member < members; ++member) {
      const float* bias = static_cast<const float*>(args.inputs[kB]) + group * members + member;
      float* row = product.out + member * out_size_;
      binary_row(Binary::kAdd, row, true, bias, false, row, static_cast<size_t>(count));
    }
  }

  ops::Window window_;
  bool has_bias_, has_mask_;
  int64_t batch_, channels_, outputs_, groups_, offset_groups_, taps_, in_size_, out_size_;
  int threads_;
};

Prepared prepare_deform(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  if (request.inputs[kX].shape.size() != 4) return Prepared::refuse("only two dims are moved here");
  if (element_count(request.outputs[0].shape) == 0 || element_count(request.inputs[kX].shape) == 0)
    return Prepared::refuse("there are no elements");
  return Prepared::accept(std::make_unique<DeformKernel>(request), "rows");
}

constexpr KernelEntry kDeformEntries[] = {{"DeformConv", "rows", prepare_deform}};

}  // namespace

std::span<const KernelEntry> deform_entries() {
  return kDeformEntries;
}

}  // namespace sardonyx::cpu
