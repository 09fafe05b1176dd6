#include "ir/op_samples.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>

#include "ir/core/dtype_convert.h"
#include "ir/core/random.h"

namespace sardonyx {
namespace {

// The integers that both [low, high] and the type hold; the nearest one where the range has none.
std::pair<double, double> integer_range(DType dtype, double low, double high) {
  const bool is_signed = is_signed_integer(dtype);
  const int bits = dtype == DType::kBool ? 1 : std::min(bits_of(dtype), 32);
  const double least = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  const double most = is_signed ? std::ldexp(1.0, bits - 1) - 1 : std::ldexp(1.0, bits) - 1;
  const double first = std::clamp(std::ceil(low), least, most);
  const double last = std::clamp(std::floor(high), least, most);
  return first <= last ? std::pair(first, last) : std::pair(last, last);
}

// Types of a parameter that are tensors of its constraint; one where its type is named directly.
DTypeSet tensor_types(const OpDef& op, const Param& param) {
  for (const TypeConstraint& constraint : op.types) {
    if (constraint.name == param.type) return constraint.types.tensors;
  }
  return dtype_named(param.type);
}

std::vector<DType> listed(DTypeSet set) {
  std::vector<DType> types;
  for (int code = 1; code < kDTypeCount; ++code) {
    if (set.has(static_cast<DType>(code))) types.push_back(static_cast<DType>(code));
  }
  return types;
}

// The types to go through for each constraint that the sample leaves open, and those that it fixes.
std::map<std::string, std::vector<DType>> open_types(const OpDef& op, const Sample& sample) {
  const Signature& signature = signature_of(op);
  std::map<std::string, std::vector<DType>> open;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const SampleInput& input = sample.inputs[i];
    if (input.omitted) continue;
    const Param& param = signature.input(i);
    const DType fixed = input.value ? input.value->dtype() : input.dtype;
    DTypeSet types = tensor_types(op, param);
    if (i == 0) types = DTypeSet::from_bits(types.bits() & sample.only.bits());
    if (fixed != DType::kUndefined)
      open[param.type] = {fixed};
    else
      open.try_emplace(param.type, listed(types));
  }
  return open;
}

}  // namespace

Tensor drawn_tensor(DType dtype, const Shape& shape, double low, double high, uint64_t seed) {
  Tensor tensor = Tensor::allocate(dtype, shape);
  if (is_packed(dtype)) std::memset(tensor.raw(), 0, tensor.bytes());
  const RandomStream random(seed);
  const bool is_whole = is_integer(dtype) || dtype == DType::kBool;
  const auto [first, last] = is_whole ? integer_range(dtype, low, high) : std::pair(low, high);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double at = random.uniform(static_cast<uint64_t>(i));
    const double value =
        is_whole ? first + std::floor(at * (last - first + 1)) : first + at * (last - first);
    if (dtype == DType::kString) {
      static_cast<std::string*>(tensor.raw())[i] = std::to_string(value);
    } else if (dtype == DType::kComplex64) {
      static_cast<std::complex<float>*>(tensor.raw())[i] = {static_cast<float>(value), 0.5f};
    } else if (dtype == DType::kComplex128) {
      static_cast<std::complex<double>*>(tensor.raw())[i] = {value, 0.5};
    } else if (is_packed(dtype)) {
      uint8_t byte = 0;
      store_numbers(dtype, &byte, 0, 1, &value);
      set_packed(dtype, tensor.raw(), i, byte);
    } else {
      store_numbers(dtype, tensor.raw(), i, 1, &value);
    }
  }
  return tensor;
}

std::vector<std::vector<Datum>> sample_inputs(const OpDef& op, const Sample& sample) {
  const Signature& signature = signature_of(op);
  const auto open = open_types(op, sample);
  size_t choices = 1;
  for (const auto& [name, types] : open) {
    if (types.empty()) return {};
    choices = std::max(choices, types.size());
  }
  std::vector<std::vector<Datum>> all(choices);
  for (size_t choice = 0; choice < choices; ++choice) {
    for (size_t i = 0; i < sample.inputs.size(); ++i) {
      const SampleInput& input = sample.inputs[i];
      Datum& datum = all[choice].emplace_back();
      if (input.omitted) continue;
      if (input.value) {
        datum = *input.value;
        continue;
      }
      DType dtype = input.dtype;
      if (dtype == DType::kUndefined) {
        const std::vector<DType>& types = open.at(signature.input(i).type);
        dtype = types[choice % types.size()];
      }
      datum = drawn_tensor(dtype, input.shape, input.low, input.high, i + 1);
    }
  }
  return all;
}

}  // namespace sardonyx
