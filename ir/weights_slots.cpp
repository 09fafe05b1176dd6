#include "ir/weights_slots.h"

#include <algorithm>
#include <iterator>

#include "ir/op.h"

namespace sardonyx {
namespace {

struct Weights {
  std::string_view domain, op;
  uint32_t slots;
};

// W and R of a recurrent layer.
constexpr uint32_t kBothOfLayer = 1u << 1 | 1u << 2;

constexpr Weights kWeights[] = {
    {"", "Conv", 1u << 1},
    {"", "ConvInteger", 1u << 1},
    {"", "ConvTranspose", 1u << 1},
    {"", "Gather", 1u << 0},
    {"", "GRU", kBothOfLayer},
    {"", "Gemm", 1u << 1},
    {"", "LSTM", kBothOfLayer},
    {"", "MatMul", 1u << 1},
    {"", "MatMulInteger", 1u << 1},
    {"", "QLinearConv", 1u << 3},
    {"", "QLinearMatMul", 1u << 3},
    {"", "RNN", kBothOfLayer},
    {"com.microsoft", "MatMulIntegerToFloat", 1u << 1},
    {"com.microsoft", "QGemm", 1u << 3},
    {"sardonyx", "FusedConv", 1u << 1},
    {"sardonyx", "FusedConvTranspose", 1u << 1},
    {"sardonyx", "FusedMatMul", 1u << 1},
};

}  // namespace

uint32_t weights_slots(std::string_view domain, std::string_view op) {
  domain = canonical_domain(domain);
  const auto* found = std::ranges::find_if(
      kWeights, [&](const Weights& row) { return row.domain == domain && row.op == op; });
  return found == std::end(kWeights) ? 0 : found->slots;
}

bool may_be_away(const OpDef& op, size_t slot) {
  return has_bit(weights_slots(op.domain, op.name), slot);
}

}  // namespace sardonyx
