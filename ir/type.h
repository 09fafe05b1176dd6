// Types of values: tensors, sequences, optionals and maps.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ir/core/dtype.h"
#include "ir/core/symbolic_dim.h"

namespace sardonyx {

struct Type {
  enum class Kind : uint8_t { kNone, kTensor, kSparseTensor, kSequence, kOptional, kMap, kOpaque };

  Type() = default;
  // Copying and destroying are compiled once: they stand in nearly every function that infers.
  Type(const Type& other);
  Type(Type&& other) noexcept;
  Type& operator=(const Type& other);
  Type& operator=(Type&& other) noexcept;
  ~Type();

  Kind kind = Kind::kNone;
  DType dtype = DType::kUndefined;      // of a tensor's elements; of a map's keys
  std::optional<Dims> shape;            // of a tensor; nullopt: not even the rank is known
  std::shared_ptr<const Type> element;  // of a sequence or optional; a map's value type

  // The type of an omitted value.
  static Type none() { return {}; }
  // `shape` nullopt: any rank. Dims may be symbols.
  static Type tensor(DType dtype, std::optional<Dims> shape = std::nullopt);
  // Types of containers, by what they hold.
  static Type sequence(Type element);
  static Type optional(Type element);
  static Type map(DType key, Type value);

  // What kind it is.
  bool is_none() const { return kind == Kind::kNone; }
  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_optional() const { return kind == Kind::kOptional; }
  // Whether the rank is known; rank() is for those alone.
  bool has_rank() const { return shape.has_value(); }
  size_t rank() const { return shape->size(); }
  // A tensor whose every dim is an integer.
  std::optional<Shape> known_shape() const {
    return shape ? sardonyx::known_shape(*shape) : std::nullopt;
  }

  // Kinds, element types and shapes, symbol for symbol.
  bool operator==(const Type& other) const;
  // "f32[batch, 3, 224, 224]" written with ONNX's names: "float[batch, 3]", "seq(float[?])",
  // "map(int64, float)".
  std::string text() const;
};

std::ostream& operator<<(std::ostream& out, const Type& type);

// Kinds and element types agree; shapes are not looked at.
bool same_kind(const Type& a, const Type& b);

}  // namespace sardonyx
