// Run-time values of every ONNX type: tensors, sequences, optionals and maps.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "ir/core/tensor.h"
#include "ir/core/unique_ownership.h"
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
  std::vector<Datum> items;    // one, or none
  const Datum* value() const;  // null: empty
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
  Tensor to_dense() const;  // checks that the indices are inside `shape`
};

// Copies are cheap: everything is shared, and never changed as long as it is (see own()).
class Datum {
 public:
  Datum() = default;                                   // an omitted value
  Datum(Tensor tensor) : value_(std::move(tensor)) {}  // an undefined one: omitted
  Datum(Sequence sequence) : value_(std::make_shared<Sequence>(std::move(sequence))) {}
  Datum(OptionalDatum optional) : value_(std::make_shared<OptionalDatum>(std::move(optional))) {}
  Datum(Map map) : value_(std::make_shared<Map>(std::move(map))) {}
  Datum(SparseTensor sparse) : value_(std::make_shared<SparseTensor>(std::move(sparse))) {}

  // Whether there is a value.
  bool defined() const {
    return !std::holds_alternative<std::monostate>(value_) && !is_cleared_tensor();
  }
  explicit operator bool() const { return defined(); }
  // The kind of the value; all are false for an omitted one.
  bool is_tensor() const { return std::holds_alternative<Tensor>(value_) && !is_cleared_tensor(); }
  bool is_sequence() const { return holds<Sequence>(); }
  bool is_optional() const { return holds<OptionalDatum>(); }
  bool is_map() const { return holds<Map>(); }
  bool is_sparse() const { return holds<SparseTensor>(); }

  // Each throws kInvalidArgument where the value is of another kind.
  const Tensor& tensor() const;
  const Sequence& sequence() const;
  const OptionalDatum& optional() const;
  const Map& map() const;
  const SparseTensor& sparse() const;

  Type type() const;  // with concrete shapes
  // Whether the value is of this kind and has these element types. Shapes are not looked at, and
  // nothing is allocated.
  bool has_kind(const Type& type) const;

  // For slots, which are filled again and again (ir/buffer_pool.h).

  // Omitted from now on, with the memory of a tensor's shape.
  void clear();
  // The tensor in the slot, to be assigned to; an undefined one where it held something else.
  Tensor& as_tensor();
  // The Sequence, OptionalDatum or Map in the slot, to be changed; null where it holds something
  // else, or where others hold the same. What this gives belongs to the slot's thread alone
  // (ir/core/unique_ownership.h), but for what its items share with others in turn: each is to be
  // asked in the same way before it is written.
  template <typename T>
  T* own() {
    const auto* held = std::get_if<std::shared_ptr<T>>(&value_);
    return held && is_sole_owner(*held) ? held->get() : nullptr;
  }

 private:
  template <typename T>
  bool holds() const {
    return std::holds_alternative<std::shared_ptr<T>>(value_);
  }
  bool is_cleared_tensor() const {
    const Tensor* tensor = std::get_if<Tensor>(&value_);
    return tensor && !tensor->defined();
  }
  std::variant<std::monostate, Tensor, std::shared_ptr<Sequence>, std::shared_ptr<OptionalDatum>,
               std::shared_ptr<Map>, std::shared_ptr<SparseTensor>>
      value_;
};

inline const Datum* OptionalDatum::value() const {
  return items.empty() ? nullptr : items.data();
}

}  // namespace sardonyx
