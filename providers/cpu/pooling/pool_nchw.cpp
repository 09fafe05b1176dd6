// MaxPool, AveragePool, LpPool and the global ones of row-major channels with any number of spatial
// axes. Rows of the last axis are merged over the taps of all other axes, then the windows along
// it. Bytes are computed as floats, which hold them exactly.
#include "ir/ops/pooling/pool.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/lookup_table_limits.h"
#include "providers/cpu/pooling/pool_limits.h"
#include "providers/cpu/pooling/pool_nchw_kernel.h"
#include "providers/cpu/pooling/pool_tiling.h"

namespace sardonyx::cpu {
namespace {

// Transforms of elements before and after the reduction.
enum class Method { kMax, kAverage, kAverageWithPads, kNorm };

// The divisor of the sum of window `output` along `axis`; that of a window is the product over the
// axes.
double count_of(Method method, const ops::Window& window, size_t axis, int64_t output) {
  if (method == Method::kNorm) return 1;
  const bool with_pads = method == Method::kAverageWithPads;
  return static_cast<double>(ops::counted_taps(window, axis, output, with_pads));
}

// True if all windows along the last axis count equally many elements. If the outermost two are
// whole, so are all between.
bool columns_are_alike(Method method, const ops::Window& window) {
  const size_t last = window.rank() - 1;
  const auto whole = static_cast<double>(window.kernel[last]);
  if (method == Method::kMax || method == Method::kNorm) return true;
  return count_of(method, window, last, 0) == whole &&
         count_of(method, window, last, window.out[last] - 1) == whole;
}

// A pool on elements of type `In`, computed as floats unless they are doubles.
template <typename In>
class PoolKernel : public Kernel {
 public:
  using T = std::conditional_t<std::is_same_v<In, double>, double, float>;

  PoolKernel(Method method, int64_t power, const PoolPlan& plan, int threads)
      : method_(method),
        power_(power),
        plan_(plan),
        whole_line_(plan.whole_line()),
        threads_(static_cast<int>(std::min<double>(threads, plan.work() / kWorkPerThread + 1))),
        has_one_scale_(columns_are_alike(method, plan.window())) {
    const auto rows = static_cast<size_t>(plan.max_rows());
    windows_at_ = scratch_.add<T>(window_scratch<T>(plan.longest_line(), rows));
    taps_at_ = scratch_.add<int64_t>(plan.list_scratch());
    if constexpr (kIsByte<In>) {
      in_at_ = scratch_.add<float>(static_cast<size_t>(plan.in_size()));
      out_at_ = scratch_.add<float>(rows * static_cast<size_t>(plan.max_outputs()));
    }
    if (method == Method::kMax) return;
    const size_t last = plan.window().rank() - 1;
    const int64_t columns = has_one_scale_ ? plan.max_outputs() : plan.row_length();
    for (int64_t column = 0; column < columns; ++column)
      column_scales_.push_back(static_cast<T>(1 / count_of(last, column)));
    for (int64_t row = 0; row < plan.out_rows(); ++row)
      row_scales_.push_back(row_scale(row));
  }

  size_t scratch_bytes() const override { return static_cast<size_t>(threads_) * scratch_.bytes(); }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const In*>(args.inputs[0]);
    auto* out = static_cast<In*>(args.outputs[0]);
    for_each_task(plan_.tasks(), threads_, static_cast<int64_t>(plan_.work_of_task()),
                  [&](int64_t task, int thread) {
                    run_share(plan_.share_of(task), in, out,
                              args.scratch + static_cast<size_t>(thread) * scratch_.bytes());
                  });
  }

 private:
  using PoolTile = PoolPlan::PoolTile;

  double count_of(size_t axis, int64_t output) const {
    return cpu::count_of(method_, plan_.window(), axis, output);
  }

