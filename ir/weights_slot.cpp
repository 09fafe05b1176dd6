#include "ir/weights_slot.h"

#include <algorithm>
#include <iterator>

#include "ir/op.h"

namespace sardonyx {
namespace {

struct Weights {
  std::string_view domain, op;
  size_t slot;
};

constexpr Weights kWeights[] = {
    {"", "Conv", 1},
    {"", "ConvInteger", 1},
    {"", "ConvTranspose", 1},
    {"", "Gather", 0},
    {"", "Gemm", 1},
    {"", "MatMul", 1},
    {"", "MatMulInteger", 1},
    {"", "QLinearConv", 3},
    {"", "QLinearMatMul", 3},
    {"com.microsoft", "MatMulIntegerToFloat", 1},
    {"com.microsoft", "QGemm", 3},
    {"sardonyx", "FusedConv", 1},
    {"sardonyx", "FusedConvTranspose", 1},
    {"sardonyx", "FusedMatMul", 1},
};

}  // namespace

std::optional<size_t> weights_slot(std::string_view domain, std::string_view op) {
  domain = canonical_domain(domain);
  const auto* found = std::ranges::find_if(
      kWeights, [&](const Weights& row) { return row.domain == domain && row.op == op; });
  if (found == std::end(kWeights)) return std::nullopt;
  return found->slot;
}

}  // namespace sardonyx
