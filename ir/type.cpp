#include "ir/type.h"

#include <ostream>

namespace sardonyx {

Type::Type(const Type& other) = default;
Type::Type(Type&& other) noexcept = default;
Type& Type::operator=(const Type& other) = default;
Type& Type::operator=(Type&& other) noexcept = default;
Type::~Type() = default;

Type Type::tensor(DType dtype, std::optional<Dims> shape) {
  Type type;
  type.kind = Kind::kTensor;
  type.dtype = dtype;
  type.shape = std::move(shape);
  return type;
}

namespace {

Type holder(Type::Kind kind, Type element, DType key = DType::kUndefined) {
  Type type;
  type.kind = kind;
  type.dtype = key;
  type.element = std::make_shared<const Type>(std::move(element));
  return type;
}

}  // namespace

Type Type::sequence(Type element) {
  return holder(Kind::kSequence, std::move(element));
}

Type Type::optional(Type element) {
  return holder(Kind::kOptional, std::move(element));
}

Type Type::map(DType key, Type value) {
  return holder(Kind::kMap, std::move(value), key);
}

bool Type::operator==(const Type& other) const {
  if (kind != other.kind || dtype != other.dtype || shape != other.shape) return false;
  if (!element || !other.element) return !element && !other.element;
  return *element == *other.element;
}

std::string Type::text() const {
  switch (kind) {
    case Kind::kNone:
      return "none";
    case Kind::kTensor:
      return std::string(name_of(dtype)) + (shape ? to_text(*shape) : "[*]");
    case Kind::kSparseTensor:
      return "sparse(" + std::string(name_of(dtype)) + (shape ? to_text(*shape) : "[*]") + ")";
    case Kind::kSequence:
      return "seq(" + element->text() + ")";
    case Kind::kOptional:
      return "optional(" + element->text() + ")";
    case Kind::kMap:
      return "map(" + std::string(name_of(dtype)) + ", " + element->text() + ")";
    case Kind::kOpaque:
      return "opaque";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, const Type& type) {
  return out << type.text();
}

bool same_kind(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.dtype != b.dtype) return false;
  if (!a.element || !b.element) return !a.element && !b.element;
  return same_kind(*a.element, *b.element);
}

}  // namespace sardonyx
