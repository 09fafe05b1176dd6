// com.microsoft's QLinearAveragePool and QLinearGlobalAveragePool on row-major and channels-last
// tensors. Sums are exact; a mean is rounded to float once, then quantised as QuantizeLinear does
// it.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ir/ops/pool.h"
#include "ir/ops/quantized.h"
#include "providers/cpu/tasks.h"
#include "providers/onednn/bytes.h"
#include "providers/onednn/entries.h"

namespace sardonyx::onednn {
namespace {

constexpr int64_t kChannelsAtOnce = 256;

enum Input { kX, kXScale, kXZero, kYScale, kYZero };

// The windows with three spatial axes, the outer ones perhaps of size 1.
struct Plan {
  int64_t batch, channels;
  std::array<int64_t, 3> in, out, kernel, strides, pads;
  bool counts_padding = false;
  bool channels_last = false;  // in memory
  bool is_signed;
  std::array<bool, 2> has_zero;  // of x and y
  int threads;

  int64_t in_count() const { return in[0] * in[1] * in[2]; }
  int64_t out_count() const { return out[0] * out[1] * out[2]; }
};

template <typename T>
class AveragePoolKernel : public Kernel {
 public:
  explicit AveragePoolKernel(const Plan& plan) : plan_(plan) {}

  void run(const KernelArgs& args) const override {
    Run run{static_cast<const T*>(args.inputs[kX]), static_cast<T*>(args.outputs[0]),
            *static_cast<const float*>(args.inputs[kXScale]),
            *static_cast<const float*>(args.inputs[kYScale])};
    if (plan_.has_zero[0]) run.x_zero = *static_cast<const T*>(args.inputs[kXZero]);
    if (plan_.has_zero[1]) run.y_zero = *static_cast<const T*>(args.inputs[kYZero]);
    const int64_t chunks = (plan_.channels + kChannelsAtOnce - 1) / kChannelsAtOnce;
    const int64_t positions = plan_.batch * plan_.out_count();
    const bool is_small = plan_.batch * plan_.channels * plan_.in_count() < 1 << 15;
    const int threads = is_small ? 1 : plan_.threads;
    const int64_t work = kChannelsAtOnce * plan_.kernel[0] * plan_.kernel[1] * plan_.kernel[2];
    cpu::for_each_task(positions * chunks, threads, work, [&](int64_t task) {
      pool(run, task / chunks / plan_.out_count(), task / chunks % plan_.out_count(),
           task % chunks * kChannelsAtOnce);
    });
  }

 private:
  struct Run {
    const T* x;
    T* y;
    float x_scale, y_scale;
    int32_t x_zero = 0, y_zero = 0;
  };

  // Results of `position` for the channels from `first` on.
  void pool(const Run& run, int64_t n, int64_t position, int64_t first) const {
    const int64_t count = std::min(kChannelsAtOnce, plan_.channels - first);
    const std::array<int64_t, 3> at{position / (plan_.out[1] * plan_.out[2]),
                                    position / plan_.out[2] % plan_.out[1],
                                    position % plan_.out[2]};
    std::array<int64_t, 3> begin, end;
    int64_t taps = 1, all = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      const int64_t start = at[axis] * plan_.strides[axis] - plan_.pads[axis];
      begin[axis] = std::max<int64_t>(start, 0);
      end[axis] = std::min(start + plan_.kernel[axis], plan_.in[axis]);
      taps *= end[axis] - begin[axis];
      all *= plan_.kernel[axis];
    }
    int32_t sums[kChannelsAtOnce] = {};
    for (int64_t z = begin[0]; z < end[0]; ++z) {
      for (int64_t y = begin[1]; y < end[1]; ++y)
        add_line(run, n, first, count, (z * plan_.in[1] + y) * plan_.in[2], begin[2], end[2], sums);
    }
    const double factor =
        static_cast<double>(run.x_scale) / static_cast<double>(plan_.counts_padding ? all : taps);
    const auto zeros = static_cast<int32_t>(taps * run.x_zero);
    const int64_t step = plan_.channels_last ? 1 : plan_.out_count();
    T* to =
        run.y + (plan_.channels_last ? (n * plan_.out_count() + position) * plan_.channels + first
                                     : (n * plan_.channels + first) * plan_.out_count() + position);
    for (int64_t c = 0; c < count; ++c) {
      to[c * step] = quantized(run, static_cast<float>((sums[c] - zeros) * factor));
    }
  }

