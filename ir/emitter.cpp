#include "ir/emitter.h"

#include "ir/op.h"

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
  switch (dtype) {
    case DType::kFloat:
      return constant(Tensor::scalar(static_cast<float>(value)));
    case DType::kDouble:
      return constant(Tensor::scalar(value));
    case DType::kFloat16:
      return constant(Tensor::scalar(Float16::from_bits(double_to_half(value))));
    case DType::kBFloat16:
      return constant(Tensor::scalar(BFloat16(static_cast<float>(value))));
    case DType::kInt8:
      return constant(Tensor::scalar(static_cast<int8_t>(value)));
    case DType::kInt16:
      return constant(Tensor::scalar(static_cast<int16_t>(value)));
    case DType::kInt32:
      return constant(Tensor::scalar(static_cast<int32_t>(value)));
    case DType::kInt64:
      return constant(Tensor::scalar(static_cast<int64_t>(value)));
    case DType::kUInt8:
      return constant(Tensor::scalar(static_cast<uint8_t>(value)));
    case DType::kUInt16:
      return constant(Tensor::scalar(static_cast<uint16_t>(value)));
    case DType::kUInt32:
      return constant(Tensor::scalar(static_cast<uint32_t>(value)));
    case DType::kUInt64:
      return constant(Tensor::scalar(static_cast<uint64_t>(value)));
    case DType::kBool:
      return constant(Tensor::scalar(value != 0));
    default:
      fail(ErrorCode::kUnsupported, "no scalar constants of type ", dtype, " are made here");
  }
}

Val Emitter::int64s(const std::vector<int64_t>& values) {
  return constant(Tensor::vector(values));
}

}  // namespace sardonyx
