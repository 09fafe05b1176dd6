#include "providers/cpu/pooling/pool_grad.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/pooling/pool.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/lookup_table_limits.h"
#include "providers/cpu/pooling/max_pool_grad_kernel.h"

namespace sardonyx::cpu {
namespace {

constexpr size_t kAxes = 3;

// The windows along one spatial axis: for each output the taps inside the input.
struct PoolGradAxis {
  int64_t in = 1, stride = 1, dilation = 1, start = 0, kernel = 1;
  std::vector<int64_t> counted = {1};  // by output: taps inside the input and its padding

  int64_t out() const { return static_cast<int64_t>(counted.size()); }
  ops::TapRange taps_of(int64_t output) const {
    return ops::taps_inside(start + output * stride, kernel, dilation, in);
  }
  // The element that a tap of an output reads; may be outside the input.
  int64_t element(int64_t output, int64_t tap) const {
    return start + output * stride + tap * dilation;
  }
  // Outputs whose tap is inside the input: [begin, end).
  std::pair<int64_t, int64_t> outputs_of(int64_t tap) const {
    int64_t begin = 0, end = out();
    while (begin < end && element(begin, tap) < 0)
      ++begin;
    while (begin < end && element(end - 1, tap) >= in)
      --end;
    return {begin, end};
  }
};

PoolGradAxis pool_grad_axis(const ops::Window& window, size_t axis) {
  PoolGradAxis result{window.in[axis],       window.strides[axis], window.dilations[axis],
                      window.start(axis, 0), window.kernel[axis],  {}};
  const int64_t padded = window.in[axis] + window.pads_begin[axis] + window.pads_end[axis];
  for (int64_t output = 0; output < window.out[axis]; ++output) {
    const auto inside = ops::taps_inside(output * window.strides[axis], window.kernel[axis],
                                         window.dilations[axis], padded);
    result.counted.push_back(inside.count());
  }
  return result;
}

// The geometry of a pool with up to kAxes spatial axes; missing ones come first and have one
// element.
struct PoolGradGeometry {
  std::array<PoolGradAxis, kAxes> axes;
  int64_t images = 0;  // [images, spatial..., lanes]
  int64_t lanes = 1;

  PoolGradGeometry(const ops::Window& window, int64_t images, int64_t lanes)
      : images(images), lanes(lanes) {
    for (size_t axis = 0; axis < window.rank(); ++axis)
      axes[kAxes - window.rank() + axis] = pool_grad_axis(window, axis);
  }
  int64_t in_size() const { return axes[0].in * axes[1].in * axes[2].in * lanes; }
  int64_t out_size() const { return axes[0].out() * axes[1].out() * axes[2].out() * lanes; }
  int64_t row_size() const { return axes[2].out() * lanes; }  // of outputs
  // Windows of 2 x 2 elements that do not overlap, all inside the input.
  bool are_pairs() const {
    const auto is_single = [](const PoolGradAxis& axis) {
      return axis.kernel == 1 && axis.stride == 1 && axis.start == 0 && axis.out() == axis.in;
    };
    const auto is_pair = [](const PoolGradAxis& axis) {
      return axis.kernel == 2 && axis.stride == 2 && axis.dilation == 1 && axis.start == 0 &&
             2 * axis.out() <= axis.in;
    };
    return is_single(axes[0]) && is_pair(axes[1]) && is_pair(axes[2]) &&
           (lanes == 1 || lanes % 16 == 0);
  }
};

// One row of outputs of an image.
struct OutputRow {
  const PoolGradGeometry& g;
  int64_t d, h;

