// Gradients of MaxPool and AveragePool by their input, on float32 with up to three spatial axes.
#include <omp.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ir/ops/pool.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"

namespace sardonyx::cpu {
namespace {

constexpr size_t kAxes = 3;

// The windows along one spatial axis: for each output the taps inside the input.
struct Axis {
  struct Reach {
    int64_t first = 0;    // element of the first tap inside
    int64_t taps = 1;     // inside the input
    int64_t counted = 1;  // inside the input and its padding
  };
  int64_t in = 1, dilation = 1;
  std::vector<Reach> outputs = {Reach{}};
  int64_t out() const { return static_cast<int64_t>(outputs.size()); }
};

Axis axis_of(const ops::Window& window, size_t axis) {
  Axis result{window.in[axis], window.dilations[axis], {}};
  const int64_t padded = window.in[axis] + window.pads_begin[axis] + window.pads_end[axis];
  for (int64_t output = 0; output < window.out[axis]; ++output) {
    const int64_t start = window.start(axis, output);
    const auto inside =
        ops::taps_inside(start, window.kernel[axis], window.dilations[axis], window.in[axis]);
    const auto counted = ops::taps_inside(output * window.strides[axis], window.kernel[axis],
                                          window.dilations[axis], padded);
    result.outputs.push_back(
        {start + inside.begin * window.dilations[axis], inside.count(), counted.count()});
  }
  return result;
}

// Missing axes come first and have one element.
struct Geometry {
  std::array<Axis, kAxes> axes;
  int64_t channels = 0;

  Geometry(const ops::Window& window, const Shape& x) : channels(x[0] * x[1]) {
    for (size_t axis = 0; axis < window.rank(); ++axis)
      axes[kAxes - window.rank() + axis] = axis_of(window, axis);
  }
  int64_t in_size() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t out_size() const { return axes[0].out() * axes[1].out() * axes[2].out(); }
};

// The taps of one window: visit(element of the channel).
struct WindowAt {
  const Geometry& g;
  Axis::Reach reach[kAxes];

  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (int64_t d = 0; d < reach[0].taps; ++d) {
      const int64_t plane = (reach[0].first + d * g.axes[0].dilation) * g.axes[1].in;
      for (int64_t h = 0; h < reach[1].taps; ++h) {
        const int64_t row = (plane + reach[1].first + h * g.axes[1].dilation) * g.axes[2].in;
        for (int64_t w = 0; w < reach[2].taps; ++w)
          visit(row + reach[2].first + w * g.axes[2].dilation);
      }
    }
  }
  int64_t taps() const { return reach[0].taps * reach[1].taps * reach[2].taps; }
  int64_t counted() const { return reach[0].counted * reach[1].counted * reach[2].counted; }
};

template <typename Visit>
void for_each_window(const Geometry& g, const Visit& visit) {
  int64_t output = 0;
  for (const Axis::Reach& d : g.axes[0].outputs) {
    for (const Axis::Reach& h : g.axes[1].outputs) {
      for (const Axis::Reach& w : g.axes[2].outputs)
        visit(output++, WindowAt{g, {d, h, w}});
    }
  }
}

template <typename Body>
void for_each_channel(const Geometry& g, int threads, const Body& body) {
  const int64_t work = g.channels * (g.in_size() + g.out_size());
  const auto wanted = static_cast<int>(
      std::min({static_cast<int64_t>(threads), g.channels, work / kElementsPerThread + 1}));
#pragma omp parallel for num_threads(wanted) if (wanted > 1)
  for (int64_t channel = 0; channel < g.channels; ++channel)
    body(channel);
}

class MaxPoolGrad : public Kernel {
 public:
  MaxPoolGrad(Geometry geometry, int threads) : g_(std::move(geometry)), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto* d_y = static_cast<const float*>(args.inputs[0]);
    const auto* x = static_cast<const float*>(args.inputs[1]);
    auto* d_x = static_cast<float*>(args.outputs[0]);
    for_each_channel(g_, threads_, [&](int64_t channel) {
      one(d_y + channel * g_.out_size(), x + channel * g_.in_size(), d_x + channel * g_.in_size());
    });
  }

 private:
  // The first of equal elements is the one that was taken; NaN loses to every number.
  void one(const float* d_y, const float* x, float* d_x) const {
    std::fill_n(d_x, g_.in_size(), 0.f);
    for_each_window(g_, [&](int64_t output, const WindowAt& window) {
      int64_t best = -1;
      window.for_each([&](int64_t at) {
        if (best < 0 || x[best] != x[best] || x[at] > x[best]) best = at;
      });
      if (best >= 0) d_x[best] += d_y[output];
    });
  }

  Geometry g_;
  int threads_;
};

class AveragePoolGrad : public Kernel {
 public:
  AveragePoolGrad(Geometry geometry, bool counts_padding, int threads)
      : g_(std::move(geometry)), counts_padding_(counts_padding), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto* d_y = static_cast<const float*>(args.inputs[0]);
    auto* d_x = static_cast<float*>(args.outputs[0]);
    for_each_channel(g_, threads_, [&](int64_t channel) {
      one(d_y + channel * g_.out_size(), d_x + channel * g_.in_size());
    });
  }

 private:
  void one(const float* d_y, float* d_x) const {
    std::fill_n(d_x, g_.in_size(), 0.f);
    for_each_window(g_, [&](int64_t output, const WindowAt& window) {
      const int64_t count = counts_padding_ ? window.counted() : window.taps();
      const float share = d_y[output] / static_cast<float>(count);
      window.for_each([&](int64_t at) { d_x[at] += share; });
    });
  }

  Geometry g_;
  bool counts_padding_;
  int threads_;
};

const char* refusal(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat) return "only float is computed here";
  if (request.outputs[0].shape.size() > kAxes + 2) return "only up to 3 spatial axes";
  return nullptr;
}

Geometry geometry_of(const KernelRequest& request, const ops::PoolAttrs& attrs) {
  const Shape& x = request.outputs[0].shape;
  return Geometry(ops::pool_window(request.op.name, attrs, x), x);
}

Prepared prepare_max_pool_grad(const KernelRequest& request) {
  if (const char* why = refusal(request)) return Prepared::refuse(why);
  return Prepared::accept(
      std::make_unique<MaxPoolGrad>(geometry_of(request, request.attrs<ops::MaxPoolAttrs>()),
                                    request.threads),
      "portable");
}

Prepared prepare_average_pool_grad(const KernelRequest& request) {
  if (const char* why = refusal(request)) return Prepared::refuse(why);
  const auto& attrs = request.attrs<ops::AveragePoolAttrs>();
  return Prepared::accept(
      std::make_unique<AveragePoolGrad>(geometry_of(request, attrs), attrs.count_include_pad,
                                        request.threads),
      "portable");
}

constexpr KernelEntry kEntries[] = {
    {"sardonyx::MaxPoolGrad", "pool-gradient", prepare_max_pool_grad},
    {"sardonyx::AveragePoolGrad", "pool-gradient", prepare_average_pool_grad},
};

}  // namespace

std::span<const KernelEntry> pool_gradient_entries() {
  return kEntries;
}

}  // namespace sardonyx::cpu