  void run_share(const PoolTile& share, const In* in, In* out, std::byte* scratch) const {
    PoolRowArgs<T> windows;
    windows.merge = method_ == Method::kMax ? Merge::kMax : Merge::kSum;
    windows.power = power_;
    windows.takes_root = power_ == 2;
    windows.line = plan_.line_of(share.first, share.outputs);
    windows.whole_line = &whole_line_;
    windows.rows = static_cast<size_t>(share.rows);
    windows.row_step = static_cast<size_t>(plan_.row_length());
    const auto row = static_cast<size_t>(share.row);
    windows.row_scales = row_scales_.data() + (row_scales_.empty() ? 0 : row);
    windows.column_scales =
        column_scales_.data() + (has_one_scale_ ? 0 : static_cast<size_t>(share.first));
    const auto lists = plan_.taps_under(share, reinterpret_cast<int64_t*>(scratch + taps_at_));
    windows.taps = lists.taps;
    windows.tap_starts = lists.starts;
    in += share.channel * plan_.in_size() + plan_.first_element(share.first);
    out += share.channel * plan_.out_size() + share.row * plan_.row_length() + share.first;
    if constexpr (kIsByte<In>)
      merge_bytes(share, windows, in, out, scratch);
    else
      merge_channels(share, windows, in, out, scratch);
  }

  T row_scale(int64_t row) const {
    double count = 1;
    plan_.for_each_position(row,
                            [&](size_t axis, int64_t output) { count *= count_of(axis, output); });
    return static_cast<T>(1 / count);
  }

  void merge_channels(const PoolTile& share, const PoolRowArgs<T>& windows, const T* in, T* out,
                      std::byte* scratch) const {
    const auto channels = static_cast<size_t>(share.channels);
    pool_rows(windows, channels, in, static_cast<size_t>(plan_.in_size()), out,
              static_cast<size_t>(plan_.out_size()), reinterpret_cast<T*>(scratch + windows_at_));
    if (power_ < 3) return;
    for (int64_t channel = 0; channel < share.channels; ++channel) {
      for (int64_t row = 0; row < share.rows; ++row)
        take_root(out + channel * plan_.out_size() + row * plan_.row_length(),
                  static_cast<size_t>(share.outputs));
    }
  }

  void take_root(T* out, size_t count) const {
    const T root = T(1) / static_cast<T>(power_);
    if constexpr (std::is_same_v<T, float>)
      binary_row(Binary::kPow, out, true, &root, false, out, count);
    else
      std::transform(out, out + count, out, [&](T value) { return std::pow(value, root); });
  }

  // Merges bytes: the elements from the first to the last one needed are converted to floats.
  void merge_bytes(const PoolTile& share, PoolRowArgs<float>& windows, const In* in, In* out,
                   std::byte* scratch) const {
    auto* from = reinterpret_cast<float*>(scratch + in_at_);
    auto* to = reinterpret_cast<float*>(scratch + out_at_);
    const auto [least, most] = std::minmax_element(windows.taps + windows.tap_starts[0],
                                                   windows.taps + windows.tap_starts[share.rows]);
    const int64_t begin = *least;
    const auto count = static_cast<size_t>(*most - begin) + windows.line.in;
    windows.row_step = windows.line.outputs;
    for (int64_t channel = 0; channel < share.channels; ++channel) {
      to_floats(in + channel * plan_.in_size() + begin, from + begin, count);
      pool_rows(windows, 1, from, 0, to, 0, reinterpret_cast<float*>(scratch + windows_at_));
      quantize_row(to, 1, 0, out + channel * plan_.out_size(),
                   static_cast<size_t>(share.rows * share.outputs));
    }
  }

