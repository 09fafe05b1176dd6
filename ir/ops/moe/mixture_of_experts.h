// com.microsoft's MoE and QMoE: mixtures of experts, of which each token's router chooses some. An
// expert is a network of two layers, FC1 and FC2, with FC3 as the gate's partner where there is
// one.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "ir/ops/moe/expert_routing.h"
#include "ir/ops/moe/swiglu.h"

namespace sardonyx::ops {

struct MoEAttrs {
  float activation_alpha = 1, activation_beta = 0;
  std::string activation_type = "relu";
  int64_t k = 1;
  int64_t normalize_routing_weights = 0, swiglu_fusion = 0;
  std::optional<float> swiglu_limit;
  int64_t use_sparse_mixer = 0;
  static auto fields() {
    using A = MoEAttrs;
    return std::tuple{field("activation_alpha", &A::activation_alpha),
                      field("activation_beta", &A::activation_beta),
                      field("activation_type", &A::activation_type),
                      field("k", &A::k),
                      field("normalize_routing_weights", &A::normalize_routing_weights),
                      field("swiglu_fusion", &A::swiglu_fusion),
                      field("swiglu_limit", &A::swiglu_limit),
                      field("use_sparse_mixer", &A::use_sparse_mixer)};
  }
};

struct QMoEAttrs : MoEAttrs {
  int64_t accuracy_level = 0, block_size = 0, expert_weight_bits = 4;
  std::string quant_type = "int";
  int64_t weights_prepacked = -1;
  static auto fields() {
    using A = QMoEAttrs;
    return std::tuple_cat(
        MoEAttrs::fields(),
        std::tuple{field("accuracy_level", &A::accuracy_level), field("block_size", &A::block_size),
                   field("expert_weight_bits", &A::expert_weight_bits),
                   field("quant_type", &A::quant_type),
                   field("weights_prepacked", &A::weights_prepacked)});
  }
  int64_t values_per_byte() const { return 8 / expert_weight_bits; }
};

// Slots of what both operators have.
constexpr size_t kMixtureInput = 0, kMixtureRouter = 1;

// Slots of one layer's inputs; those that an operator has not got are kNoSlot.
constexpr size_t kNoSlot = std::numeric_limits<size_t>::max();
struct ExpertLayerSlots {
  size_t weights, scales, bias, zero_points;
};
constexpr ExpertLayerSlots kMoELayers[] = {
    {2, kNoSlot, 3, kNoSlot}, {4, kNoSlot, 5, kNoSlot}, {6, kNoSlot, 7, kNoSlot}};
constexpr ExpertLayerSlots kQMoELayers[] = {{2, 3, 4, 11}, {5, 6, 7, 12}, {8, 9, 10, 13}};
constexpr size_t kRouterWeights = 14;  // of QMoE
enum ExpertLayer : size_t { kFc1, kFc2, kFc3 };

// The way from what FC1 (and FC3) give to what FC2 takes.
enum class ExpertGate : uint8_t {
  kNone,         // activation(FC1)
  kSeparate,     // activation(FC1) * FC3, or swiglu of the two
  kInterleaved,  // swiglu of the elements of FC1 at even and at odd places
  kHalves        // swiglu of the first and the second half of FC1
};

struct ExpertSizes {
  int64_t tokens, hidden, inner, experts;
  ExpertGate gate;
  // Rows of FC1's weights.
  int64_t fc1_outputs() const {
    return gate == ExpertGate::kInterleaved || gate == ExpertGate::kHalves ? 2 * inner : inner;
  }
  // Both of a layer's weights, by ExpertLayer.
  int64_t inputs_of(size_t layer) const { return layer == kFc2 ? inner : hidden; }
  int64_t outputs_of(size_t layer) const {
    return layer == kFc1 ? fc1_outputs() : layer == kFc2 ? hidden : inner;
  }
};

// Throws kInvalidModel or kUnsupported where attributes and inputs do not agree.
ExpertGate gate_of(const MoEAttrs& attrs, bool has_fc3);
// Those of a call whose shapes infer has checked; `values_per_element`: of fc2's weights.
ExpertSizes expert_sizes(ExpertGate gate, const Shape& input, const Shape& router,
                         const Shape& fc2_weights, int64_t values_per_element);
ExpertRouting expert_routing(const MoEAttrs& attrs, int64_t experts);

SwiGlu swiglu_of(const MoEAttrs& attrs);

std::span<const OpDef> contrib_mixture_ops();

void moe_reference(const KernelCall& call);
void qmoe_reference(const KernelCall& call);
Vals moe_grad(Emitter& e, const GradCall& call);
Vals qmoe_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
