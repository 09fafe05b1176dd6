// Attributes of ops: each op has a plain struct that lists its fields once; reading, writing,
// comparing and printing derive from that list.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "ir/datum.h"

namespace sardonyx {

class Graph;
using GraphPtr = std::shared_ptr<Graph>;

using AttrKinds = std::variant<int64_t, float, std::string, Tensor, SparseTensor, GraphPtr, Type,
                               std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
                               std::vector<Tensor>, std::vector<SparseTensor>,
                               std::vector<GraphPtr>, std::vector<Type>>;

// One attribute's value, in the kinds of AttributeProto. Copying one is much code, so it is
// compiled once and not with every row.
struct AttrValue : AttrKinds {
  using AttrKinds::AttrKinds;
  AttrValue(const AttrValue& other);
  AttrValue(AttrValue&& other) noexcept;
  AttrValue& operator=(const AttrValue& other);
  AttrValue& operator=(AttrValue&& other) noexcept;
  ~AttrValue();
};
// "INT", "FLOATS" ...: AttributeProto's names, in the order of AttrKinds.
std::string_view kind_name(const AttrValue& value);
// As printed graphs show it; long tensors and lists are cut.
std::string to_text(const AttrValue& value);
// Shapes, values and indices, bit by bit.
bool operator==(const SparseTensor& a, const SparseTensor& b);

// Attributes by name, as a file or a caller gives them.
using AttrMap = std::map<std::string, AttrValue, std::less<>>;

// What is known of one field of an attribute struct.
struct AttrField {
  std::string name;
  size_t kind;  // index into AttrKinds
  bool required;
  std::optional<AttrValue> default_value;  // what the field holds when it was not given
  using Get = std::optional<AttrValue> (*)(const void* attrs, const AttrField& self);
  using Set = void (*)(void* attrs, const AttrField& self, const AttrValue& value);
  Get get;
  Set set;
  size_t index;       // of the field in the struct's list
  size_t offset = 0;  // of the field in the struct, in bytes
};

// The fields of one attribute struct, in the order of its list; one object per struct.
struct AttrSchema {
  const void* tag = nullptr;  // &kAttrTag<S> of the struct S
  std::vector<AttrField> fields;
  std::shared_ptr<void> (*make)();
  // Null where there is no field of that name.
  const AttrField* find(std::string_view name) const;
};

// Entry of a struct's field list:
//   struct ConcatAttrs {
//     int64_t axis = 0;
//     static auto fields() { return std::tuple{required("axis", &ConcatAttrs::axis)}; }
//   };
// Fields are int64_t, float, std::string, Tensor, GraphPtr, Type, vectors of those, bool and DType
// (both INT in ONNX), or std::optional of one for an attribute with no default.
template <typename S, typename T>
struct Field {
  std::string_view name;
  T S::*member;
  bool is_required = false;
};
// An attribute with a default: what a default-constructed struct holds.
template <typename S, typename T>
Field<S, T> field(std::string_view name, T S::*member) {
  return {name, member, false};
}
// An attribute that every node must have.
template <typename S, typename T>
Field<S, T> required(std::string_view name, T S::*member) {
  return {name, member, true};
}

namespace detail {

// How a field's type T is stored in AttrValue, and read back.
template <typename T>
struct AttrCodec {
  using Stored = T;
  static std::optional<AttrValue> get(const T& value) { return AttrValue(value); }
  static T from(const Stored& value) { return value; }
};
template <>
struct AttrCodec<bool> {
  using Stored = int64_t;
  static std::optional<AttrValue> get(bool value) { return AttrValue(int64_t{value}); }
  static bool from(int64_t value) { return value != 0; }
};
template <>
struct AttrCodec<DType> {
  using Stored = int64_t;
  static std::optional<AttrValue> get(DType value) {
    return AttrValue(static_cast<int64_t>(value));
  }
  static DType from(int64_t value) {
    return value >= 0 && value < kDTypeCount ? static_cast<DType>(value) : DType::kUndefined;
  }
};
template <typename T>
struct AttrCodec<std::optional<T>> {
  using Stored = typename AttrCodec<T>::Stored;
  static std::optional<AttrValue> get(const std::optional<T>& value) {
    return value ? AttrCodec<T>::get(*value) : std::nullopt;
  }
  static std::optional<T> from(const Stored& value) { return AttrCodec<T>::from(value); }
};

template <typename T, typename Variant>
struct IndexIn;
template <typename T, typename... Ts>
struct IndexIn<T, std::variant<Ts...>> {
  static constexpr size_t value = [] {
    constexpr bool same[] = {std::is_same_v<T, Ts>...};
    for (size_t i = 0; i < sizeof...(Ts); ++i) {
      if (same[i]) return i;
    }
    return sizeof...(Ts);
  }();
};

// Reads and writes a field of type T at its offset in a struct: one function for all fields of a
// type, in all structs.
template <typename T>
struct FieldAccess {
  using Codec = AttrCodec<T>;
  static constexpr size_t kKind = IndexIn<typename Codec::Stored, AttrKinds>::value;
  static std::optional<AttrValue> get(const void* attrs, const AttrField& self) {
    return Codec::get(
        *reinterpret_cast<const T*>(static_cast<const std::byte*>(attrs) + self.offset));
  }
  static void set(void* attrs, const AttrField& self, const AttrValue& value) {
    *reinterpret_cast<T*>(static_cast<std::byte*>(attrs) + self.offset) =
        Codec::from(std::get<kKind>(value));
  }
};
// The types of most fields are compiled once, in attributes.cpp.
extern template struct FieldAccess<bool>;
extern template struct FieldAccess<int64_t>;
extern template struct FieldAccess<float>;
extern template struct FieldAccess<std::string>;
extern template struct FieldAccess<DType>;
extern template struct FieldAccess<std::vector<int64_t>>;
extern template struct FieldAccess<std::vector<float>>;
extern template struct FieldAccess<std::vector<std::string>>;
extern template struct FieldAccess<std::optional<int64_t>>;
extern template struct FieldAccess<std::optional<float>>;
extern template struct FieldAccess<std::optional<std::string>>;
extern template struct FieldAccess<std::optional<Tensor>>;
extern template struct FieldAccess<std::optional<std::vector<int64_t>>>;
extern template struct FieldAccess<std::optional<std::vector<float>>>;
extern template struct FieldAccess<std::optional<std::vector<std::string>>>;

// Adds a field to `schema`; `defaults` is a struct whose fields have their initial values.
void add_field(AttrSchema& schema, std::string_view name, bool is_required, size_t kind,
               size_t offset, AttrField::Get get, AttrField::Set set, const void* defaults);

template <typename S, typename Owner, typename T>  // Owner: S or a base of it
void add_field(AttrSchema& schema, const Field<Owner, T>& entry, const S& defaults) {
  using Access = FieldAccess<T>;
  const auto* start = reinterpret_cast<const std::byte*>(&defaults);
  const auto* place = reinterpret_cast<const std::byte*>(&(defaults.*entry.member));
  add_field(schema, entry.name, entry.is_required, Access::kKind,
            static_cast<size_t>(place - start), &Access::get, &Access::set, &defaults);
}

}  // namespace detail

// Tells structs apart where no more is wanted: a schema is much code for those who only read
// attributes.
template <typename S>
inline const char kAttrTag{};

// The schema of S, made at the first call; safe from many threads.
template <typename S>
const AttrSchema* attr_schema() {
  static const auto& schema = *new const AttrSchema([] {
    AttrSchema made;
    made.tag = &kAttrTag<S>;
    made.make = []() -> std::shared_ptr<void> { return std::make_shared<S>(); };
    const S defaults{};
    std::apply([&](const auto&... entry) { (detail::add_field<S>(made, entry, defaults), ...); },
               S::fields());
    return made;
  }());
  return &schema;
}

// For ops without attributes.
struct NoAttrs {
  static auto fields() { return std::tuple<>{}; }
};

// The attributes of one node; shared and immutable.
class Attrs {
 public:
  Attrs();
  template <typename S>
  requires requires { S::fields(); }
  Attrs(S attrs) : schema_(attr_schema<S>()), data_(std::make_shared<S>(std::move(attrs))) {}

  // Reads `given` by `schema`. Without `problems` it throws kInvalidModel at the first unknown,
  // missing or wrongly typed attribute; with it, it notes each and goes on with the default.
  static Attrs parse(const AttrSchema& schema, const AttrMap& given,
                     std::vector<std::string>* problems = nullptr);

  // The struct itself; S must be the op's own.
  template <typename S>
  const S& as() const {
    SARDONYX_CHECK(schema_->tag == &kAttrTag<S>);
    return *static_cast<const S*>(data_.get());
  }
  const AttrSchema& schema() const { return *schema_; }
  // The value of a field by name; nullopt where it is unset or there is no such field.
  std::optional<AttrValue> get(std::string_view name) const;
  // Those that differ from their defaults (and the required ones): what a file should hold.
  AttrMap to_map() const;
  // The same struct with equal fields; subgraphs by address.
  bool operator==(const Attrs& other) const;

 private:
  const AttrSchema* schema_;
  std::shared_ptr<const void> data_;
};

}  // namespace sardonyx
