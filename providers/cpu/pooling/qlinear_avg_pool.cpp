// com.microsoft's QLinearAveragePool and QLinearGlobalAveragePool on row-major and channels-last
// tensors. Sums are exact; a mean is rounded to float once, then quantised as QuantizeLinear does
// it.
#include <algorithm>
#include <array>
#include <vector>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/pooling/pool.h"
#include "ir/ops/quantization/qlinear_attributes.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/pooling/avg_pool_u8_kernel.h"
#include "providers/cpu/quantization/int8_weights.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

constexpr int64_t kChannelsAtOnce = 256;
static_assert(kChannelsAtOnce % kMeansAtOnce == 0);
// The most taps of a window; sums of more bytes would overflow int32.
constexpr int64_t kMaxTaps = int64_t{1} << 23;

struct QLinearPoolInput {
  enum : size_t { kX, kXScale, kXZero, kYScale, kYZero };
};

// The windows with three spatial axes, the outer ones perhaps of size 1.
struct AvgPoolPlan {
  int64_t batch, channels;
  std::array<int64_t, 3> in, out, kernel, strides, pads;
  bool counts_padding = false;
  bool channels_last = false;    // in memory
  std::array<bool, 2> has_zero;  // of x and y
  int threads;

  int64_t in_count() const { return in[0] * in[1] * in[2]; }
  int64_t out_count() const { return out[0] * out[1] * out[2]; }
  int64_t kernel_count() const { return kernel[0] * kernel[1] * kernel[2]; }

  // The elements of an axis under a window.
  struct WindowTaps {
    int64_t begin, end;
    int64_t count() const { return end - begin; }
  };
  WindowTaps taps_of(size_t axis, int64_t output) const {
    const int64_t start = output * strides[axis] - pads[axis];
    return {std::max<int64_t>(start, 0), std::min(start + kernel[axis], in[axis])};
  }
  // Elements of a row of the input, with the padding that windows reach.
  int64_t line_length() const { return std::max(pads[2] + in[2], starts() - 1 + kernel[2]); }
  // The window positions at stride 1 from the first window of a row to the last one.
  int64_t starts() const { return (out[2] - 1) * strides[2] + 1; }
};

// A run of windows that cover equally many elements of a row each.
struct Segment {
  int64_t first, count, taps;
};

std::vector<Segment> segments_of(const AvgPoolPlan& plan) {
  std::vector<Segment> segments;
  for (int64_t output = 0; output < plan.out[2]; ++output) {
    const int64_t taps = plan.taps_of(2, output).count();
    if (segments.empty() || segments.back().taps != taps) segments.push_back({output, 0, taps});
    ++segments.back().count;
  }
  return segments;
}

// One run's tensors and scales.
template <typename T>
struct PoolRun {
  const T* x;
  T* y;
  float x_scale, y_scale;
  int32_t x_zero = 0, y_zero = 0;

  PoolRun(const AvgPoolPlan& plan, const KernelArgs& args)
      : x(static_cast<const T*>(args.inputs[QLinearPoolInput::kX])),
        y(static_cast<T*>(args.outputs[0])),
        x_scale(*static_cast<const float*>(args.inputs[QLinearPoolInput::kXScale])),
        y_scale(*static_cast<const float*>(args.inputs[QLinearPoolInput::kYScale])) {
    if (plan.has_zero[0]) x_zero = *static_cast<const T*>(args.inputs[QLinearPoolInput::kXZero]);
    if (plan.has_zero[1]) y_zero = *static_cast<const T*>(args.inputs[QLinearPoolInput::kYZero]);
  }

  // The requantization of sums of `taps` elements.
  MeanScale mean_of(const AvgPoolPlan& plan, int64_t taps) const {
    const int64_t count = plan.counts_padding ? plan.kernel_count() : taps;
    return {static_cast<int32_t>(taps * x_zero),
            static_cast<double>(x_scale) / static_cast<double>(count), y_scale, y_zero};
  }
};

int threads_of(const AvgPoolPlan& plan) {
  return plan.batch * plan.channels * plan.in_count() < 1 << 15 ? 1 : plan.threads;
}

