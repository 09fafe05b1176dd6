#include "ir/type.h"

#include <ostream>

namespace sardonyx {

Type Type::tensor(DType dtype, std::optional<Dims> shape) {
  return {Kind::kTensor, dtype, std::move(shape), nullptr};
}

Type Type::sequence(Type element) {
  return {Kind::kSequence, DType::kUndefined, std::nullopt,
          std::make_shared<const Type>(std::move(element))};
}

Type Type::optional(Type element) {
  return {Kind::kOptional, DType::kUndefined, std::nullopt,
          std::make_shared<const Type>(std::move(element))};
}

Type Type::map(DType key, Type value) {
  return {Kind::kMap, key, std::nullopt, std::make_shared<const Type>(std::move(value))};
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
