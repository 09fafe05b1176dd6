// Calls of any row of the op table, for fuzz targets: its samples with attributes, shapes and
// values changed.
#pragma once

#include <vector>

#include "ir/core/dtype_convert.h"
#include "ir/op_def.h"
#include "ir/op_samples.h"
#include "tests/support/fuzz_input.h"

namespace sardonyx::fuzz {

struct OpCall {
  const OpDef* op = nullptr;
  AttrMap attrs;
  std::vector<Datum> inputs;
  size_t outputs = 1;
};

inline void change_attribute(Choices& choices, AttrValue& value) {
  if (auto* i = std::get_if<int64_t>(&value)) *i = choices.integer();
  if (auto* f = std::get_if<float>(&value)) *f = static_cast<float>(choices.real());
  if (auto* s = std::get_if<std::string>(&value)) *s = choices.text();
  if (auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    if (ints->empty() || choices.one_in(4)) ints->resize(choices.below(6));
    if (!ints->empty()) (*ints)[choices.below(ints->size())] = choices.integer();
  }
  if (auto* floats = std::get_if<std::vector<float>>(&value)) {
    if (floats->empty() || choices.one_in(4)) floats->resize(choices.below(6));
    if (!floats->empty())
      (*floats)[choices.below(floats->size())] = static_cast<float>(choices.real());
  }
}

inline Shape changed_shape(Choices& choices, Shape shape) {
  if (choices.one_in(4)) shape.resize(choices.below(6), 2);
  if (!shape.empty()) shape[choices.below(shape.size())] = static_cast<int64_t>(choices.below(9));
  return shape;
}

// Some elements become hostile ones.
inline Tensor changed_values(Choices& choices, const Tensor& tensor) {
  Tensor changed = tensor.clone();
  for (size_t count = choices.below(6); count > 0 && changed.count() > 0; --count) {
    const auto at = static_cast<int64_t>(choices.below(static_cast<size_t>(changed.count())));
    const DType dtype = changed.dtype();
    if (dtype == DType::kString) {
      static_cast<std::string*>(changed.raw())[at] = choices.text();
    } else if (is_packed(dtype)) {
      set_packed(dtype, changed.raw(), at, choices.byte() & ((1 << bits_of(dtype)) - 1));
    } else if (dtype == DType::kBool) {
      static_cast<bool*>(changed.raw())[at] = choices.one_in(2);
    } else if (is_integer(dtype)) {
      const int64_t value = choices.integer();  // the low bytes of it, little-endian
      const size_t bytes = bytes_for(dtype, 1);
      std::memcpy(static_cast<std::byte*>(changed.raw()) + static_cast<size_t>(at) * bytes, &value,
                  bytes);
    } else if (dtype != DType::kComplex64 && dtype != DType::kComplex128) {
      const double value = choices.real();
      store_numbers(dtype, changed.raw(), at, 1, &value);
    }
  }
  return changed;
}

inline Datum changed_input(Choices& choices, const Datum& datum) {
  if (!datum.is_tensor()) return datum;
  Tensor tensor = datum.tensor();
  const uint8_t kind = choices.byte() % 8;
  if (kind == 0) return {};
  if (kind == 1) {
    const Shape shape = changed_shape(choices, tensor.shape());
    tensor = drawn_tensor(tensor.dtype(), shape, -2, 2, choices.byte());
  }
  return kind < 4 ? changed_values(choices, tensor) : tensor;
}

// Rows without samples give no op.
inline OpCall any_call(Choices& choices, const OpDef& op) {
  OpCall call;
  if (!op.samples) return call;
  const std::vector<Sample> samples = op.samples();
  if (samples.empty()) return call;
  const Sample& sample = samples[choices.below(samples.size())];
  std::vector<std::vector<Datum>> lists = sample_inputs(op, sample);
  if (lists.empty()) return call;
  call.op = &op;
  call.attrs = sample.attrs;
  call.outputs = sample.outputs;
  call.inputs = std::move(lists[choices.below(lists.size())]);
  for (Datum& input : call.inputs) {
    if (choices.one_in(2)) input = changed_input(choices, input);
  }
  for (size_t count = choices.below(3); count > 0 && !op.attrs->fields.empty(); --count) {
    const AttrField& field = op.attrs->fields[choices.below(op.attrs->fields.size())];
    AttrValue& value = call.attrs[field.name];
    if (field.default_value && value.index() != field.kind) value = *field.default_value;
    if (value.index() == field.kind)
      change_attribute(choices, value);
    else
      call.attrs.erase(field.name);
  }
  return call;
}

}  // namespace sardonyx::fuzz
