// DeformConv in two dims on float32: what the moved taps read is laid out as a matrix, which the
// weights are multiplied with.
#include <algorithm>
#include <cmath>

#include "ir/ops/conv_infer.h"
#include "ir/ops/convolution.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"
#include "providers/cpu/rows.h"
#include "providers/cpu/tasks.h"
#include "providers/cpu/thin_product_rows.h"

namespace sardonyx::cpu {
namespace {

// Outputs that share what they read.
constexpr int64_t kOutputsTogether = 4;

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

  size_t scratch_bytes() const override {
    return static_cast<size_t>(channels_ * taps_ * out_size_) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    auto* samples = reinterpret_cast<float*>(args.scratch);
    const int64_t rows = kOutputsTogether;
    const int64_t members = outputs_ / groups_, blocks = (members + rows - 1) / rows;
    for (int64_t image = 0; image < batch_; ++image) {
      for_each_task(offset_groups_ * taps_, threads_, channels_ / offset_groups_ * out_size_,
                    [&](int64_t i) { sample(args, image, i / taps_, i % taps_, samples); });
      const int64_t products = rows * channels_ / groups_ * taps_ * out_size_;
      for_each_task(groups_ * blocks, threads_, products, [&](int64_t i) {
        const int64_t first = i / blocks * members + i % blocks * rows;
        multiply(args, image, i / blocks, first, std::min(rows, members - i % blocks * rows),
                 samples);
      });
    }
  }

 private:
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

  void multiply(const KernelArgs& args, int64_t image, int64_t group, int64_t first, int64_t count,
                const float* samples) const {
    const int64_t length = channels_ / groups_ * taps_;
    const auto* weights = static_cast<const float*>(args.inputs[kW]) + first * length;
    float* out = static_cast<float*>(args.outputs[0]) + (image * outputs_ + first) * out_size_;
    const auto depth = static_cast<size_t>(length), columns = static_cast<size_t>(out_size_);
    multiply_thin({weights, depth, samples + group * length * out_size_, columns, out, columns,
                   static_cast<size_t>(count), depth, columns});
    for (int64_t r = 0; has_bias_ && r < count; ++r) {
      const float* bias = static_cast<const float*>(args.inputs[kB]) + first + r;
      float* row = out + r * out_size_;
      binary_row(Binary::kAdd, row, true, bias, false, row, columns);
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