  Method method_;
  int64_t power_;
  PoolPlan plan_;
  Window1d whole_line_;
  int threads_;
  std::vector<T> column_scales_, row_scales_;
  bool has_one_scale_;  // for all columns; there is one for each of a task's
  ScratchParts scratch_;
  size_t windows_at_ = 0, taps_at_ = 0, in_at_ = 0, out_at_ = 0;
};

template <typename T>
bool merges_in_place(const CollapsedWindow& windows) {
  const ops::Window& window = windows.window;
  if (window.rank() > 1 || window.pads_begin[0] != 0 || window.pads_end[0] != 0) return false;
  Window1d line;
  line.kernel = static_cast<size_t>(window.kernel[0]);
  line.stride = static_cast<size_t>(window.strides[0]);
  line.dilation = static_cast<size_t>(window.dilations[0]);
  line.outputs = static_cast<size_t>(window.out[0]);
  line.in = line.length();
  return merges_in_place<T>(line);
}

template <typename In>
Prepared prepare_plan(const KernelRequest& request, Method method, int64_t power,
                      const CollapsedWindow& windows) {
  using T = typename PoolKernel<In>::T;
  const bool in_place = !kIsByte<In> && power == 0 && merges_in_place<T>(windows);
  const int64_t min_tasks = request.threads > 1 ? 4 * request.threads : 1;
  const int64_t columns = columns_are_alike(method, windows.window) ? 0 : windows.window.out.back();
  if (const char* why = why_unsupported_tables({windows.out_rows(), columns}))
    return Prepared::refuse(why);
  const PoolPlan plan(windows,
                      {in_place ? kLengthInPlace : kLineLength, kLineLength, kTaskWork, min_tasks});
  if (plan.work_of_row() > kMaxWork)
    return Prepared::refuse("windows of this size are left to the reference");
  if (kIsByte<In> && plan.in_size() > kMaxWidened)
    return Prepared::refuse("channels of so many bytes are left to the reference");
  return Prepared::accept(std::make_unique<PoolKernel<In>>(method, power, plan, request.threads),
                          "pool_nchw");
}

Prepared prepare_windows(const KernelRequest& request, const ops::Window& window, Method method,
                         int64_t power = 0) {
  const KernelTensor &x = request.inputs[0], &y = request.outputs[0];
  if (element_count(x.shape) == 0 || element_count(y.shape) == 0)
    return Prepared::refuse("there are no elements");
  if (method == Method::kMax && ops::may_have_empty_window(window))
    return Prepared::refuse("a window covers padding alone");
  const int64_t channels = x.shape[0] * x.shape[1];
  CollapsedWindow windows = simplified(window, channels, !is_byte(x.dtype));
  if (windows.window.extent(windows.window.rank() - 1) > kLongestWindow)
    windows = {window, channels};
  if (windows.window.extent(windows.window.rank() - 1) > kLongestWindow)
    return Prepared::refuse("windows of this length are left to the reference");
  switch (x.dtype) {
    case DType::kFloat:
      return prepare_plan<float>(request, method, power, windows);
    case DType::kDouble:
      return prepare_plan<double>(request, method, power, windows);
    case DType::kInt8:
      return prepare_plan<int8_t>(request, method, power, windows);
    case DType::kUInt8:
      return prepare_plan<uint8_t>(request, method, power, windows);
    default:
      return Prepared::refuse("only floats, doubles and bytes are computed here");
  }
}

Prepared prepare_pool(const KernelRequest& request, const ops::PoolAttrs& attrs, Method method,
                      int64_t power = 0) {
  const ops::Window window = ops::pool_window(request.op.name, attrs, request.inputs[0].shape);
  return prepare_windows(request, window, method, power);
}

constexpr InnerKernel kMaxIndices[] = {
    {"max_pool_indices", "providers/cpu/pooling/max_pool_indices.cpp"}};

Prepared prepare_max(const KernelRequest& request) {
  if (request.wants(1)) return noted(request, kMaxIndices[0], prepare_max_pool_indices(request));
  return prepare_pool(request, request.attrs<ops::MaxPoolAttrs>(), Method::kMax);
}

Prepared prepare_average(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::AveragePoolAttrs>();
  return prepare_pool(request, attrs,
                      attrs.count_include_pad ? Method::kAverageWithPads : Method::kAverage);
}

Prepared prepare_norm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::LpPoolAttrs>();
  return prepare_pool(request, attrs, Method::kNorm, attrs.p);
}

// The global pool: one window over all elements of a channel.
template <Method method>
Prepared prepare_global(const KernelRequest& request) {
  return prepare_windows(request, ops::global_window(request.inputs[0].shape), method);
}

constexpr KernelEntry kPoolEntries[] = {
    {"MaxPool", "pool_nchw", prepare_max, kMaxIndices},
    {"AveragePool", "pool_nchw", prepare_average},
    {"LpPool", "pool_nchw", prepare_norm},
    {"GlobalAveragePool", "pool_nchw", prepare_global<Method::kAverage>},
    {"GlobalMaxPool", "pool_nchw", prepare_global<Method::kMax>}};

}  // namespace

std::span<const KernelEntry> pool_nchw_kernels() {
  return kPoolEntries;
}

}  // namespace sardonyx::cpu
