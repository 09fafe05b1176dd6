#include "eager/autograd/anomaly.h"

#include <algorithm>
#include <cmath>

#include "eager/autograd/autograd.h"

namespace sardonyx::eager {
namespace {

thread_local bool t_detects = false;
thread_local LeafCollector* t_collector = nullptr;

bool has_nan(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.impl()->value.is_tensor()) return false;
  const sardonyx::Tensor& value = tensor.impl()->value.tensor();
  if (value.dtype() == DType::kFloat)
    return std::ranges::any_of(value.values<float>(), [](float x) { return std::isnan(x); });
  if (!is_floating(value.dtype()) || is_packed(value.dtype())) return false;
  return std::ranges::any_of(value.to_doubles(), [](double x) { return std::isnan(x); });
}

}  // namespace

bool detects_anomalies() {
  return t_detects;
}
void set_detects_anomalies(bool enabled) {
  t_detects = enabled;
}

void check_for_nan(const OpDef& op, std::span<const Tensor> inputs,
                   std::span<const Tensor> outputs) {
  if (std::ranges::none_of(outputs, has_nan) || std::ranges::any_of(inputs, has_nan)) return;
  std::string types;
  for (const Tensor& input : inputs)
    types += (types.empty() ? "" : ", ") + (input.defined() ? input.type().text() : "none");
  fail(ErrorCode::kInvalidArgument, full_name(op), ": made the first NaN, from (", types, ")");
}

LeafCollector::LeafCollector() : previous_(t_collector) {
  t_collector = this;
}
LeafCollector::~LeafCollector() {
  t_collector = previous_;
}

void note_leaves(std::span<const Tensor> inputs) {
  if (!t_collector) return;
  for (const Tensor& input : inputs) {
    if (!input.defined() || !input.impl()->tracked()) continue;
    const auto is_it = [&](const Tensor& known) { return known.is_same(input); };
    if (std::ranges::none_of(t_collector->found, is_it)) t_collector->found.push_back(input);
  }
}

DetectAnomaly::DetectAnomaly() : previous_(t_detects) {
  t_detects = true;
}
DetectAnomaly::~DetectAnomaly() {
  t_detects = previous_;
}

}  // namespace sardonyx::eager
