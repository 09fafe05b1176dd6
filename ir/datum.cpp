#include "ir/datum.h"

#include <cstring>

namespace sardonyx {
namespace {

[[noreturn]] void refuse(std::string_view wanted, const Datum& datum) {
  fail(ErrorCode::kInvalidArgument, "expected a ", wanted, ", got ", datum.type());
}

template <typename T, typename Variant>
const T& get(const Variant& value, std::string_view wanted, const Datum& datum) {
  if (const auto* held = std::get_if<std::shared_ptr<T>>(&value)) return **held;
  refuse(wanted, datum);
}

}  // namespace

const Tensor& Datum::tensor() const {
  if (is_tensor()) return *std::get_if<Tensor>(&value_);
  refuse("tensor", *this);
}
const Sequence& Datum::sequence() const {
  return get<Sequence>(value_, "sequence", *this);
}
const OptionalDatum& Datum::optional() const {
  return get<OptionalDatum>(value_, "optional", *this);
}
const Map& Datum::map() const {
  return get<Map>(value_, "map", *this);
}
const SparseTensor& Datum::sparse() const {
  return get<SparseTensor>(value_, "sparse tensor", *this);
}

void Datum::clear() {
  if (Tensor* tensor = std::get_if<Tensor>(&value_))
    tensor->clear();
  else
    value_ = std::monostate();
}

Tensor& Datum::as_tensor() {
  if (Tensor* tensor = std::get_if<Tensor>(&value_)) return *tensor;
  return value_.emplace<Tensor>();
}

Type Datum::type() const {
  if (is_tensor()) {
    const Tensor& t = tensor();
    return Type::tensor(t.dtype(), to_dims(t.shape()));
  }
  if (is_sequence()) return Type::sequence(sequence().element);
  if (is_optional()) return Type::optional(optional().element);
  if (is_map()) return Type::map(map().keys.dtype(), Type::tensor(map().values.dtype(), Dims{}));
  if (is_sparse()) {
    Type type = Type::tensor(sparse().values.dtype(), to_dims(sparse().shape));
    type.kind = Type::Kind::kSparseTensor;
    return type;
  }
  return Type::none();
}

bool Datum::has_kind(const Type& type) const {
  switch (type.kind) {
    case Type::Kind::kNone:
      return !defined();
    case Type::Kind::kTensor:
      return is_tensor() && tensor().dtype() == type.dtype;
    case Type::Kind::kSparseTensor:
      return is_sparse() && sparse().values.dtype() == type.dtype;
    case Type::Kind::kSequence:
      return is_sequence() && same_kind(sequence().element, *type.element);
    case Type::Kind::kOptional:
      return is_optional() && same_kind(optional().element, *type.element);
    case Type::Kind::kMap:
      return is_map() && map().keys.dtype() == type.dtype && type.element->is_tensor() &&
             map().values.dtype() == type.element->dtype;
    case Type::Kind::kOpaque:
      return false;
  }
  return false;
}

Tensor SparseTensor::to_dense() const {
  Tensor dense = Tensor::zeros(values.dtype(), shape);
  const auto places = indices.values<int64_t>();
  const bool linear = indices.rank() == 1;
  const auto rank = static_cast<int64_t>(shape.size());
  if (values.rank() != 1 || indices.rank() < 1 || indices.rank() > 2 ||
      indices.shape()[0] != values.count() || (!linear && indices.shape()[1] != rank)) {
    fail(ErrorCode::kInvalidModel, "sparse tensor of shape ", to_text(shape), ": values are ",
         to_text(values.shape()), " and indices ", to_text(indices.shape()),
         ", expected [nnz] and [nnz] or [nnz, ", rank, "]");
  }
  for (int64_t i = 0; i < values.count(); ++i) {
    int64_t offset = linear ? places[static_cast<size_t>(i)] : 0;
    if (linear && (offset < 0 || offset >= dense.count())) {
      fail(ErrorCode::kInvalidModel, "sparse tensor: index ", offset, " is outside its ",
           dense.count(), " elements");
    }
    for (int64_t axis = 0; !linear && axis < rank; ++axis) {
      const int64_t place = places[static_cast<size_t>(i * rank + axis)];
      const int64_t dim = shape[static_cast<size_t>(axis)];
      if (place < 0 || place >= dim) {
        fail(ErrorCode::kInvalidModel, "sparse tensor: index ", place, " is outside dim ", axis,
             " of size ", dim);
      }
      offset = offset * dim + place;
    }
    if (values.dtype() == DType::kString) {
      static_cast<std::string*>(dense.raw())[offset] =
          static_cast<const std::string*>(values.raw())[i];
    } else if (is_packed(values.dtype())) {
      set_packed(values.dtype(), dense.raw(), offset, get_packed(values.dtype(), values.raw(), i));
    } else {
      const auto width = static_cast<int64_t>(bits_of(values.dtype()) / 8);
      std::memcpy(static_cast<std::byte*>(dense.raw()) + offset * width,
                  static_cast<const std::byte*>(values.raw()) + i * width,
                  static_cast<size_t>(width));
    }
  }
  return dense;
}

}  // namespace sardonyx
