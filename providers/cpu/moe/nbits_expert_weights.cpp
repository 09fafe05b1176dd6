// Experts in few bits: the products of MatMulNBits, for each expert's rows.
#include <algorithm>

#include "providers/cpu/gemm/nbits_product.h"
#include "providers/cpu/moe/expert_weights.h"

namespace sardonyx::cpu {
namespace {

class NBitsExpertWeights : public ExpertWeights {
 public:
  NBitsExpertWeights(const KernelRequest& request, const ops::ExpertSizes& sizes, size_t layer)
      : ExpertWeights(sizes.inputs_of(layer), sizes.outputs_of(layer)),
        slots_(ops::kQMoELayers[layer]),
        has_bias_(request.has(slots_.bias)) {
    const auto& attrs = request.attrs<ops::QMoEAttrs>();
    const int64_t block = attrs.block_size > 0 ? attrs.block_size : inputs();
    row_ = {static_cast<int>(attrs.expert_weight_bits), static_cast<size_t>(inputs() / block),
            static_cast<size_t>(block / attrs.values_per_byte())};
    if (!request.has(slots_.zero_points)) return;
    const bool by_block = request.inputs[slots_.zero_points].shape.size() == 3;
    zeros_ = by_block ? NBitsZeros::kPacked : NBitsZeros::kPackedColumns;
    const int64_t values = by_block ? inputs() / block : outputs();
    const int64_t bytes = (values + attrs.values_per_byte() - 1) / attrs.values_per_byte();
    expert_zero_bytes_ = by_block ? outputs() * bytes : bytes;
  }

  int64_t row_step() const override { return spread_step(row_); }
  // multiply_nbits() reads blocks in vectors of four bytes at least.
  bool spreads(int64_t rows) const override {
    return rows < kMinPanelRows && row_.block_bytes % 4 == 0;
  }
  void spread(const KernelArgs& args, const float* from, float* scratch, float* to) const override {
    spread_nbits_row(matrix(args, 0), from, scratch, to);
  }
  int64_t columns_per_task() const override { return kNBitsColumns; }
  int64_t scratch_floats() const override {
    return std::max({nbits_panel_floats(row_), static_cast<int64_t>(row_.block_size()),
                     kNBitsColumns * static_cast<int64_t>(row_.blocks)});
  }

  void multiply(const KernelArgs& args, const ExpertProduct& p, float* scratch) const override {
    const NBitsProduct product{p.in, p.in_step, p.rows, p.out, p.out_step};
    const NBitsMatrix weights = matrix(args, p.expert);
    if (spreads(p.rows))
      multiply_nbits_directly(weights, product, p.first, p.columns, scratch);
    else
      multiply_nbits_by_panels(weights, product, p.first, p.columns, scratch);
  }

 private:
  NBitsMatrix matrix(const KernelArgs& args, int64_t expert) const {
    const int64_t columns = expert * outputs();
    const auto bytes = static_cast<int64_t>(row_.blocks * row_.block_bytes);
    const auto* weights = static_cast<const uint8_t*>(args.inputs[slots_.weights]);
    const auto* scales = static_cast<const float*>(args.inputs[slots_.scales]);
    NBitsMatrix out{inputs(),
                    row_,
                    weights + columns * bytes,
                    scales + columns * static_cast<int64_t>(row_.blocks),
                    zeros_,
                    nullptr,
                    nullptr};
    if (zeros_ != NBitsZeros::kMiddle) {
      out.zero_points = static_cast<const uint8_t*>(args.inputs[slots_.zero_points]) +
                        expert * expert_zero_bytes_;
    }
    if (has_bias_) out.bias = static_cast<const float*>(args.inputs[slots_.bias]) + columns;
    return out;
  }

  ops::ExpertLayerSlots slots_;
  bool has_bias_;
  NBitsRow row_{};
  NBitsZeros zeros_ = NBitsZeros::kMiddle;
  int64_t expert_zero_bytes_ = 0;
};

}  // namespace

std::unique_ptr<ExpertWeights> nbits_expert_weights(const KernelRequest& request,
                                                    const ops::ExpertSizes& sizes, size_t layer) {
  return std::make_unique<NBitsExpertWeights>(request, sizes, layer);
}

}  // namespace sardonyx::cpu
