// MaxPool with the output Indices, on NCHW.
#include <algorithm>
#include <type_traits>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/pooling/pool.h"
#include "providers/cpu/lookup_table_limits.h"
#include "providers/cpu/pooling/max_pool_indices_kernel.h"
#include "providers/cpu/pooling/pool_limits.h"
#include "providers/cpu/pooling/pool_tiling.h"

namespace sardonyx::cpu {
namespace {

// `element` of a channel, counted in column-major order.
int64_t column_major(int64_t element, const Shape& shape) {
  int64_t behind = element_count(shape), result = 0;
  for (size_t axis = shape.size(); axis-- > 0;) {
    behind /= shape[axis];
    result += element % shape[axis] * behind;
    element /= shape[axis];
  }
  return result;
}

// MaxPool with indices on elements of type `In`, computed as floats unless they are doubles.
template <typename In>
class MaxPoolIndicesKernel : public Kernel {
 public:
  using T = std::conditional_t<std::is_same_v<In, double>, double, float>;

  // `shape` is that of a channel where its elements are to be counted by columns, else empty.
  MaxPoolIndicesKernel(const PoolPlan& plan, Shape shape, int threads)
      : plan_(plan),
        shape_(std::move(shape)),
        threads_(static_cast<int>(std::min<double>(threads, plan.work() / kWorkPerThread + 1))) {
    const auto rows = static_cast<size_t>(plan.max_rows());
    const size_t outputs = rows * static_cast<size_t>(plan.max_outputs());
    windows_at_ = scratch_.add<T>(max_pool_scratch<T>(plan.longest_line(), rows));
    taps_at_ = scratch_.add<int64_t>(plan.list_scratch());
    if constexpr (kIsByte<In>) {
      in_at_ = scratch_.add<float>(static_cast<size_t>(plan.in_size()));
      out_at_ = scratch_.add<float>(outputs);
    }
  }

  size_t scratch_bytes() const override { return static_cast<size_t>(threads_) * scratch_.bytes(); }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const In*>(args.inputs[0]);
    auto* out = static_cast<In*>(args.outputs[0]);
    auto* indices = static_cast<int64_t*>(args.outputs[1]);
    for_each_task(plan_.tasks(), threads_, static_cast<int64_t>(plan_.work_of_task()),
                  [&](int64_t task, int thread) {
                    run_share(plan_.share_of(task), in, out, indices,
                              args.scratch + static_cast<size_t>(thread) * scratch_.bytes());
                  });
  }

 private:
  using PoolTile = PoolPlan::PoolTile;

  void run_share(const PoolTile& share, const In* in, In* out, int64_t* indices,
                 std::byte* scratch) const {
    PoolRowArgs<T> windows;
    windows.line = plan_.line_of(share.first, share.outputs);
    windows.rows = static_cast<size_t>(share.rows);
    windows.row_step = windows.line.outputs;  // many rows have one piece
    const auto lists = plan_.taps_under(share, reinterpret_cast<int64_t*>(scratch + taps_at_));
    windows.taps = lists.taps;
    windows.tap_starts = lists.starts;
    const int64_t begin = share.channel * plan_.in_size();
    const int64_t at =
        share.channel * plan_.out_size() + share.row * plan_.row_length() + share.first;
    MaxPoolChannels<T> channels;
    channels.count = static_cast<size_t>(share.channels);
    channels.in_step = static_cast<size_t>(plan_.in_size());
    channels.out_step = static_cast<size_t>(plan_.out_size());
    channels.begin = begin;
    channels.first = plan_.first_element(share.first);
    channels.indices = indices + at;
    auto* lines = reinterpret_cast<T*>(scratch + windows_at_);
    if constexpr (kIsByte<In>) {
      find_in_bytes(windows, channels, in + begin, out + at, scratch);
    } else {
      channels.in = in + begin;
      channels.out = out + at;
      find_max_indices<T>(windows, channels, lines);
    }
    if (!shape_.empty()) count_by_columns(share, indices + at);
  }

