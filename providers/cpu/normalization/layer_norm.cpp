// LayerNormalization, with the statistics where they are asked for, and RMSNormalization on float32
// rows.
#include "ir/ops/normalization/batch_group_norm.h"

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/normalization/layer_norm_kernel.h"

namespace sardonyx::cpu {
namespace {

struct RowSizes {
  int64_t rows = 1, length = 1;
};

class LayerNormKernel : public Kernel {
 public:
  LayerNormKernel(RowSizes sizes, float epsilon, bool is_centered, const KernelRequest& request)
      : sizes_(sizes),
        epsilon_(epsilon),
        is_centered_(is_centered),
        has_bias_(request.has(2)),
        wants_mean_(request.wants(1)),
        wants_deviation_(request.wants(2)),
        threads_(static_cast<int>(std::min<int64_t>(
            request.threads, sizes.rows * sizes.length / kElementsPerThread + 1))) {}

  void run(const KernelArgs& args) const override {
    for_each_task(sizes_.rows, threads_, sizes_.length, [&](int64_t row) { run_row(args, row); });
  }
  bool may_alias(size_t output, size_t input) const override { return output == 0 && input == 0; }

 private:
  void run_row(const KernelArgs& args, int64_t row) const {
    const RowStatistics made =
        normalize_row(static_cast<const float*>(args.inputs[0]) + row * sizes_.length,
                      static_cast<const float*>(args.inputs[1]),
                      has_bias_ ? static_cast<const float*>(args.inputs[2]) : nullptr, epsilon_,
                      is_centered_, static_cast<float*>(args.outputs[0]) + row * sizes_.length,
                      static_cast<size_t>(sizes_.length));
    if (wants_mean_) static_cast<float*>(args.outputs[1])[row] = made.mean;
    if (wants_deviation_) static_cast<float*>(args.outputs[2])[row] = made.factor;
  }

  RowSizes sizes_;
  float epsilon_;
  bool is_centered_;
  bool has_bias_, wants_mean_, wants_deviation_;
  int threads_;
};

template <bool is_centered>
Prepared prepare_row_norm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::LayerNormalizationAttrs>();
  if (!all_of(request.inputs, DType::kFloat) || !all_of(request.outputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const Shape& x = request.inputs[0].shape;
  if (element_count(x) == 0) return Prepared::refuse("there are no elements");
  const size_t axis = axis_of(attrs.axis, x.size());
  RowSizes sizes;
  for (size_t dim = 0; dim < x.size(); ++dim)
    (dim < axis ? sizes.rows : sizes.length) *= x[dim];
  // Leading dims of 1 are allowed; any other shape is broadcast over some dim.
  for (const size_t input : {1, 2}) {
    if (!request.has(input)) continue;
    if (element_count(request.inputs[input].shape) != sizes.length)
      return Prepared::refuse("scale or bias is repeated");
    const Shape& shape = request.inputs[input].shape;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const size_t ahead = x.size() - shape.size();
      if (shape[dim] != (dim + ahead < axis ? 1 : x[dim + ahead]))
        return Prepared::refuse("scale or bias has other dims");
    }
  }
  return Prepared::accept(
      std::make_unique<LayerNormKernel>(sizes, attrs.epsilon, is_centered, request), "layer_norm");
}

constexpr KernelEntry kNormalizationEntries[] = {
    {"LayerNormalization", "layer_norm", prepare_row_norm<true>},
    {"RMSNormalization", "layer_norm", prepare_row_norm<false>},
};

}  // namespace

std::span<const KernelEntry> layer_norm_kernels() {
  return kNormalizationEntries;
}

}  // namespace sardonyx::cpu
