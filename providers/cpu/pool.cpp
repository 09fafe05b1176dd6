// MaxPool, AveragePool and LpPool of row-major float32 with any number of spatial axes. Rows of the
// last axis are merged over the taps of all other axes, then the windows along it.
#include "ir/ops/pool.h"

#include <algorithm>

#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"
#include "providers/cpu/rows.h"
#include "providers/cpu/window_rows.h"

namespace sardonyx::cpu {
namespace {

// What happens to elements before and behind the merging.
enum class Method { kMax, kAverage, kAverageWithPads, kNorm };

// Input elements of a row that are merged before its windows are: about what stays in the nearest
// cache.
constexpr int64_t kPieceLength = 1 << 12;

class PoolKernel : public Kernel {
 public:
  PoolKernel(Method method, int64_t power, const ops::Window& window, int64_t channels, int threads)
      : method_(method), power_(power), window_(window), channels_(channels) {
    const size_t last = window.rank() - 1;
    rows_.kernel = static_cast<size_t>(window.kernel[last]);
    rows_.stride = static_cast<size_t>(window.strides[last]);
    rows_.dilation = static_cast<size_t>(window.dilations[last]);
    const int64_t width = window.out[last];
    const int64_t fitting = (kPieceLength - window.extent(last)) / window.strides[last] + 1;
    piece_ = std::clamp<int64_t>(fitting, 1, width);
    pieces_ = (width + piece_ - 1) / piece_;
    for (size_t axis = 0; axis < last; ++axis) {
      out_rows_ *= window.out[axis];
      taps_ *= static_cast<double>(window.kernel[axis]);
    }
    for (int64_t column = 0; column < width; ++column)
      counts_.push_back(static_cast<float>(count_of(last, column)));
    const double elements = work_of_piece() * static_cast<double>(channels * out_rows_ * pieces_);
    threads_ = static_cast<int>(std::min<double>(threads, elements / kElementsPerThread + 1));
  }

  // Elements that are looked at for one piece of a row of outputs.
  double work_of_piece() const {
    const auto length = static_cast<double>(rows_.length(static_cast<size_t>(piece_)));
    return taps_ * length + static_cast<double>(piece_) * static_cast<double>(rows_.kernel);
  }

  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_) * scratch_floats() * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    const int64_t in_size = element_count(window_.in);
    for_each_task(
        channels_ * out_rows_ * pieces_, threads_, static_cast<int64_t>(work_of_piece()),
        [&](int64_t task) {
          const int64_t row = task / pieces_, first = task % pieces_ * piece_;
          const Piece piece{row % out_rows_, first, std::min(piece_, window_.out.back() - first)};
          const int thread = threads_ > 1 ? omp_get_thread_num() : 0;
          auto* scratch = reinterpret_cast<float*>(args.scratch);
          run_piece(piece, in + row / out_rows_ * in_size,
                    scratch + static_cast<size_t>(thread) * scratch_floats(),
                    out + row * window_.out.back() + first);
        });
  }

 private:
  struct Piece {
    int64_t row;  // of outputs in a channel
    int64_t first, count;
  };

  Merge merge() const { return method_ == Method::kMax ? Merge::kMax : Merge::kSum; }
  size_t length() const { return rows_.length(static_cast<size_t>(piece_)); }
  // A line of merged rows, one of powers, and what merging wants.
  size_t scratch_floats() const {
    constexpr size_t kLine = 16;
    const size_t floats = 2 * length() + window_scratch(rows_, static_cast<size_t>(piece_));
    return (floats + kLine - 1) / kLine * kLine;
  }

  // By how many elements the sum of window `output` is divided, as far as `axis` goes.
  int64_t count_of(size_t axis, int64_t output) const {
    if (method_ == Method::kMax || method_ == Method::kNorm) return 1;
    const bool with_pads = method_ == Method::kAverageWithPads;
    const int64_t start = with_pads ? output * window_.strides[axis] : window_.start(axis, output);
    const int64_t pads = with_pads ? window_.pads_begin[axis] + window_.pads_end[axis] : 0;
    return ops::taps_inside(start, window_.kernel[axis], window_.dilations[axis],
                            window_.in[axis] + pads)
        .count();
  }

  void run_piece(const Piece& piece, const float* in, float* scratch, float* out) const {
    const auto count = static_cast<size_t>(piece.count);
    float *powers = scratch + length(), *rest = powers + length();
    const float* line = merged_rows(piece, in, scratch, powers);
    merge_windows(merge(), rows_, line, rest, out, count);
    if (method_ == Method::kNorm) return take_root(out, count);
    if (method_ != Method::kMax) divide(piece, powers, out);
  }