  // visit(first element, first output, outputs) for each tap in order: the elements that it reads
  // are `stride` positions apart.
  template <typename Visit>
  void for_each_tap(const Visit& visit) const {
    const auto [d_begin, d_end] = g.axes[0].taps_of(d);
    const auto [h_begin, h_end] = g.axes[1].taps_of(h);
    for (int64_t tap_d = d_begin; tap_d < d_end; ++tap_d) {
      for (int64_t tap_h = h_begin; tap_h < h_end; ++tap_h) {
        const int64_t row =
            g.axes[0].element(d, tap_d) * g.axes[1].in + g.axes[1].element(h, tap_h);
        for (int64_t tap = 0; tap < g.axes[2].kernel; ++tap) {
          const auto [begin, end] = g.axes[2].outputs_of(tap);
          if (begin < end)
            visit(row * g.axes[2].in + g.axes[2].element(begin, tap), begin, end - begin);
        }
      }
    }
  }
};

// body(image, sign, seat) with each image in one thread.
template <typename Body>
void for_each_image(const PoolGradGeometry& g, int threads, const Body& body) {
  const int64_t work = g.images * (g.in_size() + g.out_size());
  const auto wanted = static_cast<int>(
      std::min({static_cast<int64_t>(threads), g.images, work / kElementsPerThread + 1}));
  const CancelFlag sign;
  parallel_for(g.images, wanted, [&](int64_t begin, int64_t end, int seat) {
    for (int64_t image = begin; image < end && !sign.ask(); ++image)
      body(image, sign, seat);
  });
  sign.check();
}

template <typename Visit>
void for_each_row(const PoolGradGeometry& g, const CancelFlag& sign, const Visit& visit) {
  int64_t index = 0;
  for (int64_t d = 0; d < g.axes[0].out(); ++d) {
    for (int64_t h = 0; h < g.axes[1].out() && !sign.ask(); ++h)
      visit(index++ * g.row_size(), OutputRow{g, d, h});
  }
}

// Calls body with the number of lanes, as a constant where it is a usual one.
template <typename Body>
void with_lanes(int64_t lanes, const Body& body) {
  if (lanes == 1) return body(std::integral_constant<int64_t, 1>());
  if (lanes == 16) return body(std::integral_constant<int64_t, 16>());
  body(lanes);
}

class MaxPoolGrad : public Kernel {
 public:
  MaxPoolGrad(PoolGradGeometry geometry, int threads)
      : g_(std::move(geometry)), threads_(threads) {}

  size_t scratch_bytes() const override {
    return static_cast<size_t>(g_.row_size() * threads_) * (sizeof(float) + sizeof(int32_t));
  }

  void run(const KernelArgs& args) const override {
    const auto* d_y = static_cast<const float*>(args.inputs[0]);
    const auto* x = static_cast<const float*>(args.inputs[1]);
    auto* d_x = static_cast<float*>(args.outputs[0]);
    if (g_.are_pairs()) {
      return for_each_image(g_, threads_, [&](int64_t image, const CancelFlag& sign, int) {
        pairs(d_y + image * g_.out_size(), x + image * g_.in_size(), d_x + image * g_.in_size(),
              sign);
      });
    }
    for_each_image(g_, threads_, [&](int64_t image, const CancelFlag& sign, int seat) {
      auto* best = reinterpret_cast<float*>(args.scratch) + seat * g_.row_size();
      auto* from = reinterpret_cast<int32_t*>(args.scratch) + (threads_ + seat) * g_.row_size();
      with_lanes(g_.lanes, [&](auto lanes) {
        one(d_y + image * g_.out_size(), x + image * g_.in_size(), d_x + image * g_.in_size(), best,
            from, sign, lanes);
      });
    });
  }

