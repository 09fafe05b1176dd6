#include "executor/c_api/value.h"

#include <algorithm>

#include "ir/datum_tensors.h"

namespace sardonyx::c_api {
namespace {

// A buffer on the caller's memory, without a keeper.
class LentBuffer : public Buffer {
 public:
  LentBuffer(void* data, size_t size) : Buffer(data, size) {}
};

bool is_lent(const Tensor& tensor) {
  return dynamic_cast<const LentBuffer*>(tensor.buffer().get()) != nullptr;
}

}  // namespace

int32_t kind_of(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      return SX_TENSOR;
    case Type::Kind::kSparseTensor:
      return SX_SPARSE_TENSOR;
    case Type::Kind::kSequence:
      return SX_SEQUENCE;
    case Type::Kind::kOptional:
      return SX_OPTIONAL;
    case Type::Kind::kMap:
      return SX_MAP;
    default:
      return SX_OTHER;
  }
}

Shape shape_of(const int64_t* dims, size_t rank) {
  constexpr size_t kMaxDims = 64;
  if (rank > kMaxDims)
    fail(ErrorCode::kInvalidArgument, "rank: expected at most ", kMaxDims, ", got ", rank);
  if (rank > 0) require(dims, "dims");
  Shape shape(dims, dims + rank);
  for (const int64_t dim : shape) {
    if (dim < 0) fail(ErrorCode::kInvalidArgument, "dims: expected at least 0, got ", dim);
  }
  element_count(shape);  // throws where it overflows
  return shape;
}

Tensor borrowed(sx_dtype dtype, const int64_t* dims, size_t rank, const void* data, size_t size,
                std::shared_ptr<void> keeper) {
  const int number = static_cast<int>(dtype);
  if (number <= 0 || number >= kDTypeCount || dtype == SX_STRING) {
    fail(ErrorCode::kInvalidArgument, "dtype: expected one of sx_dtype, and no strings, got ",
         number);
  }
  const DType type = static_cast<DType>(number);
  Shape shape = shape_of(dims, rank);
  const size_t needed = bytes_for(type, element_count(shape));
  if (size != needed) {
    fail(ErrorCode::kInvalidArgument, "size: ", name_of(type), to_text(shape), " takes ", needed,
         " bytes, got ", size);
  }
  if (needed > 0) require(static_cast<const std::byte*>(data), "data");
  auto* const bytes = const_cast<void*>(data);
  if (keeper) return Tensor(type, std::move(shape), Buffer::borrow(bytes, size, std::move(keeper)));
  return Tensor(type, std::move(shape), std::make_shared<LentBuffer>(bytes, size));
}

Tensor copied_strings(const int64_t* dims, size_t rank, const char* const* strings,
                      const size_t* lengths) {
  Tensor tensor = Tensor::allocate(DType::kString, shape_of(dims, rank));
  const std::span<std::string> elements = tensor.mutable_values<std::string>();
  if (!elements.empty()) require(strings, "strings");
  for (size_t i = 0; i < elements.size(); ++i) {
    const char* string = &require(strings[i], "strings");
    if (lengths) check_count(lengths[i], string, text("lengths: element ", i).c_str());
    elements[i] = lengths ? std::string(string, lengths[i]) : std::string(string);
  }
  return tensor;
}

Tensor kept(const Tensor& tensor) {
  return is_lent(tensor) ? tensor.clone() : tensor;
}

Datum kept(const Datum& datum) {
  if (!any_tensor(datum, is_lent)) return datum;
  return with_tensors(datum, [](const Tensor& tensor) { return kept(tensor); });
}

const Tensor& tensor_in(const Datum& datum, const std::string& what) {
  if (datum.is_tensor()) return datum.tensor();
  fail(ErrorCode::kUnsupported, what, " is ", datum.type(),
       ", which is no tensor: look into it as a value");
}

