// Values made of what a caller hands over.
#include <algorithm>
#include <set>

#include "executor/c_api/type_text.h"
#include "executor/c_api/value.h"

namespace sardonyx::c_api {
namespace {

sx_status create_value(sx_value** value, const auto& make) {
  return guarded([&] {
    sx_value*& place = require_place(value, "value");
    place = new sx_value(Datum(make()));
  });
}

// Calls the caller's release callback when the last tensor on the caller's memory is gone. It must
// be armed first: after an error the memory is still the caller's.
class Release {
 public:
  Release(void (*release)(void*), void* user) : release_(release), user_(user) {}
  ~Release() {
    if (is_armed_) release_(user_);
  }
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  void arm() { is_armed_ = true; }

 private:
  void (*release_)(void*);
  void* user_;
  bool is_armed_ = false;
};

// Kind and element types, without sizes: what items have in common.
Type without_sizes(const Type& type) {
  Type plain = type;
  plain.shape.reset();
  if (type.element) plain.element = std::make_shared<const Type>(without_sizes(*type.element));
  return plain;
}

Type element_type(const char* given, const Datum* first) {
  if (given) return without_sizes(parse_type(given));
  if (first) return without_sizes(first->type());
  fail(ErrorCode::kInvalidArgument,
       "element_type: expected a type, got NULL; it can't be told where there is no item");
}

void check_item(const Type& wanted, const Datum& item, const char* what) {
  if (same_kind(wanted, item.type())) return;
  fail(ErrorCode::kInvalidArgument, what, ": expected ", wanted, ", got ", item.type());
}

const Tensor& column(const sx_value* value, const char* name) {
  const Datum& datum = require(value, name).datum;
  if (!datum.is_tensor() || datum.tensor().rank() != 1) {
    fail(ErrorCode::kInvalidArgument, name, ": expected a tensor of one dim, got ", datum.type());
  }
  return datum.tensor();
}

template <typename T, typename List>
void check_different(const List& keys) {
  std::set<T> seen;
  for (const T& key : keys) {
    if (!seen.insert(key).second) fail(ErrorCode::kInvalidArgument, "keys: ", key, " comes twice");
  }
}

void check_keys(const Tensor& keys) {
  if (keys.dtype() == DType::kString)
    check_different<std::string>(keys.values<std::string>());
  else if (is_integer(keys.dtype()))
    check_different<int64_t>(keys.to_int64s());
  else
    fail(ErrorCode::kInvalidArgument, "keys: expected integers or strings, got ",
         name_of(keys.dtype()));
}

Map map_of(const sx_value* keys, const sx_value* values) {
  Map map{column(keys, "keys"), column(values, "values")};
  check_keys(map.keys);
  if (map.keys.count() != map.values.count()) {
    fail(ErrorCode::kInvalidArgument, "values: expected ", map.keys.count(), ", one for each key, ",
         "got ", map.values.count());
  }
  return map;
}

// Checks that sparse indices are inside the shape and in ascending order, as the format requires.
void check_indices(const Tensor& indices, const Tensor& values, const Shape& shape) {
  const bool is_linear = indices.rank() == 1;
  const Shape wanted_list{values.count()};
  const Shape wanted_table{values.count(), static_cast<int64_t>(shape.size())};
  if (indices.dtype() != DType::kInt64 ||
      indices.shape() != (is_linear ? wanted_list : wanted_table)) {
    fail(ErrorCode::kInvalidArgument, "indices: expected int64", to_text(wanted_list), " or int64",
         to_text(wanted_table), ", got ", name_of(indices.dtype()), to_text(indices.shape()));
  }
  const std::span<const int64_t> all = indices.values<int64_t>();
  const Shape limits = is_linear ? Shape{element_count(shape)} : shape;
  const size_t width = limits.size();
  for (size_t at = 0; width > 0 && at < all.size(); at += width) {
    const auto index = all.subspan(at, width);
    for (size_t axis = 0; axis < width; ++axis) {
      if (index[axis] >= 0 && index[axis] < limits[axis]) continue;
      fail(ErrorCode::kInvalidArgument, "indices: ", index[axis], " of stored element ", at / width,
           " is outside of ", limits[axis]);
    }
    const auto before = at == 0 ? index : all.subspan(at - width, width);
    if (at > 0 && !std::ranges::lexicographical_compare(before, index))
      fail(ErrorCode::kInvalidArgument, "indices: stored element ", at / width,
           " does not come after the one before it");
  }
}

SparseTensor sparse_of(const sx_value* values, const sx_value* indices, const int64_t* dims,
                       size_t rank) {
  SparseTensor sparse{column(values, "values"), Tensor(), shape_of(dims, rank)};
  const Datum& places = require(indices, "indices").datum;
  if (!places.is_tensor()) {
    fail(ErrorCode::kInvalidArgument, "indices: expected a tensor, got ", places.type());
  }
  sparse.indices = places.tensor();
  check_indices(sparse.indices, sparse.values, sparse.shape);
  return sparse;
}

}  // namespace
}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

extern "C" {

sx_status sx_value_create_tensor(sx_dtype dtype, const int64_t* dims, size_t rank, const void* data,
                                 size_t size, sx_value** value) {
  return create_value(value, [&] { return borrowed(dtype, dims, rank, data, size).clone(); });
}

sx_status sx_value_borrow_tensor(sx_dtype dtype, const int64_t* dims, size_t rank, const void* data,
                                 size_t size, void (*release)(void* user), void* user,
                                 sx_value** value) {
  return guarded([&] {
    sx_value*& place = require_place(value, "value");
    auto keeper = release ? std::make_shared<Release>(release, user) : nullptr;
    place = new sx_value(borrowed(dtype, dims, rank, data, size, keeper));
    if (keeper) keeper->arm();
  });
}

sx_status sx_value_create_strings(const int64_t* dims, size_t rank, const char* const* strings,
                                  const size_t* lengths, sx_value** value) {
  return create_value(value, [&] { return copied_strings(dims, rank, strings, lengths); });
}

sx_status sx_value_create_sequence(const sx_value* const* items, size_t count,
                                   const char* element_type_text, sx_value** value) {
  return create_value(value, [&] {
    if (count > 0) require(items, "items");
    Sequence sequence;
    for (size_t i = 0; i < count; ++i)
      sequence.items.push_back(require(items[i], "items").datum);
    sequence.element = element_type(element_type_text, count > 0 ? &sequence.items[0] : nullptr);
    for (const Datum& item : sequence.items)
      check_item(sequence.element, item, "items");
    return sequence;
  });
}

sx_status sx_value_create_optional(const sx_value* content, const char* element_type_text,
                                   sx_value** value) {
  return create_value(value, [&] {
    OptionalDatum optional;
    if (content) optional.items.push_back(content->datum);
    optional.element = element_type(element_type_text, optional.value());
    if (content) check_item(optional.element, content->datum, "content");
    return optional;
  });
}

sx_status sx_value_create_map(const sx_value* keys, const sx_value* values, sx_value** value) {
  return create_value(value, [&] { return map_of(keys, values); });
}

sx_status sx_value_create_sparse(const sx_value* values, const sx_value* indices,
                                 const int64_t* dims, size_t rank, sx_value** value) {
  return create_value(value, [&] { return sparse_of(values, indices, dims, rank); });
}

}  // extern "C"