 private:
  // Each element belongs to one window at most: nothing is added up.
  void pairs(const float* d_y, const float* x, float* d_x, const CancelFlag& sign) const {
    const int64_t line = g_.axes[2].in * g_.lanes, covered = 2 * g_.row_size();
    const int64_t rows = g_.axes[1].in, outputs = g_.axes[1].out();
    for (int64_t plane = 0; plane < g_.axes[0].in; ++plane) {
      for (int64_t h = 0; h < outputs && !sign.ask(); ++h, d_y += g_.row_size()) {
        const int64_t top = (plane * rows + 2 * h) * line, bottom = top + line;
        max_pool_gradient_pairs(x + top, x + bottom, d_y, static_cast<size_t>(g_.axes[2].out()),
                                static_cast<size_t>(g_.lanes), d_x + top, d_x + bottom);
        std::fill(d_x + top + covered, d_x + bottom, 0.f);
        std::fill(d_x + bottom + covered, d_x + bottom + line, 0.f);
      }
      std::fill_n(d_x + (plane * rows + 2 * outputs) * line, (rows - 2 * outputs) * line, 0.f);
    }
  }

  // The first of equal elements is the one that was taken; NaN loses to every number.
  template <typename Lanes>
  void one(const float* d_y, const float* x, float* d_x, float* best, int32_t* from,
           const CancelFlag& sign, Lanes lanes) const {
    std::fill_n(d_x, g_.in_size(), 0.f);
    const int64_t step = g_.axes[2].stride;
    for_each_row(g_, sign, [&](int64_t at, const OutputRow& row) {
      std::fill_n(best, g_.row_size(), std::numeric_limits<float>::quiet_NaN());
      std::fill_n(from, g_.row_size(), -1);
      row.for_each_tap([&](int64_t element, int64_t first, int64_t outputs) {
        if (g_.lanes == 1) return take_row(x, element, step, outputs, best + first, from + first);
        for (int64_t output = 0; output < outputs; ++output) {
          take(x + (element + output * step) * lanes, static_cast<int32_t>(element + output * step),
               best + (first + output) * lanes, from + (first + output) * lanes, lanes);
        }
      });
      for (int64_t i = 0; i < g_.row_size(); i += lanes) {
        for (int64_t lane = 0; lane < lanes; ++lane) {
          if (from[i + lane] >= 0) d_x[from[i + lane] * lanes + lane] += d_y[at + i + lane];
        }
      }
    });
  }

  static bool is_better(float x, float best) { return (best != best) | (x > best); }

  static void take_row(const float* x, int64_t element, int64_t step, int64_t outputs, float* best,
                       int32_t* from) {
#pragma omp simd
    for (int64_t output = 0; output < outputs; ++output) {
      const int64_t at = element + output * step;
      const bool taken = is_better(x[at], best[output]);
      best[output] = taken ? x[at] : best[output];
      from[output] = taken ? static_cast<int32_t>(at) : from[output];
    }
  }

  template <typename Lanes>
  static void take(const float* x, int32_t element, float* best, int32_t* from, Lanes lanes) {
#pragma omp simd
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const bool taken = is_better(x[lane], best[lane]);
      best[lane] = taken ? x[lane] : best[lane];
      from[lane] = taken ? element : from[lane];
    }
  }

  PoolGradGeometry g_;
  int threads_;
};

class AveragePoolGrad : public Kernel {
 public:
  AveragePoolGrad(PoolGradGeometry geometry, bool counts_padding, int threads)
      : g_(std::move(geometry)), counts_padding_(counts_padding), threads_(threads) {}

  size_t scratch_bytes() const override {
    return static_cast<size_t>(g_.row_size() * threads_) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    const auto* d_y = static_cast<const float*>(args.inputs[0]);
    auto* d_x = static_cast<float*>(args.outputs[0]);
    for_each_image(g_, threads_, [&](int64_t image, const CancelFlag& sign, int seat) {
      auto* shares = reinterpret_cast<float*>(args.scratch) + seat * g_.row_size();
      with_lanes(g_.lanes, [&](auto lanes) {
        one(d_y + image * g_.out_size(), d_x + image * g_.in_size(), shares, sign, lanes);
      });
    });
  }

