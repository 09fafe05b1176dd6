#include "ir/datum.h"

#include <cstring>

namespace sardonyx {
namespace {

template <typename T, typename Variant>
const T& get(const Variant& value, std::string_view wanted, const Datum& datum) {
  if (const T* held = std::get_if<T>(&value)) return *held;
  fail(ErrorCode::kInvalidArgument, "expected a ", wanted, ", got ", datum.type());
}

}  // namespace

const Tensor& Datum::tensor() const {
  return get<Tensor>(value_, "tensor", *this);
}
const Sequence& Datum::sequence() const {
  return *get<std::shared_ptr<const Sequence>>(value_, "sequence", *this);
}
const OptionalDatum& Datum::optional() const {
  return get<OptionalDatum>(value_, "optional", *this);
}
const Map& Datum::map() const {
  return *get<std::shared_ptr<const Map>>(value_, "map", *this);
}
const SparseTensor& Datum::sparse() const {
  return *get<std::shared_ptr<const SparseTensor>>(value_, "sparse tensor", *this);
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
