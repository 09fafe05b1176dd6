// Convolution of doubles and its gradients by im2col: the windows of a tile are copied into a
// matrix, so that each tile is a matrix product.
#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/conv.h"
#include "providers/cpu/conv/im2col/window_plane.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/gemm/gemm_generic_kernel.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

class DoubleConvolution : public Kernel {
 public:
  size_t scratch_bytes() const override {
    return static_cast<size_t>(shared_ + own_ * threads_) * sizeof(double);
  }

 protected:
  DoubleConvolution(const KernelRequest& request, const Shape& x, const Shape& w)
      : plane_(ops::conv_window(request.op.name, request.attrs<ops::ConvAttrs>(), x, w)),
        batch_(x[0]),
        groups_(request.attrs<ops::ConvAttrs>().group),
        inputs_(x[1] / groups_),
        outputs_(w[0] / groups_),
        depth_(inputs_ * plane_.taps()),
        rows_(products_of(DType::kDouble).rows),
        wanted_threads_(request.threads) {
    constexpr int64_t kTile = (256 << 10) / sizeof(double);  // elements that stay in a cache
    const int64_t places = std::max<int64_t>(kTile / (depth_ + outputs_) / 16 * 16, 16);
    tile_ = std::min(places, plane_.places());
  }

  // shared: doubles for all threads; own: for each of them.
  void set_work(int64_t tasks, int64_t shared, int64_t own) {
    tasks_ = tasks;
    shared_ = shared;
    own_ = own;
    const int64_t work = batch_ * groups_ * outputs_ * depth_ * plane_.places();
    threads_ = std::min({int64_t{wanted_threads_}, tasks, work / kElementsPerThread + 1});
  }

  template <typename Body>
  void for_each_work(const KernelArgs& args, const Body& body) const {
    auto* scratch = reinterpret_cast<double*>(args.scratch);
    const CancelFlag sign;
    parallel_workers(tasks_, static_cast<int>(threads_), [&](int seat, const auto& take) {
      take([&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end && !sign.ask(); ++task)
          body(task, scratch + shared_ + own_ * seat);
      });
    });
    sign.check();
  }

  // out[m, n] = a[m, k] * b[k, n]
  void multiply(const double* a, const double* b, double* out, int64_t m, int64_t n,
                int64_t k) const {
    for (int64_t row = 0; row < m; row += kProductRows)
      rows_(a + row * k, b, out + row * n, std::min(kProductRows, m - row), n, k);
  }
  int64_t tiles() const { return (plane_.places() + tile_ - 1) / tile_; }
  // Calls visit(first place, count) for each tile.
  template <typename Visit>
  void for_each_tile(const Visit& visit) const {
    for (int64_t first = 0; first < plane_.places(); first += tile_)
      visit(first, std::min(tile_, plane_.places() - first));
  }

  WindowPlane<double> plane_;
  int64_t batch_, groups_, inputs_, outputs_;  // channels: of a group
  int64_t depth_;                              // products that make an output
  int64_t tile_;

 private:
  ProductRows rows_;
  int wanted_threads_;
  int64_t tasks_ = 0, shared_ = 0, own_ = 0, threads_ = 1;
};

class Forward : public DoubleConvolution {
 public:
  Forward(const KernelRequest& request, const Shape& x, const Shape& w)
      : DoubleConvolution(request, x, w), has_bias_(request.has(2)) {
    set_work(batch_ * groups_ * tiles(), 0, (depth_ + outputs_) * tile_);
  }

  void run(const KernelArgs& args) const override {
    const auto* x = static_cast<const double*>(args.inputs[0]);
    const auto* w = static_cast<const double*>(args.inputs[1]);
    const auto* bias = has_bias_ ? static_cast<const double*>(args.inputs[2]) : nullptr;
    auto* y = static_cast<double*>(args.outputs[0]);
    for_each_work(args, [&](int64_t task, double* columns) {
      const int64_t part = task / tiles(), group = part % groups_;
      const int64_t first = task % tiles() * tile_;
      const int64_t count = std::min(tile_, plane_.places() - first);
      const double* from = x + part * inputs_ * plane_.elements();
      for (int64_t row = 0; row < depth_; ++row)
        plane_.gather(from + row / plane_.taps() * plane_.elements(), row % plane_.taps(), first,
                      count, columns + row * count);
      double* products = columns + depth_ * tile_;
      multiply(w + group * outputs_ * depth_, columns, products, outputs_, count, depth_);
      for (int64_t output = 0; output < outputs_; ++output) {
        double* to = y + (part * outputs_ + output) * plane_.places() + first;
        const double shift = bias ? bias[group * outputs_ + output] : 0;
        for (int64_t i = 0; i < count; ++i)
          to[i] = products[output * count + i] + shift;
      }
    });
  }

 private:
  bool has_bias_;
};

class InputGrad : public DoubleConvolution {
 public:
  InputGrad(const KernelRequest& request, const Shape& x, const Shape& w)
      : DoubleConvolution(request, x, w) {
    set_work(batch_ * groups_, groups_ * outputs_ * depth_, (depth_ + outputs_) * tile_);
  }