  // The elements that the windows of a piece are over, merged over the taps of the axes before the
  // last; elements in the padding are neutral.
  const float* merged_rows(const Piece& piece, const float* in, float* line, float* powers) const {
    const size_t last = window_.rank() - 1;
    const auto size = static_cast<int64_t>(rows_.length(static_cast<size_t>(piece.count)));
    const int64_t start = window_.start(last, piece.first);
    const int64_t begin = std::clamp<int64_t>(start, 0, window_.in[last]);
    const int64_t end = std::clamp<int64_t>(start + size, begin, window_.in[last]);
    const auto inside = static_cast<size_t>(end - begin);
    const bool is_whole = end - begin == size;
    if (is_whole && taps_ == 1 && last == 0 && method_ != Method::kNorm) return in + begin;
    std::fill(line, line + size, neutral_of(merge()));
    float* target = line + (begin - start);
    bool is_first = true;
    for_each_tap(0, piece.row, out_rows_, 0, [&](int64_t row) {
      const float* from = in + row * window_.in[last] + begin;
      if (method_ == Method::kNorm) from = raised(from, powers, inside);
      if (is_first)
        std::copy_n(from, inside, target);
      else
        merge_row(merge(), from, target, inside);
      is_first = false;
    });
    return line;
  }

  // Calls visit(row of the input) for each tap of the axes from `axis` to the last but one.
  // `output` counts the outputs of these axes, of which there are `outputs`.
  template <typename Visit>
  void for_each_tap(size_t axis, int64_t output, int64_t outputs, int64_t row,
                    const Visit& visit) const {
    if (axis + 1 == window_.rank()) return visit(row);
    const int64_t behind = outputs / window_.out[axis];
    const int64_t start = window_.start(axis, output / behind);
    const ops::TapRange taps =
        ops::taps_inside(start, window_.kernel[axis], window_.dilations[axis], window_.in[axis]);
    for (int64_t tap = taps.begin; tap < taps.end; ++tap) {
      const int64_t at = start + tap * window_.dilations[axis];
      for_each_tap(axis + 1, output % behind, behind, row * window_.in[axis] + at, visit);
    }
  }

  // |in|^power.
  const float* raised(const float* in, float* out, size_t count) const {
    const auto power = static_cast<float>(power_);
    unary_row(power_ == 2 ? Unary::kSquare : Unary::kAbs, {}, in, out, count);
    if (power_ > 2) binary_row(Binary::kPow, out, true, &power, false, out, count);
    return out;
  }

  void take_root(float* out, size_t count) const {
    const float root = 1 / static_cast<float>(power_);
    if (power_ == 2) unary_row(Unary::kSqrt, {}, out, out, count);
    if (power_ > 2) binary_row(Binary::kPow, out, true, &root, false, out, count);
  }

  void divide(const Piece& piece, float* counts, float* out) const {
    float others = 1;
    int64_t output = piece.row;
    for (size_t axis = window_.rank() - 1; axis-- > 0; output /= window_.out[axis])
      others *= static_cast<float>(count_of(axis, output % window_.out[axis]));
    const auto count = static_cast<size_t>(piece.count);
    const float* own = counts_.data() + piece.first;
    binary_row(Binary::kMul, own, true, &others, false, counts, count);
    binary_row(Binary::kDiv, out, true, counts, true, out, count);
  }

  Method method_;
  int64_t power_;
  ops::Window window_;
  int64_t channels_;        // of all batch entries
  RowWindows rows_{};       // of the last axis
  int64_t piece_, pieces_;  // windows of the last axis that are computed together
  int64_t out_rows_ = 1;    // of a channel
  double taps_ = 1;         // of all axes but the last
  std::vector<float> counts_;
  int threads_ = 1;
};

Prepared prepare_windows(const KernelRequest& request, const ops::PoolAttrs& attrs, Method method,
                         int64_t power = 0) {
  // What one thread does between two looks at the clock at most, and the longest window.
  constexpr double kMostWork = 1 << 26;
  constexpr int64_t kLongestWindow = 1 << 20;
  const KernelTensor &x = request.inputs[0], &y = request.outputs[0];
  if (x.dtype != DType::kFloat) return Prepared::refuse("only float is computed here");
  if (request.wants(1)) return Prepared::refuse("indices are left to the reference");
  if (element_count(x.shape) == 0 || element_count(y.shape) == 0)
    return Prepared::refuse("there are no elements");
  const ops::Window window = ops::pool_window(request.op.name, attrs, x.shape);
  if (window.extent(window.rank() - 1) > kLongestWindow)
    return Prepared::refuse("windows of this length are left to the reference");
  if (method == Method::kMax && ops::has_empty_window(window))
    return Prepared::refuse("a window lies in the padding");
  auto kernel =
      std::make_unique<PoolKernel>(method, power, window, x.shape[0] * x.shape[1], request.threads);
  if (kernel->work_of_piece() > kMostWork)
    return Prepared::refuse("windows of this size are left to the reference");
  return Prepared::accept(std::move(kernel), "rows");
}

Prepared prepare_max(const KernelRequest& request) {
  return prepare_windows(request, request.attrs<ops::MaxPoolAttrs>(), Method::kMax);
}

Prepared prepare_average(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::AveragePoolAttrs>();
  return prepare_windows(request, attrs,
                         attrs.count_include_pad ? Method::kAverageWithPads : Method::kAverage);
}

Prepared prepare_norm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::LpPoolAttrs>();
  return prepare_windows(request, attrs, Method::kNorm, attrs.p);
}

constexpr KernelEntry kPoolEntries[] = {{"MaxPool", "windows", prepare_max},
                                        {"AveragePool", "windows", prepare_average},
                                        {"LpPool", "windows", prepare_norm}};

}  // namespace

std::span<const KernelEntry> pool_entries() {
  return kPoolEntries;
}

}  // namespace sardonyx::cpu
