// Sequences and maps.
#include <algorithm>
#include <numeric>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/value.h"

namespace sardonyx::ort_abi {
namespace {

// Without sizes, which the items of a sequence need not share.
Type without_sizes(const Type& type) {
  Type plain = type;
  plain.shape.reset();
  if (type.element) plain.element = std::make_shared<const Type>(without_sizes(*type.element));
  return plain;
}

Datum made_sequence(std::span<const OrtValue* const> items) {
  Sequence sequence;
  for (const OrtValue* item : items)
    sequence.items.push_back(require(item, "in").datum);
  const Datum& first = sequence.items.front();
  if (!first.is_tensor() && !first.is_map())
    refuse(ORT_FAIL, "Each element of the sequence should be either a Tensor or a Map");
  sequence.element = without_sizes(first.type());
  for (const Datum& item : sequence.items) {
    if (!same_kind(sequence.element, item.type())) {
      refuse(ORT_FAIL, "Sequences must have tensors of the same data type. There was at least one ",
             "element in the input that was different.");
    }
  }
  for (Datum& item : sequence.items) {
    if (item.is_tensor()) item = Datum(item.tensor().clone());
  }
  return sequence;
}

// Elements of `tensor` in the order that `places` gives.
template <typename T>
Tensor picked(const Tensor& tensor, std::span<const size_t> places) {
  std::vector<T> values;
  for (const size_t place : places)
    values.push_back(tensor.values<T>()[place]);
  return Tensor::vector(values);
}

template <typename Key>
std::vector<size_t> sorted_places(const Tensor& keys) {
  const std::span<const Key> all = keys.values<Key>();
  std::vector<size_t> places(all.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::stable_sort(places, {}, [&](size_t place) { return all[place]; });
  // The first of equal keys counts.
  const auto repeated = std::ranges::unique(places, {}, [&](size_t place) { return all[place]; });
  places.erase(repeated.begin(), repeated.end());
  return places;
}

Tensor picked_values(const Tensor& values, std::span<const size_t> places) {
  switch (values.dtype()) {
    case DType::kInt64:
      return picked<int64_t>(values, places);
    case DType::kFloat:
      return picked<float>(values, places);
    case DType::kDouble:
      return picked<double>(values, places);
    case DType::kString:
      return picked<std::string>(values, places);
    default:
      refuse(ORT_FAIL, "Map values of type ", values.dtype(), " are not supported");
  }
}

Datum made_map(std::span<const OrtValue* const> parts) {
  if (parts.size() != 2) refuse(ORT_FAIL, "For map type num_values MUST be 2");
  const Tensor& keys = tensor_of(parts[0]);
  const Tensor& values = tensor_of(parts[1]);
  if (keys.rank() > 1 || values.rank() > 1)
    refuse(ORT_FAIL, "Either the key tensor or the value tensor has NumDimensions > 1");
  if (keys.count() != values.count())
    refuse(ORT_FAIL, "Key and value tensors have unequal number of elements.");
  std::vector<size_t> places;
  if (keys.dtype() == DType::kInt64)
    places = sorted_places<int64_t>(keys);
  else if (keys.dtype() == DType::kString)
    places = sorted_places<std::string>(keys);
  else
    refuse(ORT_FAIL, "Key type is not supported yet.");
  Tensor sorted_keys = keys.dtype() == DType::kInt64 ? picked<int64_t>(keys, places)
                                                     : picked<std::string>(keys, places);
  return Map{std::move(sorted_keys), picked_values(values, places)};
}

// Keys and values in the order of the keys, as ONNX Runtime's maps have them.
Datum sorted_map(const Map& map) {
  const OrtValue keys{Datum(map.keys)}, values{Datum(map.values)};
  const OrtValue* const parts[] = {&keys, &values};
  return made_map(parts);
}

bool is_sortable(const Map& map) {
  const DType values = map.values.dtype();
  const bool has_keys = map.keys.dtype() == DType::kInt64 || map.keys.dtype() == DType::kString;
  return has_keys && (values == DType::kInt64 || values == DType::kFloat ||
                      values == DType::kDouble || values == DType::kString);
}

Datum map_part(const Map& map, int index) {
  if (index != 0 && index != 1) refuse(ORT_FAIL, "Invalid index requested for map type.");
  const Datum ordered = is_sortable(map) ? sorted_map(map) : Datum(map);
  const Tensor& part = index == 0 ? ordered.map().keys : ordered.map().values;
  return part.clone();
}

Datum sequence_item(const Sequence& sequence, int index) {
  const auto& items = sequence.items;
  if (index < 0 || static_cast<size_t>(index) >= items.size())
    refuse(ORT_FAIL, "invalid index ", index, " for a sequence of ", items.size());
  const Datum& item = items[static_cast<size_t>(index)];
  return item.is_tensor() ? Datum(item.tensor().clone()) : item;
}

}  // namespace

OrtStatus* Functions::GetValueCount(const OrtValue* value, size_t* out) {
  return guarded([&] {
    const Datum& datum = require(value, "value").datum;
    if (!datum.is_map() && !datum.is_sequence())
      refuse(ORT_FAIL, "Input is not of type sequence or map.");
    require(out, "out") = datum.is_map() ? 2 : datum.sequence().items.size();
  });
}

OrtStatus* Functions::GetValue(const OrtValue* value, int index, OrtAllocator* allocator,
                               OrtValue** out) {
  return guarded([&] {
    OrtValue*& place = require_place(out, "out");
    const Datum& datum = require(value, "value").datum;
    require(allocator, "allocator");
    if (datum.is_map())
      place = new OrtValue(map_part(datum.map(), index));
    else if (datum.is_sequence())
      place = new OrtValue(sequence_item(datum.sequence(), index));
    else
      refuse(ORT_FAIL, "Input is not of type sequence or map.");
  });
}

OrtStatus* Functions::CreateValue(const OrtValue* const* in, size_t num_values, ONNXType value_type,
                                  OrtValue** out) {
  return guarded([&] {
    OrtValue*& place = require_place(out, "out");
    if (num_values == 0) refuse(ORT_FAIL, "Number of values should be at least 1.");
    const std::span parts(&require(in, "in"), num_values);
    if (value_type == ONNX_TYPE_MAP)
      place = new OrtValue(made_map(parts));
    else if (value_type == ONNX_TYPE_SEQUENCE)
      place = new OrtValue(made_sequence(parts));
    else
      refuse(ORT_FAIL, "Input is not of type sequence or map.");
  });
}

}  // namespace sardonyx::ort_abi
