// Experts in float32: one GEMM for each expert's rows.
#include <algorithm>
#include <limits>

#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/moe/expert_weights.h"
#include "providers/cpu/packed_weights.h"

namespace sardonyx::cpu {
namespace {

class FloatExpertWeights : public ExpertWeights {
 public:
  FloatExpertWeights(const KernelRequest& request, const ops::ExpertSizes& sizes, size_t layer)
      : ExpertWeights(sizes.inputs_of(layer), sizes.outputs_of(layer)),
        slots_(ops::kMoELayers[layer]),
        has_bias_(request.has(slots_.bias)) {
    if (request.inputs[slots_.weights].constant) pack(request, sizes.experts);
  }

  // Panels of weights that are packed in a run are made for few columns, so that a near cache has
  // them.
  int64_t columns_per_task() const override { return packed_ ? kPackedColumns : kGemmF32Unit; }
  int64_t scratch_floats() const override {
    return columns_per_task() + (packed_ ? 0 : kGemmF32Unit * inputs());
  }

  void multiply(const KernelArgs& args, const ExpertProduct& p, float* scratch) const override {
    GemmF32Args gemm{};
    gemm.weights = packed_ ? reinterpret_cast<const float*>(packed_->data()) +
                                 p.expert * expert_floats_ + p.first * inputs()
                           : panel(args, p, scratch + columns_per_task());
    std::fill_n(scratch, columns_per_task(), 0.0f);
    if (has_bias_) {
      const auto* bias = static_cast<const float*>(args.inputs[slots_.bias]);
      std::copy_n(bias + p.expert * outputs() + p.first, p.columns, scratch);
    }
    gemm.bias = scratch;
    gemm.in = p.in;
    gemm.in_step = p.in_step;
    gemm.inputs = inputs();
    gemm.out = p.out + p.first;
    gemm.out_step = p.out_step;
    gemm.outputs = p.columns;
    gemm.low = -std::numeric_limits<float>::infinity();
    gemm.high = -gemm.low;
    if (p.rows <= kMaxSplitRows)
      run_gemm_f32_few_rows(gemm, p.rows, 0, p.columns);
    else
      run_gemm_f32(gemm, 0, p.rows, 0, p.columns);
  }

 private:
  static constexpr int64_t kPackedColumns = 4 * kGemmF32Unit;

  void pack(const KernelRequest& request, int64_t experts) {
    expert_floats_ = packed_gemm_f32_size(inputs(), outputs());
    packed_ = packed_floats_once(
        request, slots_.weights, "panels of experts", experts * expert_floats_, [&](float* to) {
          const LooseFloat* from = peek_floats(*request.inputs[slots_.weights].constant);
          for (int64_t e = 0; e < experts; ++e) {
            pack_gemm_f32(from + e * outputs() * inputs(), inputs(), 1, inputs(), outputs(),
                          to + e * expert_floats_, request.threads);
          }
        });
  }

  const float* panel(const KernelArgs& args, const ExpertProduct& p, float* to) const {
    const auto* weights = static_cast<const float*>(args.inputs[slots_.weights]);
    pack_gemm_f32(weights + (p.expert * outputs() + p.first) * inputs(), inputs(), 1, inputs(),
                  p.columns, to);
    return to;
  }

  ops::ExpertLayerSlots slots_;
  bool has_bias_;
  std::shared_ptr<const Buffer> packed_;
  int64_t expert_floats_ = 0;
};

}  // namespace

std::unique_ptr<ExpertWeights> float_expert_weights(const KernelRequest& request,
                                                    const ops::ExpertSizes& sizes, size_t layer) {
  return std::make_unique<FloatExpertWeights>(request, sizes, layer);
}

}  // namespace sardonyx::cpu
