// ConvTranspose and FusedConvTranspose in float32 by our own kernel, channels last, on one or two
// spatial axes: any groups, strides, pads and dilations.
//
// A GEMM multiplies the pixels of a few input rows with all taps of the window; the products stay
// in a near cache until all products of an output row are there to be accumulated (col2im).
// Depthwise, taps are multiplied while they are accumulated. Windows that do not overlap need no
// accumulation: the GEMM writes the output.
#include <cmath>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/conv.h"
#include "providers/cpu/conv/conv_transpose_params.h"
#include "providers/cpu/conv/deconv_accumulate.h"
#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/image_layout.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/lookup_table_limits.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

// Work below this many multiplications is not worth a second thread.
constexpr int64_t kProductsPerThread = 1 << 17;
// Multiplications between two checks of the deadline.
constexpr int64_t kMaxProducts = int64_t{1} << 30;
// Products that a thread may keep, in elements.
constexpr int64_t kMaxKept = int64_t{1} << 24;

class TransposedKernel : public Kernel {
 public:
  TransposedKernel(const ConvTransposeParams& form, const Epilogue& finish,
                   std::shared_ptr<const Buffer> weights, std::shared_ptr<const Buffer> bias,
                   int threads)
      : f_(form),
        finish_(finish),
        patterns_(patterns_of(form)),
        edges_(columns_outside(form, patterns_)),
        weights_(std::move(weights)),
        bias_(std::move(bias)),
        zeros_(static_cast<size_t>(f_.taps() * f_.chunk + kGemmF32Unit)) {
    const int64_t most = std::max<int64_t>(f_.products() / kProductsPerThread, 1);
    threads_ = static_cast<int>(std::min<int64_t>(threads, most));
    const int64_t whole = f_.images * f_.groups * f_.chunks();
    if (whole % threads_ != 0 && whole < kManyTasks * threads_)
      bands_ = std::min<int64_t>(threads_, f_.rows.out);
    threads_ = static_cast<int>(std::min<int64_t>(threads_, whole * bands_));
  }

