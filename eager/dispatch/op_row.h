// How the functions of eager/op.h call their rows: attributes are parsed once for each set of
// values, not in each call.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "eager/dispatch/dispatch.h"
#include "eager/op_types.h"
#include "ir/attributes.h"

namespace sardonyx::eager::op {

// Sets of values of one op's attributes that a thread keeps, the oldest is forgotten.
constexpr size_t kKeptAttrs = 8;

inline bool same_field(const Tensor& a, const Tensor& b) {
  return !a.defined() && !b.defined();  // values may have been assigned since
}
inline bool same_field(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return a.empty() && b.empty();
}
template <typename T>
bool same_field(const T& a, const T& b) {
  return a == b;
}
template <typename T>
bool same_field(const OptionalList<T>& a, const OptionalList<T>& b) {
  return a.has_value() == b.has_value() && (!a || *a == *b);
}

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

// Errors name the op and the line.
Attrs parsed(const OpDef& op, const AttrMap& attrs, const Loc& loc);

std::vector<Tensor> joined(std::initializer_list<Tensor> first, const std::vector<Tensor>& rest);

namespace detail {

// Omitted inputs at the end are none.
inline std::span<const Tensor> trimmed(std::span<const Tensor> inputs) {
  while (!inputs.empty() && !inputs.back().defined())
    inputs = inputs.first(inputs.size() - 1);
  return inputs;
}
inline std::span<const Tensor> trimmed(std::initializer_list<Tensor> inputs) {
  return trimmed(std::span(inputs.begin(), inputs.size()));
}

}  // namespace detail

template <typename S = NoAttrs>
class OpRow {
 public:
  explicit OpRow(const char* name) : op_(op_named(name)) {}

  template <typename Inputs = std::initializer_list<Tensor>>
  Tensor call(const Inputs& inputs, const S& given, const Loc& loc) const {
    Tensor output;
    apply({op_, attrs(given, loc), detail::trimmed(inputs), 0, loc}, {&output, 1});
    return output;
  }
  template <typename Inputs = std::initializer_list<Tensor>>
  std::vector<Tensor> call_many(const Inputs& inputs, const S& given, size_t outputs,
                                const Loc& loc) const {
    std::vector<Tensor> results(outputs);
    apply({op_, attrs(given, loc), detail::trimmed(inputs), 0, loc}, results);
    return results;
  }

 private:
  struct Kept {
    S given;
    Attrs parsed;
  };

  const Attrs& attrs(const S& given, const Loc& loc) const {
    thread_local std::vector<Kept> kept;
    thread_local size_t oldest = 0;
    for (const Kept& one : kept) {
      if (is_same(one.given, given)) return one.parsed;
    }
    AttrMap map;
    each_field(&given,
               [&](const char* name, auto member) { set_attr(map, name, given.*member, loc); });
    Kept made{given, parsed(op_, map, loc)};
    if (kept.size() < kKeptAttrs) return kept.emplace_back(std::move(made)).parsed;
    Kept& place = kept[oldest++ % kKeptAttrs];
    place = std::move(made);
    return place.parsed;
  }

  static bool is_same(const S& a, const S& b) {
    bool same = true;
    each_field(&a,
               [&](const char*, auto member) { same = same && same_field(a.*member, b.*member); });
    return same;
  }

  const OpDef& op_;
};

template <>
class OpRow<NoAttrs> {
 public:
  explicit OpRow(const char* name) : op_(op_named(name)), attrs_(Attrs::parse(*op_.attrs, {})) {}

  template <typename Inputs = std::initializer_list<Tensor>>
  Tensor call(const Inputs& inputs, const Loc& loc) const {
    Tensor output;
    apply({op_, attrs_, detail::trimmed(inputs), 0, loc}, {&output, 1});
    return output;
  }
  template <typename Inputs = std::initializer_list<Tensor>>
  std::vector<Tensor> call_many(const Inputs& inputs, size_t outputs, const Loc& loc) const {
    std::vector<Tensor> results(outputs);
    apply({op_, attrs_, detail::trimmed(inputs), 0, loc}, results);
    return results;
  }

 private:
  const OpDef& op_;
  Attrs attrs_;
};

}  // namespace sardonyx::eager::op