sx_tensor described(const Tensor& tensor, bool written) {
  const bool has_data = tensor.dtype() != DType::kString;
  return {.struct_size = 0,
          .dtype = static_cast<int32_t>(tensor.dtype()),
          .rank = static_cast<int32_t>(tensor.rank()),
          .dims = tensor.shape().data(),
          .data = has_data ? tensor.raw() : nullptr,
          .size = has_data ? tensor.bytes() : 0,
          .written = written,
          .reserved = 0};
}

void list_strings(const Tensor& tensor, const char** strings, size_t* lengths, size_t count) {
  const std::span<const std::string> elements = tensor.values<std::string>();
  if (count != elements.size()) {
    fail(ErrorCode::kInvalidArgument, "count: there are ", elements.size(), " strings, got ",
         count);
  }
  for (size_t i = 0; i < count; ++i) {
    if (strings) strings[i] = elements[i].c_str();
    if (lengths) lengths[i] = elements[i].size();
  }
}

namespace {

const Datum& held_by(const sx_value* value, const char* name) {
  return require(value, name).datum;
}

}  // namespace
}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

extern "C" {

sx_status sx_value_share(const sx_value* value, sx_value** shared) {
  return guarded([&] {
    sx_value*& place = require_place(shared, "shared");
    place = new sx_value(held_by(value, "value"));
  });
}

void sx_value_destroy(sx_value* value) {
  delete value;
}

int32_t sx_value_kind(const sx_value* value) {
  return value ? kind_of(value->datum.type()) : 0;
}

const char* sx_value_type(const sx_value* value) {
  return value ? value->type.c_str() : "";
}

size_t sx_value_count(const sx_value* value) {
  if (!value) return 0;
  const Datum& datum = value->datum;
  if (datum.is_sequence()) return datum.sequence().items.size();
  if (datum.is_optional()) return datum.optional().items.size();
  if (datum.is_map()) return static_cast<size_t>(datum.map().keys.count());
  if (datum.is_sparse()) return static_cast<size_t>(datum.sparse().values.count());
  return static_cast<size_t>(datum.tensor().count());
}

sx_status sx_value_tensor(const sx_value* value, sx_tensor* tensor) {
  return guarded([&] {
    const Tensor& held = tensor_in(held_by(value, "value"), "value");
    fill_struct(tensor, described(held, false), "tensor");
  });
}

sx_status sx_value_strings(const sx_value* value, const char** strings, size_t* lengths,
                           size_t count) {
  return guarded(
      [&] { list_strings(tensor_in(held_by(value, "value"), "value"), strings, lengths, count); });
}

sx_status sx_value_item(const sx_value* value, size_t index, sx_value** item) {
  return guarded([&] {
    sx_value*& place = require_place(item, "item");
    const Datum& datum = held_by(value, "value");
    if (!datum.is_sequence() && !datum.is_optional()) {
      fail(ErrorCode::kInvalidArgument, "value: expected a sequence or optional, got ",
           datum.type());
    }
    const std::vector<Datum>& items =
        datum.is_sequence() ? datum.sequence().items : datum.optional().items;
    check_index(index, items, "items");
    place = new sx_value(items[index]);
  });
}

sx_status sx_value_map(const sx_value* value, sx_value** keys, sx_value** values) {
  return guarded([&] {
    sx_value*& keys_place = require_place(keys, "keys");
    sx_value*& values_place = require_place(values, "values");
    const Map& map = held_by(value, "value").map();
    auto made_keys = std::make_unique<sx_value>(map.keys);
    values_place = new sx_value(map.values);
    keys_place = made_keys.release();
  });
}

sx_status sx_value_sparse(const sx_value* value, sx_value** values, sx_value** indices,
                          const int64_t** dims, size_t* rank) {
  return guarded([&] {
    sx_value*& values_place = require_place(values, "values");
    sx_value*& indices_place = require_place(indices, "indices");
    require(dims, "dims");
    require(rank, "rank");
    const SparseTensor& sparse = held_by(value, "value").sparse();
    auto made_values = std::make_unique<sx_value>(sparse.values);
    indices_place = new sx_value(sparse.indices);
    values_place = made_values.release();
    *dims = sparse.shape.data();
    *rank = sparse.shape.size();
  });
}

}  // extern "C"
