#include "ir/ops/moe/expert_routing.h"

#include <algorithm>
#include <cmath>

namespace sardonyx::ops {
namespace {

// Whether expert i is chosen before expert j: a total order, whatever the logits are.
bool is_chosen_before(const float* logits, int64_t i, int64_t j) {
  const float a = logits[i], b = logits[j];
  if (std::isnan(a) != std::isnan(b)) return std::isnan(a);
  return a == b || std::isnan(a) ? i > j : a > b;
}

// Keeps the best ones so far in a heap, the last of them on top.
void choose_experts(const ExpertRouting& routing, const float* logits, int32_t* chosen) {
  const auto is_before = [logits](int32_t i, int32_t j) { return is_chosen_before(logits, i, j); };
  int32_t* const end = chosen + routing.chosen;
  for (int32_t i = 0; i < routing.experts; ++i) {
    if (i < routing.chosen) {
      chosen[i] = i;
      std::push_heap(chosen, chosen + i + 1, is_before);
    } else if (is_before(i, *chosen)) {
      std::pop_heap(chosen, end, is_before);
      end[-1] = i;
      std::push_heap(chosen, end, is_before);
    }
  }
  std::sort_heap(chosen, end, is_before);
}

void share_by_softmax(const ExpertRouting& routing, const float* logits, const int32_t* chosen,
                      float* shares) {
  const float highest = logits[chosen[0]];
  float sum = 0;
  for (int64_t i = 0; i < routing.experts; ++i)
    sum += std::exp(logits[i] - highest);
  for (int64_t j = 0; j < routing.chosen; ++j)
    shares[j] = std::exp(logits[chosen[j]] - highest) / sum;
}

void share_by_sparse_mixer(const ExpertRouting& routing, const float* logits, const int32_t* chosen,
                           float* shares) {
  constexpr float kJitter = 0.01f;
  for (int64_t j = 0; j < routing.chosen; ++j) {
    const float highest = logits[chosen[j]];
    float sum = 0;
    for (int64_t i = 0; i < routing.experts; ++i) {
      const bool is_taken = j > 0 && i == chosen[0];
      const float reach = 2 * kJitter * std::max(std::abs(logits[i]), highest);
      if (!is_taken && !(highest - logits[i] > reach)) sum += std::exp(logits[i] - highest);
    }
    shares[j] = 1 / sum;
  }
}

}  // namespace

void route_token(const ExpertRouting& routing, const float* logits, const float* weights,
                 int32_t* chosen, float* shares) {
  choose_experts(routing, logits, chosen);
  if (routing.sparse_mixer) return share_by_sparse_mixer(routing, logits, chosen, shares);
  if (weights) {
    for (int64_t j = 0; j < routing.chosen; ++j)
      shares[j] = weights[chosen[j]];
  } else {
    share_by_softmax(routing, logits, chosen, shares);
  }
  if (!routing.normalized) return;
  float sum = 0;
  for (int64_t j = 0; j < routing.chosen; ++j)
    sum += shares[j];
  for (int64_t j = 0; j < routing.chosen; ++j)
    shares[j] = sum == 0 ? 0 : shares[j] / sum;
}

}  // namespace sardonyx::ops
