// MaxPool and AveragePool in float32 on NHWC and NCHW16c, for windows of all
// sizes.
#include "providers/cpu/pooling/pool_nhwc_kernel.h"

#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/pooling/pool.h"
#include "providers/cpu/image_layout.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

// The least number of taps that is worth another thread.
constexpr int64_t kTapsPerThread = 1 << 17;
// Elements of a row of outputs, within which no deadline is checked.
constexpr double kMaxTapsOfRow = 1 << 27;
// Channels are shared out in units of this many.
constexpr int64_t kChannelUnit = 64;

struct PoolNhwcParams {
  ops::Window window;
  bool is_max, with_pads;
  int64_t planes, channels;  // planes of contiguous pixels with `channels` channels each
  size_t last() const { return window.rank() - 1; }
  int64_t out_rows() const { return element_count(window.out) / window.out[last()]; }
  double taps_of_row() const {
    return static_cast<double>(channels) * static_cast<double>(window.out[last()]) *
           static_cast<double>(element_count(window.kernel));
  }
};

class PixelPoolKernel : public Kernel {
 public:
  PixelPoolKernel(PoolNhwcParams form, int threads) : f_(std::move(form)) {
    const ops::Window& w = f_.window;
    const size_t last = f_.last();
    row_.is_max = f_.is_max;
    row_.channels = row_.step = f_.channels;
    row_.width = w.in[last];
    row_.kernel = w.kernel[last];
    row_.stride = w.strides[last];
    row_.dilation = w.dilations[last];
    row_.pad = w.pads_begin[last];
    row_.counted_pad = f_.with_pads ? w.pads_begin[last] : 0;
    row_.counted_end = w.in[last] + (f_.with_pads ? w.pads_end[last] : 0);
    const int64_t rows = f_.planes * f_.out_rows();
    const double work = f_.taps_of_row() * static_cast<double>(rows);
    threads_ = static_cast<int>(std::min<double>(threads, work / kTapsPerThread + 1));
    if (rows < 2 * threads_) groups_ = std::clamp<int64_t>(f_.channels / kChannelUnit, 1, threads_);
    threads_ = static_cast<int>(std::min<int64_t>(threads_, rows * groups_));
  }

  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_) * pool_scratch(row_) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    const int64_t tasks = f_.planes * f_.out_rows() * groups_;
    const int64_t mask = poll_mask(static_cast<int64_t>(f_.taps_of_row()));
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      float* line_scratch =
          reinterpret_cast<float*>(args.scratch) + static_cast<size_t>(part) * pool_scratch(row_);
      for (int64_t task = tasks * part / parts; task < tasks * (part + 1) / parts; ++task) {
        if ((task & mask) == 0 ? sign.ask() : sign.is_up()) return;
        run_row(args, task / groups_, task % groups_, line_scratch);
      }
    });
  }

 private:
  // Computes row `row`, counted over all outputs, for one group of channels.
  void run_row(const KernelArgs& args, int64_t row, int64_t group, float* line_scratch) const {
    const int64_t first = f_.channels * group / groups_ / kChannelUnit * kChannelUnit;
    const int64_t end = group + 1 == groups_
                            ? f_.channels
                            : f_.channels * (group + 1) / groups_ / kChannelUnit * kChannelUnit;
    PixelWindows windows = row_;
    windows.channels = end - first;
    windows.count = 1;
    const ops::Window& w = f_.window;
    const int64_t plane = row / f_.out_rows(), out_width = w.out[f_.last()];
    const auto* in = static_cast<const float*>(args.inputs[0]) +
                     plane * element_count(w.in) * f_.channels + first;
    const float* rows[kMaxPooledRows] = {in};
    size_t count = 1;
    int64_t position = row % f_.out_rows(), step = w.in[f_.last()] * f_.channels;
    for (size_t axis = f_.last(); axis-- > 0; step *= w.in[axis]) {
      const int64_t output = position % w.out[axis];
      position /= w.out[axis];
      windows.count *= static_cast<double>(ops::counted_taps(w, axis, output, f_.with_pads));
      count = add_taps(axis, output, step, rows, count);
    }
    auto* out = static_cast<float*>(args.outputs[0]) + row * out_width * f_.channels + first;
    pool_row(windows, rows, count, out_width, out, line_scratch);
  }

  // Repeats each row for each tap of `axis`, `step` elements apart.
  size_t add_taps(size_t axis, int64_t output, int64_t step, const float** rows,
                  size_t count) const {
    const ops::Window& w = f_.window;
    const ops::TapRange taps =
        ops::taps_inside(w.start(axis, output), w.kernel[axis], w.dilations[axis], w.in[axis]);
    for (int64_t tap = taps.end; tap-- > taps.begin;) {
      const int64_t at = (w.start(axis, output) + tap * w.dilations[axis]) * step;
      const size_t place = static_cast<size_t>(tap - taps.begin) * count;
      for (size_t row = 0; row < count; ++row)
        rows[place + row] = rows[row] + at;
    }
    return count * static_cast<size_t>(taps.count());
  }

  PoolNhwcParams f_;
  PixelWindows row_{};
  int64_t groups_ = 1;  // of channels
  int threads_ = 1;
};

Prepared prepare(const KernelRequest& request, ops::Window window, bool is_max, bool with_pads) {
  const KernelTensor& x = request.inputs[0];
  if (x.dtype != DType::kFloat) return Prepared::refuse("only float is computed here");
  if (request.wants(1)) return Prepared::refuse("indices are not computed here");
  const size_t rank = x.shape.size();
  if (rank < 3 || rank > 5) return Prepared::refuse("only 1 to 3 spatial axes");
  if (!request.layouts || !x.layout) return Prepared::refuse("plain rows are left to others");
  const auto pixels = pixel_planes(x);
  if (!pixels) return Prepared::refuse("an unusual layout");
  if (ops::may_have_empty_window(window)) return Prepared::refuse("a window covers padding alone");
  PoolNhwcParams form{std::move(window), is_max, with_pads, pixels->planes, pixels->channels};
  if (element_count(form.window.kernel) / form.window.kernel[form.last()] >
      static_cast<int64_t>(kMaxPooledRows))
    return Prepared::refuse("windows of many rows are left to others");
  if (form.taps_of_row() > kMaxTapsOfRow)
    return Prepared::refuse("long rows are left to what looks at the deadline");
  Prepared prepared = Prepared::accept(
      std::make_unique<PixelPoolKernel>(std::move(form), request.threads), "pool_nhwc");
  prepared.input_layouts = {x.layout};
  prepared.output_layouts = {float_image_layout(request.outputs[0].shape, pixels->in_blocks)};
  return prepared;
}

Prepared prepare_max_pool(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::MaxPoolAttrs>();
  return prepare(request, ops::pool_window(request.op.name, attrs, request.inputs[0].shape), true,
                 false);
}

Prepared prepare_average_pool(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::AveragePoolAttrs>();
  return prepare(request, ops::pool_window(request.op.name, attrs, request.inputs[0].shape), false,
                 attrs.count_include_pad);
}

constexpr KernelEntry kPixelPoolKernels[] = {
    {"MaxPool", "pool_nhwc", size_checked<prepare_max_pool>},
    {"AveragePool", "pool_nhwc", size_checked<prepare_average_pool>},
};

}  // namespace

std::span<const KernelEntry> pool_nhwc_kernels() {
  return kPixelPoolKernels;
}

}  // namespace sardonyx::cpu
