// Run-time values of every ONNX type: tensors, sequences, optionals and maps.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "ir/tensor.h"
#include "ir/type.h"

namespace sardonyx {

class Datum;

// Items all have the kind and dtype of `element`.
struct Sequence {
  Type element;
  std::vector<Datum> items;
};

// A value or nothing; `element` says of which type.
struct OptionalDatum {
  Type element;
  std::shared_ptr<const Datum> value;  // null: empty
};

// Keys: 1-D int64 (or another integer type) or string; values: 1-D, as long. In the order of
// insertion.
struct Map {
  Tensor keys;
  Tensor values;
};

// COO form of an ONNX SparseTensorProto: values [nnz]; indices int64 [nnz] (linear) or [nnz, rank].
struct SparseTensor {
  Tensor values;
  Tensor indices;
  Shape shape;
  Tensor to_dense() const;  // checks that the indices lie inside `shape`
};

// Copies are cheap: everything is shared and immutable.
class Datum {
 public:
  Datum() = default;  // an omitted value
  Datum(Tensor tensor) : value_(std::move(tensor)) {}
  Datum(Sequence sequence) : value_(std::make_shared<const Sequence>(std::move(sequence))) {}
  Datum(OptionalDatum optional) : value_(std::move(optional)) {}
  Datum(Map map) : value_(std::make_shared<const Map>(std::move(map))) {}
  Datum(SparseTensor sparse) : value_(std::make_shared<const SparseTensor>(std::move(sparse))) {}

  bool defined() const { return !std::holds_alternative<std::monostate>(value_); }
  explicit operator bool() const { return defined(); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(value_); }
  bool is_sequence() const {
    return std::holds_alternative<std::shared_ptr<const Sequence>>(value_);
  }
  bool is_optional() const { return std::holds_alternative<OptionalDatum>(value_); }
  bool is_map() const { return std::holds_alternative<std::shared_ptr<const Map>>(value_); }
  bool is_sparse() const {
    return std::holds_alternative<std::shared_ptr<const SparseTensor>>(value_);
  }

  // Each throws kInvalidArgument where the value is of another kind.
  const Tensor& tensor() const;
  const Sequence& sequence() const;
  const OptionalDatum& optional() const;
  const Map& map() const;
  const SparseTensor& sparse() const;

  Type type() const;  // with concrete shapes

 private:
  std::variant<std::monostate, Tensor, std::shared_ptr<const Sequence>, OptionalDatum,
               std::shared_ptr<const Map>, std::shared_ptr<const SparseTensor>>
      value_;
};

}  // namespace sardonyx