  void run(const KernelArgs& args) const override {
    const int64_t tasks = f_.images * f_.groups * f_.chunks() * bands_;
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      DeconvWork share{args, sign, args.scratch + part * share_bytes()};
      for (int64_t task = tasks * part / parts; task < tasks * (part + 1) / parts; ++task)
        run_task(share, task);
    });
  }
  size_t scratch_bytes() const override { return static_cast<size_t>(threads_ * share_bytes()); }

 private:
  static constexpr int64_t kManyTasks = 4;  // for each thread
  static constexpr int64_t kLine = 64;      // bytes

  struct DeconvWork {
    const KernelArgs& args;
    const CancelFlag& sign;
    std::byte* scratch;  // products, then addresses of taps and of their factors
  };
  // A task: some output channels of one image.
  struct DeconvTask {
    const float* in;  // the group's channels of the image
    float* out;       // the first output channel
    const float* weights;
    const float* bias;
    int64_t channels;
  };
  // The addresses of the taps that are accumulated.
  struct TapPointers {
    const float** taps;
    const float** factors;
    size_t count = 0;
  };

  int64_t kept_bytes() const {
    if (f_.is_depthwise || f_.is_tiled) return 0;
    const auto bytes = f_.rows_kept() * f_.row_size() * static_cast<int64_t>(sizeof(float));
    return (bytes + kLine - 1) / kLine * kLine;
  }
  int64_t share_bytes() const {
    const auto addresses = 2 * f_.taps() * static_cast<int64_t>(sizeof(const float*));
    return kept_bytes() + (addresses + kLine - 1) / kLine * kLine;
  }
  float* kept(const DeconvWork& share) const { return reinterpret_cast<float*>(share.scratch); }
  TapPointers no_taps(const DeconvWork& share) const {
    auto* addresses = reinterpret_cast<const float**>(share.scratch + kept_bytes());
    return {addresses, addresses + f_.taps()};
  }

  void run_task(const DeconvWork& share, int64_t task) const {
    const int64_t band = task % bands_, chunk = task / bands_ % f_.chunks();
    const int64_t group = task / bands_ / f_.chunks() % f_.groups;
    const int64_t image = task / bands_ / f_.chunks() / f_.groups;
    const int64_t first = group * f_.outputs + chunk * f_.chunk;
    const int64_t in_image = f_.rows.in * f_.columns.in * f_.in_channels();
    const int64_t out_image = f_.rows.out * f_.columns.out * f_.out_channels();
    const auto* weights = reinterpret_cast<const float*>(weights_->data());
    const DeconvTask at{
        static_cast<const float*>(share.args.inputs[0]) + image * in_image + group * f_.inputs,
        static_cast<float*>(share.args.outputs[0]) + image * out_image + first,
        weights + (group * f_.chunks() + chunk) * f_.weight_size(),
        reinterpret_cast<const float*>(bias_->data()) + first, f_.chunk_size(chunk)};
    if (f_.is_tiled)
      run_tiles(share, at, f_.rows.in * band / bands_, f_.rows.in * (band + 1) / bands_);
    else
      run_band(share, at, f_.rows.out * band / bands_, f_.rows.out * (band + 1) / bands_);
  }

  // Computes rows [begin, end) of the input, each of which writes its own rows of the output.
  void run_tiles(const DeconvWork& share, const DeconvTask& task, int64_t begin,
                 int64_t end) const {
    GemmF32Args rows;
    rows.bias = task.bias;
    rows.residual = nullptr;
    rows.in_step = f_.in_channels();
    rows.outputs = rows.out_step = f_.run() * task.channels;
    rows.inputs = f_.inputs;
    rows.low = finish_.low;
    rows.high = finish_.high;
    for (int64_t row = begin; row < end && !share.sign.ask(); ++row) {
      rows.in = task.in + row * f_.columns.in * rows.in_step;
      for (int64_t tap = 0; tap < f_.rows.kernel; ++tap) {
        rows.weights = task.weights + f_.weight_size() / f_.rows.kernel * tap;
        rows.out = task.out + (row * f_.rows.kernel + tap) * f_.columns.out * f_.out_channels();
        run_gemm_f32(rows, 0, f_.columns.in, 0, rows.outputs);
        if (finish_.function) apply(task, rows.out);
      }
    }
  }

  // Computes rows [begin, end) of the output.
  void run_band(const DeconvWork& share, const DeconvTask& task, int64_t begin, int64_t end) const {
    const int64_t stop = f_.rows.end_input(end);
    int64_t input = std::min(f_.rows.lowest_input(begin), stop);
    for (int64_t row = begin; row < end && !share.sign.ask();) {
      const int64_t next = std::min(input + f_.rows_per_tile, stop);
      if (!f_.is_depthwise) multiply(share, task, input, next);
      input = next;
      const int64_t complete = input == stop ? end : std::min(f_.rows.completed_by(input), end);
      for (; row < complete; ++row)
        sum_row(share, task, row);
    }
  }

  // Multiplies rows [begin, end) of the input with all taps.
  void multiply(const DeconvWork& share, const DeconvTask& task, int64_t begin, int64_t end) const {
    GemmF32Args rows;
    rows.weights = task.weights;
    rows.bias = zeros_.data();
    rows.residual = nullptr;
    rows.in_step = f_.in_channels();
    rows.outputs = rows.out_step = f_.taps() * task.channels;
    rows.inputs = f_.inputs;
    rows.low = -HUGE_VALF;
    rows.high = HUGE_VALF;
    while (begin < end) {
      const int64_t slot = begin % f_.rows_kept();
      const int64_t count = std::min(end - begin, f_.rows_kept() - slot);
      rows.in = task.in + begin * f_.columns.in * rows.in_step;
      rows.out = kept(share) + slot * f_.columns.in * rows.out_step;
      run_gemm_f32(rows, 0, count * f_.columns.in, 0, rows.outputs);
      begin += count;
    }
  }

  // Appends the address of the products of input (row, column) at a tap.
  void add_tap(const DeconvWork& share, const DeconvTask& task, int64_t row, int64_t column,
               int64_t tap, TapPointers& to) const {
    const size_t index = to.count++;
    if (f_.is_depthwise) {
      to.taps[index] = task.in + (row * f_.columns.in + column) * f_.in_channels();
      to.factors[index] = task.weights + tap * f_.chunk;
      return;
    }
    const int64_t pixel = row % f_.rows_kept() * f_.columns.in + column;
    to.taps[index] = kept(share) + (pixel * f_.taps() + tap) * task.channels;
  }

  // Calls visit(row of the input, first tap of that row of the window) for each row that adds to
  // `row`.
  template <typename Visit>
  void for_row_taps(int64_t row, const Visit& visit) const {
    for (int64_t tap = 0; tap < f_.rows.kernel; ++tap) {
      const int64_t input = f_.rows.input_of(row, tap);
      if (input >= 0) visit(input, tap * f_.padded_columns);
    }
  }

  void sum_row(const DeconvWork& share, const DeconvTask& task, int64_t row) const {
    float* out = task.out + row * f_.columns.out * f_.out_channels();
    for (const TransposedPattern& pattern : patterns_) {
      if (pattern.begin == pattern.end) continue;
      TapPointers taps = no_taps(share);
      for_row_taps(row, [&](int64_t input, int64_t first) {
        for (const auto& [tap, shift] : pattern.taps)
          add_tap(share, task, input, pattern.begin + shift, first + tap, taps);
      });
      const int64_t column = pattern.begin * f_.columns.stride + pattern.first;
      sum(task, taps, out + column * f_.out_channels(), pattern.run * task.channels,
          pattern.end - pattern.begin);
    }
    for (const int64_t column : edges_) {
      TapPointers taps = no_taps(share);
      for_row_taps(row, [&](int64_t input, int64_t first) {
        for (int64_t tap = 0; tap < f_.columns.kernel; ++tap) {
          const int64_t from = f_.columns.input_of(column, tap);
          if (from >= 0) add_tap(share, task, input, from, first + tap, taps);
        }
      });
      sum(task, taps, out + column * f_.out_channels(), task.channels, 1);
    }
    if (finish_.function) apply(task, out);
  }

  void sum(const DeconvTask& task, const TapPointers& taps, float* out, int64_t channels,
           int64_t pixels) const {
    TapRow row;
    row.taps = taps.taps;
    row.factors = f_.is_depthwise ? taps.factors : nullptr;
    row.count = taps.count;
    row.bias = task.bias;
    row.out = out;
    row.tap_step = f_.is_depthwise ? f_.in_channels() : f_.taps() * task.channels;
    row.out_step = f_.columns.stride * f_.out_channels();
    row.channels = channels;
    row.low = finish_.low;
    row.high = finish_.high;
    sum_taps(row, pixels);
  }

  // Applies the activation to a row of the output.
  void apply(const DeconvTask& task, float* out) const {
    const auto& [op, params] = *finish_.function;
    const bool is_whole = task.channels == f_.out_channels();
    const int64_t pixels = is_whole ? 1 : f_.columns.out;
    const int64_t length = is_whole ? f_.columns.out * task.channels : task.channels;
    for (int64_t pixel = 0; pixel < pixels; ++pixel, out += f_.out_channels())
      unary_row(op, params, out, out, static_cast<size_t>(length));
  }

  ConvTransposeParams f_;
  Epilogue finish_;
  std::vector<TransposedPattern> patterns_;
  std::vector<int64_t> edges_;
  std::shared_ptr<const Buffer> weights_, bias_;
  std::vector<float> zeros_;
  int64_t bands_ = 1;  // bands of rows, one per thread
  int threads_ = 1;
};

