#include "providers/cpu/normalization/batch_norm_training.h"

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

// The parameters of one group, one for each lane; 0 behind the last channel.
Lanes parameters(const float* list, const ChannelGroups& x, int64_t group) {
  if (x.lanes == 1) return all_lanes(list[group]);
  Lanes lanes = all_lanes(0);
  const int64_t first = group * x.lanes;
  std::copy_n(list + first, std::min(x.lanes, x.channels - first), lanes.begin());
  return lanes;
}

void write_parameters(const LaneSums& lanes, const ChannelGroups& x, int64_t group, float* list) {
  const int64_t first = group * x.lanes;
  const int64_t count = std::min(x.lanes, x.channels - first);
  for (int64_t lane = 0; lane < count; ++lane)
    list[first + lane] = static_cast<float>(lanes[static_cast<size_t>(lane)]);
}

Lanes narrowed(const LaneSums& wide) {
  Lanes lanes;
  std::ranges::transform(wide, lanes.begin(), [](double x) { return static_cast<float>(x); });
  return lanes;
}

template <typename F>
LaneSums each(const F& f) {
  LaneSums lanes;
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    lanes[lane] = f(lane);
  return lanes;
}

class ByGroups : public Kernel {
 protected:
  ByGroups(const ChannelGroups& x, int threads) : x_(x), threads_(threads) {}

  template <typename Body>
  void for_each_group(const Body& body) const {
    const int64_t groups = x_.groups();
    const int64_t work = x_.batch * x_.channels * x_.positions;
    const auto wanted =
        static_cast<int>(std::min({int64_t{threads_}, groups, work / kElementsPerThread + 1}));
    for_each_task(groups, wanted, work / groups, body);
  }

  // visit(offset, count) of each image's part of a group.
  template <typename Visit>
  void for_each_row(int64_t group, const Visit& visit) const {
    const int64_t count = x_.positions * x_.lanes;
    for (int64_t n = 0; n < x_.batch; ++n)
      visit((n * x_.groups() + group) * count, count);
  }

  // Sums by channel of what add(offset, count, sums) assembles.
  template <typename Add>
  LaneSums over_group(int64_t group, const Add& add) const {
    LaneSums sums{};
    for_each_row(group, [&](int64_t at, int64_t count) { add(at, count, sums); });
    return joined(sums);
  }
  // All lanes of a single channel are one.
  LaneSums joined(const LaneSums& sums) const {
    if (x_.lanes > 1) return sums;
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    return each([&](size_t) { return total; });
  }
  LaneSums mean_of(const float* x, int64_t group) const {
    const LaneSums sums = over_group(group, [&](int64_t at, int64_t count, LaneSums& into) {
      add_elements(x + at, count, into);
    });
    return each([&](size_t lane) { return sums[lane] / count(); });
  }
  double count() const { return static_cast<double>(x_.batch * x_.positions); }

  ChannelGroups x_;

 private:
  int threads_;
};

class Training : public ByGroups {
 public:
  Training(const ChannelGroups& x, const ops::BatchNormalizationAttrs& attrs,
           const KernelRequest& request)
      : ByGroups(x, request.threads),
        epsilon_(attrs.epsilon),
        momentum_(attrs.momentum),
        wants_mean_(request.wants(1)),
        wants_variance_(request.wants(2)) {}

  void run(const KernelArgs& args) const override {
    for_each_group([&](int64_t group) { one(args, group); });
  }
  bool may_alias(size_t output, size_t input) const override { return output == 0 && input == 0; }

 private:
  void one(const KernelArgs& args, int64_t group) const {
    const auto* x = static_cast<const float*>(args.inputs[0]);
    auto* y = static_cast<float*>(args.outputs[0]);
    const auto given = [&](size_t input) {
      return parameters(static_cast<const float*>(args.inputs[input]), x_, group);
    };
    const Lanes scale = given(1), bias = given(2);
    const LaneSums exact_mean = mean_of(x, group);
    const Lanes mean = narrowed(exact_mean);
    const LaneSums squares = over_group(group, [&](int64_t at, int64_t size, LaneSums& into) {
      add_squares(x + at, size, mean, into);
    });
    const LaneSums variance = each([&](size_t lane) { return squares[lane] / count(); });
    const LaneSums slope = each([&](size_t lane) {
      return double{scale[lane]} / std::sqrt(variance[lane] + double{epsilon_});
    });
    for_each_row(group, [&](int64_t at, int64_t size) {
      map_affine(x + at, size, mean, narrowed(slope), bias, y + at);
    });
    if (wants_mean_) update(args, 1, exact_mean, given(3), group);
    if (wants_variance_) update(args, 2, variance, given(4), group);
  }

