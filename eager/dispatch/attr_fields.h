// The fields of a struct of attributes as a table, so that code over fields is compiled once and
// not once for each op's struct.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "eager/op_types.h"
#include "eager/trace/location.h"
#include "ir/attributes.h"
#include "ir/core/same_bits.h"

namespace sardonyx::eager::op {

void set_attr(AttrMap& map, const char* name, const Tensor& value, const Loc& loc);
void set_attr(AttrMap& map, const char* name, const std::vector<Tensor>& values, const Loc& loc);
inline void set_attr(AttrMap& map, const char* name, DType value, const Loc&) {
  map.emplace(name, static_cast<int64_t>(value));
}
template <typename T>
void set_attr(AttrMap& map, const char* name, const T& value, const Loc&) {
  map.emplace(name, value);
}
template <typename T>
void set_attr(AttrMap& map, const char* name, const std::optional<T>& value, const Loc& loc) {
  if (value) set_attr(map, name, *value, loc);
}
template <typename T>
void set_attr(AttrMap& map, const char* name, const OptionalList<T>& value, const Loc& loc) {
  if (value) set_attr(map, name, *value, loc);
}

inline bool is_same_value(const Tensor& a, const Tensor& b) {
  return !a.defined() && !b.defined();  // values may have been assigned since
}
inline bool is_same_value(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return a.empty() && b.empty();
}
inline bool is_same_value(float a, float b) {
  return is_same_bits(a, b);
}
inline bool is_same_value(const std::vector<float>& a, const std::vector<float>& b) {
  return is_same_bits(a, b);
}
template <typename T>
bool is_same_value(const T& a, const T& b) {
  return a == b;
}
template <typename T>
bool is_same_value(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || is_same_value(*a, *b));
}
template <typename T>
bool is_same_value(const OptionalList<T>& a, const OptionalList<T>& b) {
  return a.has_value() == b.has_value() && (!a || is_same_value(*a, *b));
}

// What is done with a field, by its type; `value` is a T.
struct FieldType {
  std::any (*copy)(const void* value);
  bool (*is_same)(const std::any& copy, const void* value);
  void (*set)(AttrMap& map, const char* name, const void* value, const Loc& loc);
};

template <typename T>
constexpr FieldType kFieldType = {
    [](const void* value) { return std::any(*static_cast<const T*>(value)); },
    [](const std::any& copy, const void* value) {
      return is_same_value(*std::any_cast<T>(&copy), *static_cast<const T*>(value));
    },
    [](AttrMap& map, const char* name, const void* value, const Loc& loc) {
      set_attr(map, name, *static_cast<const T*>(value), loc);
    }};

struct NamedMember {
  const char* name;
  std::ptrdiff_t offset;  // bytes from the beginning of the struct
  const FieldType* type;

  const void* of(const void* attrs) const { return static_cast<const std::byte*>(attrs) + offset; }
};

// The table of S, from any object of it.
template <typename S>
std::vector<NamedMember> fields_of(const S& attrs) {
  std::vector<NamedMember> fields;
  each_field(&attrs, [&](const char* name, auto member) {
    const auto& value = attrs.*member;
    const auto offset =
        reinterpret_cast<const std::byte*>(&value) - reinterpret_cast<const std::byte*>(&attrs);
    fields.push_back({name, offset, &kFieldType<std::remove_cvref_t<decltype(value)>>});
  });
  return fields;
}

}  // namespace sardonyx::eager::op