// The windows of one position for many channels, whose results are contiguous.
template <typename T>
class ChannelPoolKernel : public Kernel {
 public:
  explicit ChannelPoolKernel(const AvgPoolPlan& plan) : plan_(plan) {}

  void run(const KernelArgs& args) const override {
    const PoolRun<T> run(plan_, args);
    const int64_t chunks = (plan_.channels + kChannelsAtOnce - 1) / kChannelsAtOnce;
    const int64_t positions = plan_.batch * plan_.out_count();
    const int64_t work = kChannelsAtOnce * plan_.kernel_count();
    for_each_task(positions * chunks, threads_of(plan_), work, [&](int64_t task) {
      pool(run, task / chunks / plan_.out_count(), task / chunks % plan_.out_count(),
           task % chunks * kChannelsAtOnce);
    });
  }

 private:
  // Results of `position` for the channels from `first` on.
  void pool(const PoolRun<T>& run, int64_t n, int64_t position, int64_t first) const {
    const int64_t count = std::min(kChannelsAtOnce, plan_.channels - first);
    const AvgPoolPlan::WindowTaps depth =
        plan_.taps_of(0, position / (plan_.out[1] * plan_.out[2]));
    const AvgPoolPlan::WindowTaps height = plan_.taps_of(1, position / plan_.out[2] % plan_.out[1]);
    const AvgPoolPlan::WindowTaps width = plan_.taps_of(2, position % plan_.out[2]);
    int32_t sums[kChannelsAtOnce] = {};
    for (int64_t z = depth.begin; z < depth.end; ++z) {
      for (int64_t y = height.begin; y < height.end; ++y)
        add_line(run, n, first, count, (z * plan_.in[1] + y) * plan_.in[2], width, sums);
    }
    quantize_means(sums, run.mean_of(plan_, depth.count() * height.count() * width.count()),
                   run.y + (n * plan_.out_count() + position) * plan_.channels + first,
                   static_cast<size_t>(count));
  }

  void add_line(const PoolRun<T>& run, int64_t n, int64_t first, int64_t count, int64_t line,
                AvgPoolPlan::WindowTaps taps, int32_t* sums) const {
    if (plan_.channels_last) {
      for (int64_t at = taps.begin; at < taps.end; ++at) {
        const T* from = run.x + (n * plan_.in_count() + line + at) * plan_.channels + first;
        add_bytes_to_sums(from, sums, static_cast<size_t>(count));
      }
      return;
    }
    for (int64_t c = 0; c < count; ++c) {
      const T* from = run.x + (n * plan_.channels + first + c) * plan_.in_count() + line;
      sums[c] += sum_of_bytes(from + taps.begin, static_cast<size_t>(taps.count()));
    }
  }

  AvgPoolPlan plan_;
};