  void update(const KernelArgs& args, size_t output, const LaneSums& now, const Lanes& before,
              int64_t group) const {
    const double keep = momentum_;
    const LaneSums next =
        each([&](size_t lane) { return double{before[lane]} * keep + now[lane] * (1 - keep); });
    write_parameters(next, x_, group, static_cast<float*>(args.outputs[output]));
  }

  float epsilon_, momentum_;
  bool wants_mean_, wants_variance_;
};

class Gradient : public ByGroups {
 public:
  Gradient(const ChannelGroups& x, float epsilon, int threads)
      : ByGroups(x, threads), epsilon_(epsilon) {}

  void run(const KernelArgs& args) const override {
    for_each_group([&](int64_t group) { one(args, group); });
  }
  bool may_alias(size_t output, size_t input) const override { return output == 0 && input < 2; }

 private:
  void one(const KernelArgs& args, int64_t group) const {
    const auto* d_y = static_cast<const float*>(args.inputs[0]);
    const auto* x = static_cast<const float*>(args.inputs[1]);
    const Lanes scale = parameters(static_cast<const float*>(args.inputs[2]), x_, group);
    auto* d_x = static_cast<float*>(args.outputs[0]);
    const Lanes mean = narrowed(mean_of(x, group));
    LaneSums squares{}, gradients{}, products{};
    for_each_row(group, [&](int64_t at, int64_t size) {
      add_products(d_y + at, x + at, size, mean, squares, gradients, products);
    });
    squares = joined(squares), gradients = joined(gradients), products = joined(products);
    const LaneSums inverse = each(
        [&](size_t lane) { return 1 / std::sqrt(squares[lane] / count() + double{epsilon_}); });
    const LaneSums along = each([&](size_t lane) { return products[lane] * inverse[lane]; });
    const Lanes slope = narrowed(each([&](size_t lane) { return scale[lane] * inverse[lane]; }));
    const Lanes shift = narrowed(each([&](size_t lane) { return gradients[lane] / count(); }));
    const Lanes pull =
        narrowed(each([&](size_t lane) { return along[lane] / count() * inverse[lane]; }));
    for_each_row(group, [&](int64_t at, int64_t size) {
      map_gradient(d_y + at, x + at, size, mean, slope, shift, pull, d_x + at);
    });
    write_parameters(along, x_, group, static_cast<float*>(args.outputs[1]));
    write_parameters(gradients, x_, group, static_cast<float*>(args.outputs[2]));
  }

  float epsilon_;
};

Prepared prepare_training(const KernelRequest& request) {
  if (!request.attrs<ops::BatchNormalizationAttrs>().training_mode)
    return Prepared::refuse("only training mode is computed here");
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  if (element_count(request.inputs[0].shape) == 0) return Prepared::refuse("there are no elements");
  return Prepared::accept(
      batch_normalization_in_training(ChannelGroups::of(request.inputs[0].shape, 1), request),
      "simd");
}

Prepared prepare_gradient(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  if (element_count(request.inputs[1].shape) == 0) return Prepared::refuse("there are no elements");
  return Prepared::accept(
      batch_normalization_gradient(ChannelGroups::of(request.inputs[1].shape, 1), request), "simd");
}

constexpr KernelEntry kBatchNormalizationEntries[] = {
    {"BatchNormalization", "batch_norm_training", prepare_training},
    {"sardonyx::BatchNormalizationGrad", "batch_norm_training", prepare_gradient},
};

}  // namespace

ChannelGroups ChannelGroups::of(const Shape& x, int64_t lanes) {
  ChannelGroups groups{x[0], x.size() > 1 ? x[1] : 1, 1, lanes};
  for (size_t axis = 2; axis < x.size(); ++axis)
    groups.positions *= x[axis];
  return groups;
}

std::unique_ptr<Kernel> batch_normalization_in_training(const ChannelGroups& x,
                                                        const KernelRequest& request) {
  return std::make_unique<Training>(x, request.attrs<ops::BatchNormalizationAttrs>(), request);
}

std::unique_ptr<Kernel> batch_normalization_gradient(const ChannelGroups& x,
                                                     const KernelRequest& request) {
  return std::make_unique<Gradient>(x, request.attrs<ops::InstanceNormalizationAttrs>().epsilon,
                                    request.threads);
}

std::span<const KernelEntry> batch_norm_training_kernels() {
  return kBatchNormalizationEntries;
}

}  // namespace sardonyx::cpu
