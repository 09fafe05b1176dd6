// Which experts a token of a mixture of experts goes to, and by which share each answer counts.
#pragma once

#include <cstdint>

namespace sardonyx::ops {

struct ExpertRouting {
  int64_t experts, chosen;  // chosen: of each token, from 1 to `experts`
  bool normalized;          // the shares of a token's experts are divided by their sum
  bool sparse_mixer;        // SparseMixer's two experts, see below
};

// chosen[j] and shares[j]: the experts with the `routing.chosen` highest logits, in that order; of
// equal ones the last goes first, as in ONNX Runtime, and a NaN before all numbers. A share is the
// expert's part of the softmax of all logits, or its element of `weights` where that is not null.
//
// SparseMixer (Liu et al., "GRIN: GRadient-INformed MoE", 2024, as Phi-3.5-MoE infers with it):
// the share of each of the two is that of the softmax of what is left when experts further than
// 2 * 0.01 * max(|logit|, highest) below the highest are dropped; for the second one the first is
// dropped as well.
void route_token(const ExpertRouting& routing, const float* logits, const float* weights,
                 int32_t* chosen, float* shares);

}  // namespace sardonyx::ops
