// GroupNormalizationGrad on float32.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/normalization/batch_group_norm.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/normalization/channel_stats_kernel.h"

namespace sardonyx::cpu {
namespace {

double total_of(const LaneSums& sums) {
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// X as [batch, groups, channels of a group, positions].
class GroupNormalizationGrad : public Kernel {
 public:
  GroupNormalizationGrad(const Shape& x, const ops::GroupNormalizationGradAttrs& attrs, int threads)
      : batch_(x[0]),
        groups_(attrs.num_groups > 0 ? attrs.num_groups : x[1]),
        channels_(x[1] / groups_),
        positions_(element_count(x) / (x[0] * x[1])),
        epsilon_(attrs.epsilon) {
    const int64_t most = element_count(x) / kElementsPerThread + 1;
    threads_ = static_cast<int>(std::min({int64_t{threads}, batch_ * groups_, most}));
  }

  // The sums of each image's channels: which are added up in which order does not depend on the
  // threads.
  size_t scratch_bytes() const override {
    return static_cast<size_t>(2 * batch_ * groups_ * channels_) * sizeof(double);
  }
  bool may_alias(size_t output, size_t input) const override { return output == 0 && input < 2; }

  void run(const KernelArgs& args) const override {
    auto* products = reinterpret_cast<double*>(args.scratch);
    double* gradients = products + batch_ * groups_ * channels_;
    for_each_task(batch_ * groups_, threads_, channels_ * positions_, [&](int64_t group) {
      one(args, group, products + group * channels_, gradients + group * channels_);
    });
    add_images(products, static_cast<float*>(args.outputs[1]));
    add_images(gradients, static_cast<float*>(args.outputs[2]));
  }

 private:
  // What is in a group, by the number of the group among those of all images.
  void one(const KernelArgs& args, int64_t group, double* products, double* gradients) const {
    const int64_t size = channels_ * positions_;
    const auto* d_y = static_cast<const float*>(args.inputs[0]) + group * size;
    const auto* x = static_cast<const float*>(args.inputs[1]) + group * size;
    const float* scale = static_cast<const float*>(args.inputs[2]) + group % groups_ * channels_;
    auto* d_x = static_cast<float*>(args.outputs[0]) + group * size;
    const auto count = static_cast<double>(size);
    LaneSums sums{};
    add_elements(x, size, sums);
    const Lanes mean = all_lanes(static_cast<float>(total_of(sums) / count));
    LaneSums squares{};
    double along = 0, down = 0;  // of d_y * scale: its products with x - mean, its elements
    for (int64_t channel = 0; channel < channels_; ++channel) {
      const int64_t at = channel * positions_;
      LaneSums by_lane{}, by_product{};
      add_products(d_y + at, x + at, positions_, mean, squares, by_lane, by_product);
      products[channel] = total_of(by_product);
      gradients[channel] = total_of(by_lane);
      along += products[channel] * double{scale[channel]};
      down += gradients[channel] * double{scale[channel]};
    }
    const double inverse = 1 / std::sqrt(total_of(squares) / count + double{epsilon_});
    for (int64_t channel = 0; channel < channels_; ++channel) {
      const int64_t at = channel * positions_;
      spread(d_y + at, x + at, d_x + at, mean, double{scale[channel]}, inverse, down / count,
             along / count * inverse * inverse);
      products[channel] *= inverse;
    }
  }

  // d_x = (d_y * scale - down - (x - mean) * along) * inverse
  void spread(const float* d_y, const float* x, float* d_x, const Lanes& mean, double scale,
              double inverse, double down, double along) const {
    const auto shift = static_cast<float>(down / scale), pull = static_cast<float>(along / scale);
    if (std::isfinite(shift) && std::isfinite(pull)) {
      map_gradient(d_y, x, positions_, mean, all_lanes(static_cast<float>(scale * inverse)),
                   all_lanes(shift), all_lanes(pull), d_x);
    } else {  // nothing, or next to nothing, comes through this scale
      map_affine(x, positions_, mean, all_lanes(static_cast<float>(-along * inverse)),
                 all_lanes(static_cast<float>(-down * inverse)), d_x);
    }
  }

  void add_images(const double* sums, float* out) const {
    const int64_t channels = groups_ * channels_;
    for (int64_t channel = 0; channel < channels; ++channel) {
      double total = 0;
      for (int64_t n = 0; n < batch_; ++n)
        total += sums[n * channels + channel];
      out[channel] = static_cast<float>(total);
    }
  }

  int64_t batch_, groups_, channels_, positions_;
  float epsilon_;
  int threads_;
};

Prepared prepare_group_gradient(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const Shape& x = request.inputs[1].shape;
  if (element_count(x) == 0) return Prepared::refuse("there are no elements");
  return Prepared::accept(
      std::make_unique<GroupNormalizationGrad>(x, request.attrs<ops::GroupNormalizationGradAttrs>(),
                                               request.threads),
      "simd");
}

constexpr KernelEntry kGroupNormalizationGradEntries[] = {
    {"sardonyx::GroupNormalizationGrad", "group_norm_grad", prepare_group_gradient},
};

}  // namespace

std::span<const KernelEntry> group_norm_grad_kernels() {
  return kGroupNormalizationGradEntries;
}

}  // namespace sardonyx::cpu
