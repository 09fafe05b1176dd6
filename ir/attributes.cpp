#include "ir/attributes.h"

#include <array>
#include <cstdint>

#include "ir/core/error.h"
#include "ir/core/same_bits.h"

namespace sardonyx {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<AttrKinds>> kKindNames{
    "INT",  "FLOAT",  "STRING",  "TENSOR",  "SPARSE_TENSOR",  "GRAPH",  "TYPE_PROTO",
    "INTS", "FLOATS", "STRINGS", "TENSORS", "SPARSE_TENSORS", "GRAPHS", "TYPE_PROTOS"};

std::string item_text(int64_t value) {
  return std::to_string(value);
}
std::string item_text(float value) {
  return text(value);
}
std::string item_text(const std::string& value) {
  return '"' + value + '"';
}
std::string item_text(const Tensor& value) {
  return value ? std::string(name_of(value.dtype())) + to_text(value.shape()) : "none";
}
std::string item_text(const SparseTensor& value) {
  return "sparse " + item_text(value.values);
}
std::string item_text(const GraphPtr&) {
  return "{graph}";
}
std::string item_text(const Type& value) {
  return value.text();
}
template <typename T>
std::string item_text(const std::vector<T>& values) {
  std::string out = "[";
  for (const T& value : values)
    out += (out.size() > 1 ? ", " : "") + item_text(value);
  return out + "]";
}

// An empty list has no kind of its own in some files; it fits any list attribute.
bool is_empty_list(const AttrValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (requires {
                        held.empty();
                        held.front();
                        held.push_back(held.front());
                      })
          return held.empty();
        else
          return false;
      },
      value);
}

// Numbers bit by bit, as tensors are: an op tells 0 and -0 apart.
bool is_same(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* number = std::get_if<float>(&a)) return is_same_bits(*number, std::get<float>(b));
  if (const auto* list = std::get_if<std::vector<float>>(&a))
    return is_same_bits(*list, std::get<std::vector<float>>(b));
  return a == b;
}
bool is_same(const std::optional<AttrValue>& a, const std::optional<AttrValue>& b) {
  return a.has_value() == b.has_value() && (!a || is_same(*a, *b));
}

}  // namespace

AttrValue::AttrValue(const AttrValue& other) = default;
AttrValue::AttrValue(AttrValue&& other) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue& other) = default;
AttrValue& AttrValue::operator=(AttrValue&& other) noexcept = default;
AttrValue::~AttrValue() = default;

std::string_view kind_name(const AttrValue& value) {
  return kKindNames[value.index()];
}

std::string to_text(const AttrValue& value) {
  return std::visit([](const auto& held) { return item_text(held); }, value);
}

bool operator==(const SparseTensor& a, const SparseTensor& b) {
  return a.values == b.values && a.indices == b.indices && a.shape == b.shape;
}

namespace detail {

template struct FieldAccess<bool>;
template struct FieldAccess<int64_t>;
template struct FieldAccess<float>;
template struct FieldAccess<std::string>;
template struct FieldAccess<DType>;
template struct FieldAccess<std::vector<int64_t>>;
template struct FieldAccess<std::vector<float>>;
template struct FieldAccess<std::vector<std::string>>;
template struct FieldAccess<std::optional<int64_t>>;
template struct FieldAccess<std::optional<float>>;
template struct FieldAccess<std::optional<std::string>>;
template struct FieldAccess<std::optional<Tensor>>;
template struct FieldAccess<std::optional<std::vector<int64_t>>>;
template struct FieldAccess<std::optional<std::vector<float>>>;
template struct FieldAccess<std::optional<std::vector<std::string>>>;

void add_field(AttrSchema& schema, std::string_view name, bool is_required, size_t kind,
               size_t offset, AttrField::Get get, AttrField::Set set, const void* defaults) {
  AttrField field{.name = std::string(name),
                  .kind = kind,
                  .required = is_required,
                  .get = get,
                  .set = set,
                  .index = schema.fields.size(),
                  .offset = offset};
  if (!is_required) field.default_value = get(defaults, field);
  schema.fields.push_back(std::move(field));
}

}  // namespace detail

const AttrField* AttrSchema::find(std::string_view name) const {
  for (const AttrField& candidate : fields) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

Attrs::Attrs() : Attrs(NoAttrs{}) {}

Attrs Attrs::parse(const AttrSchema& schema, const AttrMap& given,
                   std::vector<std::string>* problems) {
  const auto complain = [&](std::string problem) {
    if (!problems) fail(ErrorCode::kInvalidModel, problem);
    problems->push_back(std::move(problem));
  };
  std::shared_ptr<void> data = schema.make();
  for (const auto& [name, value] : given) {
    const AttrField* known = schema.find(name);
    if (!known) {
      complain(text("attribute ", name, ": the op has no such attribute"));
    } else if (known->kind != value.index()) {
      if (is_empty_list(value) && known->kind >= 7) continue;
      complain(text("attribute ", name, ": expected ", kKindNames[known->kind], ", got ",
                    kind_name(value)));
    } else {
      known->set(data.get(), *known, value);
    }
  }
  for (const AttrField& known : schema.fields) {
    if (known.required && !given.contains(known.name)) {
      complain(text("attribute ", known.name, ": is required and was not given"));
    }
  }
  Attrs attrs;
  attrs.schema_ = &schema;
  attrs.data_ = std::move(data);
  return attrs;
}

std::optional<AttrValue> Attrs::get(std::string_view name) const {
  const AttrField* known = schema_->find(name);
  return known ? known->get(data_.get(), *known) : std::nullopt;
}

AttrMap Attrs::to_map() const {
  AttrMap map;
  for (const AttrField& known : schema_->fields) {
    std::optional<AttrValue> value = known.get(data_.get(), known);
    if (value && (known.required || !is_same(value, known.default_value)))
      map.emplace(known.name, std::move(*value));
  }
  return map;
}

bool Attrs::operator==(const Attrs& other) const {
  if (schema_ != other.schema_) return false;
  if (data_ == other.data_) return true;
  for (const AttrField& known : schema_->fields) {
    if (!is_same(known.get(data_.get(), known), known.get(other.data_.get(), known))) return false;
  }
  return true;
}

}  // namespace sardonyx
