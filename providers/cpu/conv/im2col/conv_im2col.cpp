// Conv and FusedConv of float32 between row-major tensors of any rank by im2col: the windows of a
// tile are copied into a matrix, which is multiplied with the weights. Weights may be inputs.
#include <algorithm>
#include <span>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"
#include "providers/cpu/conv/conv_entries.h"
#include "providers/cpu/conv/im2col/window_plane.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/image_layout.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/size_check.h"

namespace sardonyx::cpu {
namespace {

// Elements of an im2col matrix that fits into the L2 cache with its packed copy.
constexpr int64_t kMatrixElements = 1 << 17;

// Neighbours in a row of windows, at one tap, that are inside the plane.
struct TapRun {
  int64_t column, length, place, step;
};

class Im2ColKernel : public Kernel {
 public:
  Im2ColKernel(const KernelRequest& request, const ops::ConvAttrs& attrs, Epilogue finish)
      : plane_(ops::conv_window(request.op.name, attrs, request.inputs[0].shape,
                                request.inputs[1].shape)),
        finish_(std::move(finish)),
        has_bias_(request.has(2)),
        has_residual_(request.has(3)) {
    const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape;
    groups_ = attrs.group;
    parts_ = x[0] * groups_;
    inputs_ = x[1] / groups_;
    outputs_ = w[0] / groups_;
    depth_ = inputs_ * plane_.taps();
    zeros_ = has_bias_ ? 0 : rounded_up(outputs_, kLine);
    const int64_t units = std::max<int64_t>(kMatrixElements / depth_ / kGemmF32Unit, 1);
    tile_ = std::min(units * kGemmF32Unit, plane_.places());
    tiles_ = (plane_.places() + tile_ - 1) / tile_;
    const int64_t work = parts_ * outputs_ * depth_ * plane_.places();
    threads_ = static_cast<int>(
        std::min({int64_t{request.threads}, parts_ * tiles_, work / kElementsPerThread + 1}));
    packed_ = rounded_up(packed_gemm_f32_size(depth_, tile_), kLine);
    if (plane_.is_plane_itself()) return;
    matrix_ = rounded_up(depth_ * tile_, kLine);
    const auto runs = static_cast<size_t>(plane_.taps() * plane_.runs_at_a_tap(tile_));
    runs_ = rounded_up(static_cast<int64_t>(runs * sizeof(TapRun) / sizeof(float)), kLine);
  }

  // Scratch of each thread: the runs of a tile, the tile's im2col matrix, its packed copy, and
  // zeros in place of a bias.
  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * own()) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    for_each_task(parts_ * tiles_, threads_, outputs_ * depth_ * tile_,
                  [&](int64_t task, int64_t thread) {
                    float* memory = scratch + thread * own();
                    const int64_t first = task % tiles_ * tile_;
                    const int64_t count = std::min(tile_, plane_.places() - first);
                    pack(args, task / tiles_, first, count, memory);
                    multiply(args, task / tiles_, first, count, memory + runs_ + matrix_);
                  });
  }
  bool may_alias(size_t output, size_t input) const override {
    return has_residual_ && output == 0 && input == 3;
  }

 private:
  static constexpr int64_t kLine = 16;  // floats

  int64_t own() const { return runs_ + matrix_ + packed_ + zeros_; }

  // Packs the windows of `part`, a group of an image.
  void pack(const KernelArgs& args, int64_t part, int64_t first, int64_t count,
            float* memory) const {
    const float* from =
        static_cast<const float*>(args.inputs[0]) + part * inputs_ * plane_.elements();
    float *matrix = memory + runs_, *packed = matrix + matrix_;
    if (matrix_ == 0)
      return pack_gemm_f32(from + first, 1, plane_.elements(), depth_, count, packed);
    auto* runs = reinterpret_cast<TapRun*>(memory);
    const int64_t most = plane_.runs_at_a_tap(tile_);
    for (int64_t tap = 0; tap < plane_.taps(); ++tap)
      find_runs(tap, first, count, runs + tap * most, most);
    float* row = matrix;
    for (int64_t input = 0; input < inputs_; ++input, from += plane_.elements()) {
      for (int64_t tap = 0; tap < plane_.taps(); ++tap, row += count)
        gather(from, {runs + tap * most, static_cast<size_t>(most)}, count, row);
    }
    pack_gemm_f32(matrix, 1, count, depth_, count, packed);
  }

