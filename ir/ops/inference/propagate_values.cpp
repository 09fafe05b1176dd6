#include "ir/ops/inference/propagate_values.h"

#include <algorithm>
#include <limits>

#include "ir/ops/inference/propagate_elements.h"

namespace sardonyx::ops {
namespace {

// Does every value of `dtype` that is computed exactly as `dim` stay itself? Symbols are taken to
// fit: they are sizes.
bool fits(DType dtype, const Dim& dim) {
  if (!dim.is_known()) return true;
  const int64_t value = dim.value();
  if (dtype == DType::kBool) return value == 0 || value == 1;
  const int bits = bits_of(dtype);
  if (is_signed_integer(dtype)) {
    return bits == 64 || (value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1));
  }
  return value >= 0 && (bits == 64 || value < int64_t{1} << bits);
}

// The elements of an input; nullopt where it is not a small vector of integers or bools that are
// known.
std::optional<Dims> small_elements(const InferContext& c, size_t input) {
  if (c.dtype(input) == DType::kUInt64) return std::nullopt;  // beyond int64 a dim would be wrong
  if (const Tensor* value = c.constant(input)) {
    if (value->rank() > 1 || value->count() > kMaxPropagatedElements) return std::nullopt;
    if (value->dtype() == DType::kBool) return to_dims(value->to_int64s());
  }
  std::optional<Dims> dims = c.dims(input);
  return dims && std::ssize(*dims) <= kMaxPropagatedElements ? dims : std::nullopt;
}

std::optional<Dims> computed(InferContext& c, DimFunction function) {
  const DType dtype = c.outputs()[0].type.dtype;
  std::vector<Dims> inputs;
  size_t count = 1;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has(i)) continue;
    std::optional<Dims> dims = small_elements(c, i);
    if (!dims) return std::nullopt;
    if (dims->size() != 1) count = dims->size();
    inputs.push_back(std::move(*dims));
  }
  Dims result, elements(inputs.size());
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < inputs.size(); ++k) {
      elements[k] = inputs[k].size() == 1 ? inputs[k][0] : inputs[k][i];
    }
    const std::optional<Dim> element = function(elements);
    if (!element || !fits(dtype, *element)) return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

}  // namespace

void propagate_values(InferContext& c, DimFunction function) {
  const Type& type = c.outputs()[0].type;
  if (!is_integer(type.dtype) && type.dtype != DType::kBool) return;
  if (!type.has_rank() || type.rank() > 1) return;
  try {
    if (std::optional<Dims> dims = computed(c, function)) c.set_dims(0, std::move(*dims));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResourceExhausted)
      throw;  // beyond int64: the op wraps, dims do not
  }
}

std::optional<Dim> truncated_div(const Dim& a, const Dim& b) {
  if (b.is_known() && b.value() == 0) return std::nullopt;
  if (a.is_known() && b.is_known() && b.value() != -1) return Dim(a.value() / b.value());
  if (b.is_known()) {
    if (const std::optional<Dim> exact = exact_div(a, b)) return exact;
    if (is_nonnegative(a))
      return b.value() > 0 ? floor_div(a, b) : Dim(0) - floor_div(a, Dim(0) - b);
    return std::nullopt;
  }
  // A symbol in the divisor may be zero, in which case the op gives 0 or anything; then no size
  // depends on it.
  if (!is_nonnegative(a) || !is_nonnegative(b)) return std::nullopt;
  return floor_div(a, b);
}

std::optional<bool> proved_equal(const Dim& a, const Dim& b) {
  if (a == b) return true;
  if (a.is_known() && b.is_known()) return false;
  if (is_nonnegative(a - b - 1) || is_nonnegative(b - a - 1)) return false;
  return std::nullopt;
}

std::optional<bool> proved_less(const Dim& a, const Dim& b) {
  if (is_nonnegative(b - a - 1)) return true;
  if (is_nonnegative(a - b)) return false;
  return std::nullopt;
}

}  // namespace sardonyx::ops