// Windows along rows of row-major channels: rows under them are added up first.
template <typename T>
class RowPoolKernel : public Kernel {
 public:
  explicit RowPoolKernel(const AvgPoolPlan& plan) : plan_(plan), segments_(segments_of(plan)) {
    if (segments_.size() == 1) rows_ = std::max<int64_t>(1, kMeansOfTask / plan.out[2]);
  }

  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_of(plan_)) * ints_per_thread() * sizeof(int32_t);
  }

  void run(const KernelArgs& args) const override {
    const PoolRun<T> run(plan_, args);
    const int64_t rows = plan_.out[0] * plan_.out[1], blocks = (rows + rows_ - 1) / rows_;
    const int threads = threads_of(plan_);
    const int64_t work = rows_ * (plan_.kernel[0] * plan_.kernel[1] * plan_.in[2] +
                                  plan_.starts() * plan_.kernel[2]);
    auto* scratch = reinterpret_cast<int32_t*>(args.scratch);
    for_each_task(plan_.batch * plan_.channels * blocks, threads, work,
                  [&](int64_t task, size_t thread) {
                    const int64_t first = task % blocks * rows_;
                    pool(run, task / blocks, first, std::min(first + rows_, rows),
                         scratch + thread * ints_per_thread());
                  });
  }

 private:
  // The results that a task computes where rows are short.
  static constexpr int64_t kMeansOfTask = 512;

  size_t ints_per_thread() const {
    return static_cast<size_t>(plan_.line_length() + (rows_ - 1) * plan_.out[2] + plan_.starts()) +
           kMeansAtOnce;
  }

  AvgPoolPlan::WindowTaps depth_of(int64_t row) const {
    return plan_.taps_of(0, row / plan_.out[1]);
  }
  AvgPoolPlan::WindowTaps height_of(int64_t row) const {
    return plan_.taps_of(1, row % plan_.out[1]);
  }
  // Rows of the input under a row of results.
  int64_t lines_of(int64_t row) const { return depth_of(row).count() * height_of(row).count(); }

  // Rows of the results of a channel, from `begin` up to `end`: as many as have the same number of
  // rows under them are quantised in one pass.
  void pool(const PoolRun<T>& run, int64_t channel, int64_t begin, int64_t end,
            int32_t* scratch) const {
    const T* from = run.x + channel * plan_.in_count();
    int32_t* sums = scratch + plan_.line_length();
    while (begin < end) {
      const int64_t first = begin;
      for (; begin < end && lines_of(begin) == lines_of(first); ++begin)
        sum_row(from, begin, scratch, sums + (begin - first) * plan_.out[2]);
      T* to = run.y + channel * plan_.out_count() + first * plan_.out[2];
      // With several segments the loop above has summed one row only.
      for (const Segment& segment : segments_) {
        quantize_means(sums + segment.first, run.mean_of(plan_, lines_of(first) * segment.taps),
                       to + segment.first, static_cast<size_t>((begin - first) * segment.count));
      }
    }
  }

  void sum_row(const T* from, int64_t row, int32_t* line, int32_t* sums) const {
    const AvgPoolPlan::WindowTaps depth = depth_of(row), height = height_of(row);
    std::fill_n(line, plan_.line_length(), 0);
    for (int64_t z = depth.begin; z < depth.end; ++z) {
      for (int64_t y = height.begin; y < height.end; ++y)
        add_bytes_to_sums(from + (z * plan_.in[1] + y) * plan_.in[2], line + plan_.pads[2],
                          static_cast<size_t>(plan_.in[2]));
    }
    sum_windows(line, static_cast<size_t>(plan_.kernel[2]), static_cast<size_t>(plan_.strides[2]),
                static_cast<size_t>(plan_.out[2]), sums);
  }

  AvgPoolPlan plan_;
  std::vector<Segment> segments_;
  int64_t rows_ = 1;  // of a task
};

template <typename T>
std::unique_ptr<Kernel> kernel_of(const AvgPoolPlan& plan) {
  if (plan.channels_last || plan.out_count() == 1)
    return std::make_unique<ChannelPoolKernel<T>>(plan);
  return std::make_unique<RowPoolKernel<T>>(plan);
}

const char* why_unsupported_pool(const KernelRequest& request) {
  if (!is_byte(request.inputs[QLinearPoolInput::kX].dtype)) return "no bytes";
  for (const size_t slot : {QLinearPoolInput::kXScale, QLinearPoolInput::kXZero,
                            QLinearPoolInput::kYScale, QLinearPoolInput::kYZero}) {
    if (request.has(slot) && element_count(request.inputs[slot].shape) != 1) {
      return "more than one scale or zero point";
    }
  }
  const size_t rank = request.inputs[QLinearPoolInput::kX].shape.size();
  if (rank < 3 || rank > 5) return "only 1 to 3 spatial axes";
  return nullptr;
}