  void add_line(const Run& run, int64_t n, int64_t first, int64_t count, int64_t line,
                int64_t begin, int64_t end, int32_t* sums) const {
    if (plan_.channels_last) {
      for (int64_t at = begin; at < end; ++at) {
        const T* from = run.x + (n * plan_.in_count() + line + at) * plan_.channels + first;
        for (int64_t c = 0; c < count; ++c)
          sums[c] += from[c];
      }
      return;
    }
    for (int64_t c = 0; c < count; ++c) {
      const T* from = run.x + (n * plan_.channels + first + c) * plan_.in_count() + line;
      int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t at = begin; at < end; ++at)
        sum += from[at];
      sums[c] += sum;
    }
  }

  static T quantized(const Run& run, float mean) {
    using Limits = std::numeric_limits<T>;
    const float moved = std::nearbyint(mean / run.y_scale) + static_cast<float>(run.y_zero);
    return static_cast<T>(
        std::clamp(moved, static_cast<float>(Limits::min()), static_cast<float>(Limits::max())));
  }

  Plan plan_;
};

const char* pool_refusal(const KernelRequest& request) {
  if (!is_byte(request.inputs[kX].dtype)) return "no bytes";
  for (const size_t slot : {kXScale, kXZero, kYScale, kYZero}) {
    if (request.has(slot) && element_count(request.inputs[slot].shape) != 1) {
      return "more than one scale or zero point";
    }
  }
  const size_t rank = request.inputs[kX].shape.size();
  if (rank < 3 || rank > 5) return "only 1 to 3 spatial axes";
  return nullptr;
}

// `plan` has its windows; `last`: the dims of the tensors end with the channels.
Prepared build(const KernelRequest& request, Plan plan, bool last) {
  const KernelTensor &x = request.inputs[kX], &y = request.outputs[0];
  const auto type = data_type_of(x.dtype);
  const Desc x_desc = channels_last_desc(type, x.shape), y_desc = channels_last_desc(type, y.shape);
  const bool keeps_layout =
      !last && request.layouts && x.layout && same_layout(x.layout, layout_of(x_desc));
  plan.channels_last = last || keeps_layout;
  plan.is_signed = x.dtype == DType::kInt8;
  plan.has_zero = {request.has(kXZero), request.has(kYZero)};
  plan.threads = request.threads;
  Prepared prepared =
      plan.is_signed
          ? Prepared::accept(std::make_unique<AveragePoolKernel<int8_t>>(plan), "loops")
          : Prepared::accept(std::make_unique<AveragePoolKernel<uint8_t>>(plan), "loops");
  if (keeps_layout) {
    prepared.input_layouts.resize(request.inputs.size());
    prepared.input_layouts[kX] = layout_of(x_desc);
    prepared.output_layouts = {layout_of(y_desc)};
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

Prepared prepare_global(const KernelRequest& request) {
  if (const char* why = pool_refusal(request)) return Prepared::refuse(why);
  const bool last = request.attrs<ops::QGlobalAveragePoolAttrs>().channels_last != 0;
  const Shape x = channels_second(request.inputs[kX].shape, last);
  Plan plan{};
  plan.batch = x[0];
  plan.channels = x[1];
  // The elements of a channel are one line.
  plan.in = plan.kernel = {1, 1, element_count(Shape(x.begin() + 2, x.end()))};
  plan.out = plan.strides = {1, 1, 1};
  return build(request, plan, last);
}

Prepared prepare_average(const KernelRequest& request) {
  if (const char* why = pool_refusal(request)) return Prepared::refuse(why);
  const auto& attrs = request.attrs<ops::QAveragePoolAttrs>();
  const bool last = attrs.channels_last != 0;
  const Shape x = channels_second(request.inputs[kX].shape, last);
  ops::AveragePoolAttrs pool;
  pool.auto_pad = attrs.auto_pad;
  pool.ceil_mode = attrs.ceil_mode != 0;
  pool.kernel_shape = attrs.kernel_shape;
  pool.pads = attrs.pads;
  pool.strides = attrs.strides;
  const ops::Window window = ops::pool_window(request.op.name, pool, x);
  Plan plan{};
  plan.counts_padding = attrs.count_include_pad != 0;
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    const int64_t last_start = window.start(axis, window.out[axis] - 1);
    const int64_t end = last_start + window.kernel[axis];
    if (plan.counts_padding && end > window.in[axis] + window.pads_end[axis]) {
      return Prepared::refuse("a window reaches beyond the padding that counts");
    }
    const bool has_empty =
        window.pads_begin[axis] >= window.kernel[axis] || last_start >= window.in[axis];
    if (has_empty) return Prepared::refuse("a window lies in the padding");
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
    {"com.microsoft::QLinearGlobalAveragePool", "loops", guarded<prepare_global>},
    {"com.microsoft::QLinearAveragePool", "loops", guarded<prepare_average>},
};

}  // namespace

std::span<const KernelEntry> quantized_pool_kernels() {
  return kQuantizedPoolKernels;
}

}  // namespace sardonyx::onednn
