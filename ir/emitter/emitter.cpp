#include "ir/emitter/emitter.h"

#include "ir/core/dtype_convert.h"
#include "ir/op_def.h"

namespace sardonyx {

Val Emitter::call(std::string_view op, std::initializer_list<Val> inputs, const AttrMap& attrs) {
  return call_many(op, std::span(inputs.begin(), inputs.size()), attrs, 1)[0];
}

Vals Emitter::call_many(std::string_view op, std::span<const Val> inputs, const AttrMap& attrs,
                        size_t outputs) {
  const OpDef& row = op_named(op);
  return emit(row, inputs, Attrs::parse(*row.attrs, attrs), outputs);
}

Val Emitter::scalar_like(const Val& like, double value) {
  return scalar(type(like).dtype, value);
}

Val Emitter::scalar(DType dtype, double value) {
  const bool is_number = is_floating(dtype) || is_integer(dtype) || dtype == DType::kBool;
  if (!is_number || is_packed(dtype))
    fail(ErrorCode::kUnsupported, "no scalar constants of type ", dtype, " are made here");
  Tensor made = Tensor::allocate(dtype, {});
  convert_numbers(DType::kDouble, &value, dtype, made.raw(), 1);
  return constant(std::move(made));
}

Val Emitter::int64s(const std::vector<int64_t>& values) {
  return constant(Tensor::vector(values));
}

}  // namespace sardonyx