 private:
  template <typename Lanes>
  void one(const float* d_y, float* d_x, float* shares, const CancelFlag& sign, Lanes lanes) const {
    std::fill_n(d_x, g_.in_size(), 0.f);
    const int64_t step = g_.axes[2].stride;
    for_each_row(g_, sign, [&](int64_t at, const OutputRow& row) {
      for (int64_t output = 0; output < g_.axes[2].out(); ++output) {
        const auto count = static_cast<float>(elements_of(row, output));
        for (int64_t lane = 0; lane < lanes; ++lane)
          shares[output * lanes + lane] = d_y[at + output * lanes + lane] / count;
      }
      row.for_each_tap([&](int64_t element, int64_t first, int64_t outputs) {
        for (int64_t output = 0; output < outputs; ++output) {
          const float* from = shares + (first + output) * lanes;
          float* to = d_x + (element + output * step) * lanes;
          for (int64_t lane = 0; lane < lanes; ++lane)
            to[lane] += from[lane];
        }
      });
    });
  }

  int64_t elements_of(const OutputRow& row, int64_t output) const {
    const std::array<int64_t, kAxes> at{row.d, row.h, output};
    int64_t count = 1;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      const PoolGradAxis& one = g_.axes[axis];
      count *= counts_padding_ ? one.counted[static_cast<size_t>(at[axis])]
                               : one.taps_of(at[axis]).count();
    }
    return count;
  }

  PoolGradGeometry g_;
  bool counts_padding_;
  int threads_;
};

Prepared prepare_max_gradient(const KernelRequest& request) {
  return max_pool_gradient(request, 1);
}
Prepared prepare_average_gradient(const KernelRequest& request) {
  return average_pool_gradient(request, 1);
}

constexpr KernelEntry kPoolGradientEntries[] = {
    {"sardonyx::MaxPoolGrad", "pool_grad", prepare_max_gradient},
    {"sardonyx::AveragePoolGrad", "pool_grad", prepare_average_gradient},
};

const char* refusal(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat) return "only float is computed here";
  const Shape& x = request.outputs[0].shape;
  if (x.size() > kAxes + 2) return "only up to 3 spatial axes";
  if (element_count(x) > std::numeric_limits<int32_t>::max()) return "there are too many elements";
  return nullptr;
}

// The geometry of the request's pool; nullopt where its tables would be too long, or a row of
// outputs takes too long.
std::optional<PoolGradGeometry> geometry_of(const KernelRequest& request,
                                            const ops::PoolAttrs& attrs, int64_t lanes) {
  const Shape& x = request.outputs[0].shape;
  const ops::Window window = ops::pool_window(request.op.name, attrs, x);
  constexpr int64_t kMaxTaps = 1 << 16;  // deadlines are looked at after each row
  if (element_count(window.kernel) > kMaxTaps ||
      *std::ranges::max_element(window.out) > kLongestTable)
    return std::nullopt;
  return PoolGradGeometry(window, x[0] * x[1] / lanes, lanes);
}

}  // namespace

Prepared max_pool_gradient(const KernelRequest& request, int64_t lanes) {
  if (const char* why = refusal(request)) return Prepared::refuse(why);
  auto geometry = geometry_of(request, request.attrs<ops::MaxPoolAttrs>(), lanes);
  if (!geometry) return Prepared::refuse("windows of this size are left to others");
  return Prepared::accept(std::make_unique<MaxPoolGrad>(std::move(*geometry), request.threads),
                          "simd");
}

Prepared average_pool_gradient(const KernelRequest& request, int64_t lanes) {
  if (const char* why = refusal(request)) return Prepared::refuse(why);
  const auto& attrs = request.attrs<ops::AveragePoolAttrs>();
  auto geometry = geometry_of(request, attrs, lanes);
  if (!geometry) return Prepared::refuse("windows of this size are left to others");
  return Prepared::accept(std::make_unique<AveragePoolGrad>(
                              std::move(*geometry), attrs.count_include_pad, request.threads),
                          "simd");
}

std::span<const KernelEntry> pool_grad_kernels() {
  return kPoolGradientEntries;
}

}  // namespace sardonyx::cpu