const char* why_unsupported_request(const KernelRequest& request) {
  if (!request.layouts) return "layouts are not free";
  const KernelTensor& x = request.inputs[0];
  if (x.dtype != DType::kFloat || x.shape.size() < 3 || x.shape.size() > 4)
    return "only rows and images of float are computed here";
  if (!request.inputs[1].constant || (request.has(2) && !request.inputs[2].constant))
    return "the weights are not known ahead";
  return nullptr;
}

// Threads check the deadline between a few rows of the input.
const char* why_unsupported_params(const ConvTransposeParams& form) {
  const double row = static_cast<double>(form.columns.in) * static_cast<double>(form.taps()) *
                     static_cast<double>(form.chunk);
  if (row * static_cast<double>(form.rows_kept()) > static_cast<double>(kMaxKept) ||
      row * static_cast<double>(form.rows_per_tile * form.inputs) >
          static_cast<double>(kMaxProducts))
    return "large windows are left to others";
  return why_unsupported_tables({form.columns.out, form.columns.stride, form.columns.kernel});
}

std::span<const float> constant_floats(const KernelRequest& request, size_t input) {
  if (!request.has(input)) return {};
  return request.inputs[input].constant->values<float>();
}

Prepared prepare(const KernelRequest& request) {
  if (const char* why = why_unsupported_request(request)) return Prepared::refuse(why);
  const auto [attrs, activation] = transposed_call(request);
  const KernelTensor &x = request.inputs[0], &w = request.inputs[1], &y = request.outputs[0];
  const auto finish = make_epilogue(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  const ops::Window window = ops::conv_transpose_window(request.op.name, attrs, x.shape, w.shape);
  const ConvTransposeParams form =
      conv_transpose_params(window, x.shape, w.shape, attrs.group, request.threads);
  if (const char* why = why_unsupported_params(form)) return Prepared::refuse(why);
  const std::string name = text("transposed ", attrs.group, " ", form.chunk, " ",
                                form.padded_columns, " ", form.is_tiled, " ", form.run());
  auto weights =
      packed_floats_once(request, 1, name, form.groups * form.chunks() * form.weight_size(),
                         [&](float* to) { pack_weights(form, peek_floats(*w.constant), to); });
  auto bias = packed_floats_once(request, 2, name, form.bias_size(), [&](float* to) {
    pack_bias(form, constant_floats(request, 2), to);
  });
  Prepared prepared =
      Prepared::accept(std::make_unique<TransposedKernel>(form, *finish, std::move(weights),
                                                          std::move(bias), request.threads),
                       "transposed");
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[0] = float_image_layout(x.shape, false);
  prepared.output_layouts = {float_image_layout(y.shape, false)};
  prepared.unread_inputs = 1u << 1 | 1u << 2;
  return prepared;
}

constexpr KernelEntry kEntries[] = {
    {"ConvTranspose", "conv_transpose", size_checked<prepare>},
    {"sardonyx::FusedConvTranspose", "conv_transpose", size_checked<prepare>},
};

}  // namespace

std::span<const KernelEntry> conv_transpose_kernels() {
  return kEntries;
}

}  // namespace sardonyx::cpu