  void run(const KernelArgs& args) const override {
    const auto* d_y = static_cast<const double*>(args.inputs[0]);
    auto* d_x = static_cast<double*>(args.outputs[0]);
    auto* transposed = reinterpret_cast<double*>(args.scratch);  // by group: [depth, outputs]
    transpose_weights(static_cast<const double*>(args.inputs[1]), transposed);
    for_each_work(args, [&](int64_t part, double* columns) {
      double* to = d_x + part * inputs_ * plane_.elements();
      std::fill_n(to, inputs_ * plane_.elements(), 0.0);
      for_each_tile([&](int64_t first, int64_t count) {
        double* slopes = columns + depth_ * tile_;
        for (int64_t output = 0; output < outputs_; ++output)
          std::copy_n(d_y + (part * outputs_ + output) * plane_.places() + first, count,
                      slopes + output * count);
        multiply(transposed + part % groups_ * outputs_ * depth_, slopes, columns, depth_, count,
                 outputs_);
        for (int64_t row = 0; row < depth_; ++row)
          plane_.add_to(to + row / plane_.taps() * plane_.elements(), row % plane_.taps(), first,
                        count, columns + row * count);
      });
    });
  }

 private:
  void transpose_weights(const double* w, double* transposed) const {
    for (int64_t group = 0; group < groups_; ++group) {
      const int64_t at = group * outputs_ * depth_;
      for (int64_t output = 0; output < outputs_; ++output) {
        for (int64_t row = 0; row < depth_; ++row)
          transposed[at + row * outputs_ + output] = w[at + output * depth_ + row];
      }
    }
  }
};

// Each task takes some input channels of a group, so that no two write the same weights.
class WeightGrad : public DoubleConvolution {
 public:
  WeightGrad(const KernelRequest& request, const Shape& x, const Shape& w)
      : DoubleConvolution(request, x, w),
        blocks_((inputs_ + kChannels - 1) / kChannels),
        max_rows_(std::min(kChannels, inputs_) * plane_.taps()) {
    set_work(groups_ * blocks_, 0, (max_rows_ + outputs_) * tile_ + 2 * max_rows_ * outputs_);
  }

  void run(const KernelArgs& args) const override {
    auto* d_w = static_cast<double*>(args.outputs[0]);
    for_each_work(args, [&](int64_t task, double* columns) {
      const int64_t group = task / blocks_, channel = task % blocks_ * kChannels;
      const int64_t rows = std::min(kChannels, inputs_ - channel) * plane_.taps();
      double* sums = columns + (max_rows_ + outputs_) * tile_;
      std::fill_n(sums, rows * outputs_, 0.0);
      for (int64_t n = 0; n < batch_; ++n) {
        for_each_tile([&](int64_t first, int64_t count) {
          add_tile(args, n * groups_ + group, channel, rows, first, count, columns, sums);
        });
      }
      for (int64_t output = 0; output < outputs_; ++output) {
        double* to = d_w + (group * outputs_ + output) * depth_ + channel * plane_.taps();
        for (int64_t row = 0; row < rows; ++row)
          to[row] = sums[row * outputs_ + output];
      }
    });
  }

 private:
  static constexpr int64_t kChannels = 8;

  void add_tile(const KernelArgs& args, int64_t part, int64_t channel, int64_t rows, int64_t first,
                int64_t count, double* columns, double* sums) const {
    const auto* d_y =
        static_cast<const double*>(args.inputs[0]) + part * outputs_ * plane_.places() + first;
    const auto* x =
        static_cast<const double*>(args.inputs[1]) + (part * inputs_ + channel) * plane_.elements();
    double* slopes = columns + max_rows_ * tile_;  // [count, outputs]
    double* products = sums + max_rows_ * outputs_;
    for (int64_t row = 0; row < rows; ++row)
      plane_.gather(x + row / plane_.taps() * plane_.elements(), row % plane_.taps(), first, count,
                    columns + row * count);
    for (int64_t output = 0; output < outputs_; ++output) {
      for (int64_t i = 0; i < count; ++i)
        slopes[i * outputs_ + output] = d_y[output * plane_.places() + i];
    }
    multiply(columns, slopes, products, rows, outputs_, count);
    for (int64_t i = 0; i < rows * outputs_; ++i)
      sums[i] += products[i];
  }

  int64_t blocks_, max_rows_;
};

// The inputs that have the shapes of X and W; the output has the shape where there is no such
// input.
template <typename K, int x_input, int w_input>
Prepared prepare_double(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kDouble)
    return Prepared::refuse("only double is computed here");
  const auto shape_at = [&](int input) -> const Shape& {
    return (input < 0 ? request.outputs[0] : request.inputs[static_cast<size_t>(input)]).shape;
  };
  const Shape &x = shape_at(x_input), &w = shape_at(w_input);
  if (element_count(x) == 0 || element_count(w) == 0 || element_count(request.inputs[0].shape) == 0)
    return Prepared::refuse("there are no elements");
  return Prepared::accept(std::make_unique<K>(request, x, w), "tiles");
}

constexpr KernelEntry kDoubleConvolutionEntries[] = {
    {"Conv", "conv_f64", prepare_double<Forward, 0, 1>},
    {"sardonyx::ConvInputGrad", "conv_f64", prepare_double<InputGrad, -1, 1>},
    {"sardonyx::ConvWeightGrad", "conv_f64", prepare_double<WeightGrad, 1, -1>},
};

}  // namespace

std::span<const KernelEntry> conv_f64_kernels() {
  return kDoubleConvolutionEntries;
}

}  // namespace sardonyx::cpu