  // Lists the runs of a tap, which are the same in all channels, ended by one of length 0.
  void find_runs(int64_t tap, int64_t first, int64_t count, TapRun* runs, int64_t most) const {
    int64_t found = 0;
    plane_.for_each_run(tap, first, count, [&](auto... run) { runs[found++] = {run...}; });
    if (found < most) runs[found].length = 0;
  }

  // Gathers the elements of a plane that the runs cover, with zeros between them.
  static void gather(const float* plane, std::span<const TapRun> runs, int64_t count, float* row) {
    int64_t done = 0;
    for (const TapRun& run : runs) {
      if (run.length == 0) break;
      std::fill_n(row + done, run.column - done, 0.0f);
      if (run.step == 1) std::copy_n(plane + run.place, run.length, row + run.column);
      for (int64_t i = 0; i < run.length && run.step != 1; ++i)
        row[run.column + i] = plane[run.place + i * run.step];
      done = run.column + run.length;
    }
    std::fill_n(row + done, count - done, 0.0f);
  }

  void multiply(const KernelArgs& args, int64_t part, int64_t first, int64_t count,
                float* packed) const {
    std::fill_n(packed + packed_, zeros_, 0.0f);
    const int64_t group = part % groups_, place = part * outputs_ * plane_.places() + first;
    GemmF32Args product{};
    product.in = static_cast<const float*>(args.inputs[1]) + group * outputs_ * depth_;
    product.weights = packed;
    product.row_bias =
        has_bias_ ? static_cast<const float*>(args.inputs[2]) + group * outputs_ : packed + packed_;
    product.residual = has_residual_ ? static_cast<const float*>(args.inputs[3]) + place : nullptr;
    product.out = static_cast<float*>(args.outputs[0]) + place;
    product.in_step = product.inputs = depth_;
    product.out_step = plane_.places();
    product.outputs = count;
    product.low = finish_.low;
    product.high = finish_.high;
    run_gemm_f32(product, 0, outputs_, 0, count);
    if (!finish_.function) return;
    const auto& [op, params] = *finish_.function;
    for (int64_t output = 0; output < outputs_; ++output) {
      float* values = product.out + output * plane_.places();
      unary_row(op, params, values, values, static_cast<size_t>(count));
    }
  }

  WindowPlane<float> plane_;
  Epilogue finish_;
  bool has_bias_, has_residual_;
  int64_t groups_, parts_, inputs_, outputs_;       // channels: of a group
  int64_t depth_;                                   // products that make an output
  int64_t tile_, tiles_;                            // places of a tile, tiles of a plane
  int64_t runs_ = 0, matrix_ = 0, packed_, zeros_;  // floats of a thread
  int threads_;
};

Prepared prepare_im2col(const KernelRequest& request, const ops::ConvAttrs& attrs,
                        const ops::FusedActivation& activation) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  auto finish = make_epilogue(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  return Prepared::accept(std::make_unique<Im2ColKernel>(request, attrs, std::move(*finish)),
                          "im2col");
}

constexpr KernelEntry kIm2ColEntries[] = {
    {"Conv", "conv_im2col", size_checked<prepare_plain_conv<prepare_im2col>>},
    {"sardonyx::FusedConv", "conv_im2col", size_checked<prepare_fused_conv<prepare_im2col>>},
};

}  // namespace

std::span<const KernelEntry> conv_im2col_kernels() {
  return kIm2ColEntries;
}

}  // namespace sardonyx::cpu
