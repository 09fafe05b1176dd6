// Calls of the functions of eager/op.h by name, for the tests that walk the op table.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "eager/dispatch/op_row.h"
#include "eager/op.h"

namespace sardonyx::eager::op {

using Tensors = std::vector<Tensor>;

struct NamedCall {
  std::string_view op;  // full_name of the row
  Tensors (*call)(const Tensors& in, const AttrMap& attrs, size_t outputs);
};

inline Tensor at(const Tensors& in, size_t index) {
  return index < in.size() ? in[index] : Tensor();
}
inline Tensors rest(const Tensors& in, size_t first) {
  return Tensors(in.begin() + static_cast<ptrdiff_t>(std::min(first, in.size())), in.end());
}

void read_field(const AttrValue& value, Tensor& field);
void read_field(const AttrValue& value, std::vector<Tensor>& field);
inline void read_field(const AttrValue& value, DType& field) {
  field = static_cast<DType>(std::get<int64_t>(value));
}
template <typename T>
void read_field(const AttrValue& value, T& field) {
  field = std::get<T>(value);
}
template <typename T>
void read_field(const AttrValue& value, std::optional<T>& field) {
  read_field(value, field.emplace());
}
template <typename T>
void read_field(const AttrValue& value, OptionalList<T>& field) {
  read_field(value, field.emplace());
}

template <typename S>
S read(const AttrMap& attrs) {
  S made;
  each_field(&made, [&](const char* name, auto member) {
    const auto given = attrs.find(name);
    if (given != attrs.end()) read_field(given->second, made.*member);
  });
  return made;
}

std::vector<std::span<const NamedCall>> arrange_calls();
std::vector<std::span<const NamedCall>> classic_calls();
std::vector<std::span<const NamedCall>> contrib_calls();
std::vector<std::span<const NamedCall>> generate_calls();
std::vector<std::span<const NamedCall>> math_calls();
std::vector<std::span<const NamedCall>> network_calls();
std::vector<std::span<const NamedCall>> product_calls();
std::vector<std::span<const NamedCall>> text_calls();

}  // namespace sardonyx::eager::op