// `plan` has its windows; `last`: the dims of the tensors end with the channels.
Prepared build(const KernelRequest& request, AvgPoolPlan plan, bool last) {
  const KernelTensor &x = request.inputs[QLinearPoolInput::kX], &y = request.outputs[0];
  const LayoutPtr x_layout = image_layout(Layout::Kind::kNHWC, x.dtype, x.shape);
  const bool keeps_layout = !last && request.layouts && x.layout && same_layout(x.layout, x_layout);
  plan.channels_last = last || keeps_layout;
  if (plan.kernel_count() > kMaxTaps) return Prepared::refuse("windows of so many elements");
  plan.has_zero = {request.has(QLinearPoolInput::kXZero), request.has(QLinearPoolInput::kYZero)};
  plan.threads = request.threads;
  Prepared prepared =
      Prepared::accept(x.dtype == DType::kInt8 ? kernel_of<int8_t>(plan) : kernel_of<uint8_t>(plan),
                       "qlinear_avg_pool");
  if (keeps_layout) {
    prepared.input_layouts.resize(request.inputs.size());
    prepared.input_layouts[QLinearPoolInput::kX] = x_layout;
    prepared.output_layouts = {image_layout(Layout::Kind::kNHWC, y.dtype, y.shape)};
  }
  return prepared;
}

// The shape with its channels at dim 1.
Shape channels_second(Shape shape, bool last) {
  if (last) std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  return shape;
}

std::array<int64_t, 3> three(const Shape& sizes, int64_t filler) {
  std::array<int64_t, 3> all{filler, filler, filler};
  std::copy(sizes.begin(), sizes.end(), all.end() - static_cast<std::ptrdiff_t>(sizes.size()));
  return all;
}

Prepared prepare_qlinear_global(const KernelRequest& request) {
  if (const char* why = why_unsupported_pool(request)) return Prepared::refuse(why);
  const bool last = request.attrs<ops::QGlobalAveragePoolAttrs>().channels_last != 0;
  const Shape x = channels_second(request.inputs[QLinearPoolInput::kX].shape, last);
  AvgPoolPlan plan{};
  plan.batch = x[0];
  plan.channels = x[1];
  // The elements of a channel are one line.
  plan.in = plan.kernel = {1, 1, element_count(Shape(x.begin() + 2, x.end()))};
  plan.out = plan.strides = {1, 1, 1};
  return build(request, plan, last);
}

Prepared prepare_qlinear_average(const KernelRequest& request) {
  if (const char* why = why_unsupported_pool(request)) return Prepared::refuse(why);
  const auto& attrs = request.attrs<ops::QAveragePoolAttrs>();
  const bool last = attrs.channels_last != 0;
  const Shape x = channels_second(request.inputs[QLinearPoolInput::kX].shape, last);
  ops::AveragePoolAttrs pool;
  pool.auto_pad = attrs.auto_pad;
  pool.ceil_mode = attrs.ceil_mode != 0;
  pool.kernel_shape = attrs.kernel_shape;
  pool.pads = attrs.pads;
  pool.strides = attrs.strides;
  const ops::Window window = ops::pool_window(request.op.name, pool, x);
  AvgPoolPlan plan{};
  plan.counts_padding = attrs.count_include_pad != 0;
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    const int64_t last_start = window.start(axis, window.out[axis] - 1);
    const int64_t end = last_start + window.kernel[axis];
    if (plan.counts_padding && end > window.in[axis] + window.pads_end[axis]) {
      return Prepared::refuse("a window reaches beyond the padding that counts");
    }
    const bool has_empty =
        window.pads_begin[axis] >= window.kernel[axis] || last_start >= window.in[axis];
    if (has_empty) return Prepared::refuse("a window covers padding alone");
  }
  plan.batch = x[0];
  plan.channels = x[1];
  plan.in = three(window.in, 1);
  plan.out = three(window.out, 1);
  plan.kernel = three(window.kernel, 1);
  plan.strides = three(window.strides, 1);
  plan.pads = three(window.pads_begin, 0);
  return build(request, plan, last);
}

constexpr KernelEntry kQuantizedPoolKernels[] = {
    {"com.microsoft::QLinearGlobalAveragePool", "qlinear_avg_pool",
     size_checked<prepare_qlinear_global>},
    {"com.microsoft::QLinearAveragePool", "qlinear_avg_pool",
     size_checked<prepare_qlinear_average>},
};

}  // namespace

std::span<const KernelEntry> qlinear_avg_pool_kernels() {
  return kQuantizedPoolKernels;
}

}  // namespace sardonyx::cpu