  // Finds maxima in bytes, channel by channel.
  void find_in_bytes(const PoolRowArgs<float>& windows, MaxPoolChannels<float> channels,
                     const In* in, In* out, std::byte* scratch) const {
    auto* from = reinterpret_cast<float*>(scratch + in_at_);
    channels.in = from;
    channels.out = reinterpret_cast<float*>(scratch + out_at_);
    const auto [least, most] = std::minmax_element(windows.taps + windows.tap_starts[0],
                                                   windows.taps + windows.tap_starts[windows.rows]);
    const int64_t begin = *least + channels.first;
    const auto wanted = static_cast<size_t>(*most - *least) + windows.line.in;
    const size_t count = channels.count;
    channels.count = 1;
    for (size_t channel = 0; channel < count; ++channel) {
      to_floats(in + begin, from + begin, wanted);
      find_max_indices<float>(windows, channels, reinterpret_cast<float*>(scratch + windows_at_));
      quantize_row(channels.out, 1, 0, out, windows.rows * windows.row_step);
      in += channels.in_step, out += channels.out_step;
      channels.begin += static_cast<int64_t>(channels.in_step);
      channels.indices += channels.out_step;
    }
  }

  void count_by_columns(const PoolTile& share, int64_t* indices) const {
    const int64_t size = element_count(shape_);  // the plan may have joined channels
    for (int64_t channel = 0; channel < share.channels; ++channel, indices += plan_.out_size()) {
      for (int64_t i = 0; i < share.rows * share.outputs; ++i) {
        const int64_t element = indices[i] % size;
        indices[i] += column_major(element, shape_) - element;
      }
    }
  }

  PoolPlan plan_;
  Shape shape_;
  int threads_;
  ScratchParts scratch_;
  size_t windows_at_ = 0, taps_at_ = 0, in_at_ = 0, out_at_ = 0;
};

template <typename In>
Prepared prepare_plan(const KernelRequest& request, const CollapsedWindow& windows, Shape shape) {
  const int64_t min_tasks = request.threads > 1 ? 4 * request.threads : 1;
  if (const char* why = why_unsupported_tables({windows.out_rows()})) return Prepared::refuse(why);
  const PoolPlan plan(windows, {kLineLength, kLineLength, kTaskWork, min_tasks});
  using Index = MaxIndex<typename MaxPoolIndicesKernel<In>::T>;
  if (plan.work_of_row() > kMaxWork || plan.in_size() > std::numeric_limits<Index>::max())
    return Prepared::refuse("windows of this size are left to the reference");
  if (kIsByte<In> && plan.in_size() > kMaxWidened)
    return Prepared::refuse("channels of so many bytes are left to the reference");
  return Prepared::accept(
      std::make_unique<MaxPoolIndicesKernel<In>>(plan, std::move(shape), request.threads),
      "max_pool_indices");
}

}  // namespace

Prepared prepare_max_pool_indices(const KernelRequest& request) {
  const KernelTensor &x = request.inputs[0], &y = request.outputs[0];
  if (element_count(x.shape) == 0 || element_count(y.shape) == 0)
    return Prepared::refuse("there are no elements");
  const auto& attrs = request.attrs<ops::MaxPoolAttrs>();
  const ops::Window window = ops::pool_window(request.op.name, attrs, x.shape);
  if (ops::may_have_empty_window(window)) return Prepared::refuse("a window covers padding alone");
  const CollapsedWindow windows = simplified(window, x.shape[0] * x.shape[1], !is_byte(x.dtype));
  if (windows.window.extent(windows.window.rank() - 1) > kLongestWindow)
    return Prepared::refuse("windows of this length are left to the reference");
  Shape shape = attrs.storage_order == 1 ? window.in : Shape();
  switch (x.dtype) {
    case DType::kFloat:
      return prepare_plan<float>(request, windows, std::move(shape));
    case DType::kDouble:
      return prepare_plan<double>(request, windows, std::move(shape));
    case DType::kInt8:
      return prepare_plan<int8_t>(request, windows, std::move(shape));
    case DType::kUInt8:
      return prepare_plan<uint8_t>(request, windows, std::move(shape));
    default:
      return Prepared::refuse("only floats, doubles and bytes are computed here");
  }
}

}  // namespace sardonyx::cpu
