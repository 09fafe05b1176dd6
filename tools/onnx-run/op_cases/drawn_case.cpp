#include "tools/onnx-run/op_cases/drawn_case.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/core/error.h"
#include "ir/core/random.h"

namespace sardonyx::tool {
namespace {

// Windows and ranks have smaller ones, and broadcasting has 1.
constexpr int64_t kSmallestDrawn = 8;
constexpr size_t kMostBytes = size_t{32} << 20;

class SizeDraw {
 public:
  explicit SizeDraw(uint64_t seed) : stream_(seed) {}

  // Indices below or up to a size stay so.
  double largest(double high) const {
    double bound = high;
    for (const auto& [typical, drawn] : drawn_) {
      const auto size = static_cast<double>(typical);
      if (size >= high) bound = std::min(bound, static_cast<double>(drawn) - (size > high ? 1 : 0));
    }
    return bound;
  }

  int64_t of(int64_t size) {
    if (size < kSmallestDrawn) return size;
    const auto [known, is_new] = drawn_.try_emplace(size);
    if (is_new) known->second = draw(size);
    return known->second;
  }

 private:
  // From a tenth to four times the size; half of them whole vectors, as most models have.
  int64_t draw(int64_t size) {
    constexpr int64_t kVector = 16;
    const double low = std::log(0.1), high = std::log(4);
    const double scale = std::exp(low + (high - low) * stream_.uniform(next_++));
    const auto drawn = static_cast<int64_t>(std::lround(static_cast<double>(size) * scale));
    if (stream_.uniform(next_++) < 0.5) return std::max<int64_t>(drawn, 1);
    return std::max<int64_t>(drawn / kVector, 1) * kVector;
  }

  RandomStream stream_;
  uint64_t next_ = 0;
  std::map<int64_t, int64_t> drawn_;  // by the typical size
};

}  // namespace

std::optional<OpCase> drawn_case(const OpCase& typical, uint64_t seed) {
  OpCase made = typical;
  SizeDraw sizes(seed);
  size_t bytes = 0;
  std::string shapes;
  for (CaseOperand& operand : made.operands) {
    if (operand.is_omitted || operand.value) continue;
    for (int64_t& dim : operand.shape)
      dim = sizes.of(dim);
    bytes += bytes_for(operand.dtype, element_count(operand.shape));
    shapes += (shapes.empty() ? "" : " ") + to_text(operand.shape);
  }
  for (CaseOperand& operand : made.operands) {
    const bool may_index = operand.dtype == DType::kInt32 || operand.dtype == DType::kInt64;
    if (may_index && operand.low >= 0 && !operand.value) operand.high = sizes.largest(operand.high);
  }
  if (bytes > kMostBytes) return std::nullopt;
  made.variant += (made.variant.empty() ? "" : ", ") + shapes;
  try {
    std::map<std::string, Datum, std::less<>> feeds;
    model_of(made, feeds);
  } catch (const Error&) {
    return std::nullopt;
  }
  return made;
}

}  // namespace sardonyx::tool
