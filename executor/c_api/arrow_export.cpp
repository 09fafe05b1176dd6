#include "executor/c_api/arrow_export.h"

#include <array>
#include <cstring>
#include <limits>
#include <memory>

namespace sardonyx::c_api {
namespace {

struct ArrayParts;
struct SchemaParts;

void release_array(ArrowArray* array);
void release_schema(ArrowSchema* schema);

// The private_data of an exported array: all memory that it refers to. A consumer may move a child
// out, whose release is NULL then.
struct ArrayParts {
  Tensor tensor;  // keeps the memory
  std::vector<int32_t> offsets;
  std::vector<int64_t> long_offsets;
  std::vector<uint8_t> bits;
  std::string characters;
  std::array<const void*, 3> buffers{};
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> child_pointers;

  ~ArrayParts() {
    for (const auto& child : children) {
      if (child->release) child->release(child.get());
    }
  }
};

struct SchemaParts {
  std::string format, name;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> child_pointers;

  ~SchemaParts() {
    for (const auto& child : children) {
      if (child->release) child->release(child.get());
    }
  }
};

void release_array(ArrowArray* array) {
  delete static_cast<ArrayParts*>(array->private_data);
  array->release = nullptr;
}
void release_schema(ArrowSchema* schema) {
  delete static_cast<SchemaParts*>(schema->private_data);
  schema->release = nullptr;
}

ArrowArray array_of(std::unique_ptr<ArrayParts> parts, int64_t length, int64_t buffers) {
  for (const auto& child : parts->children)
    parts->child_pointers.push_back(child.get());
  ArrowArray array{};
  array.length = length;
  array.n_buffers = buffers;
  array.n_children = static_cast<int64_t>(parts->children.size());
  array.buffers = parts->buffers.data();
  array.children = parts->child_pointers.data();
  array.release = release_array;
  array.private_data = parts.release();
  return array;
}

ArrowSchema schema_of(std::unique_ptr<SchemaParts> parts) {
  for (const auto& child : parts->children)
    parts->child_pointers.push_back(child.get());
  ArrowSchema schema{};
  schema.format = parts->format.c_str();
  schema.name = parts->name.c_str();
  schema.n_children = static_cast<int64_t>(parts->children.size());
  schema.children = parts->child_pointers.data();
  schema.release = release_schema;
  schema.private_data = parts.release();
  return schema;
}

const char* number_format(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return "c";
    case DType::kUInt8:
      return "C";
    case DType::kInt16:
      return "s";
    case DType::kUInt16:
      return "S";
    case DType::kInt32:
      return "i";
    case DType::kUInt32:
      return "I";
    case DType::kInt64:
      return "l";
    case DType::kUInt64:
      return "L";
    case DType::kFloat16:
      return "e";
    case DType::kFloat:
      return "f";
    case DType::kDouble:
      return "g";
    default:
      return nullptr;
  }
}

size_t string_bytes(const Tensor& tensor) {
  size_t bytes = 0;
  for (const std::string& one : tensor.values<std::string>())
    bytes += one.size();
  return bytes;
}

bool has_long_strings(const Tensor& tensor) {
  return tensor.dtype() == DType::kString &&
         string_bytes(tensor) > static_cast<size_t>(std::numeric_limits<int32_t>::max());
}

std::string element_format(const std::string& name, const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) return has_long_strings(tensor) ? "U" : "u";
  if (tensor.dtype() == DType::kBool) return "b";
  if (const char* format = number_format(tensor.dtype())) return format;
  fail(ErrorCode::kUnsupported, name.empty() ? "the value" : "output " + name, " is ",
       name_of(tensor.dtype()), to_text(tensor.shape()),
       ", which Arrow has no type for; add a Cast to the model, or take it as a value");
}

template <typename Offset>
void write_strings(const Tensor& tensor, std::vector<Offset>& offsets, std::string& characters) {
  characters.reserve(string_bytes(tensor));
  offsets.push_back(0);
  for (const std::string& one : tensor.values<std::string>()) {
    characters += one;
    offsets.push_back(static_cast<Offset>(characters.size()));
  }
}

// All elements of the tensor as one flat array.
ArrowArray elements_of(const Tensor& tensor) {
  auto parts = std::make_unique<ArrayParts>();
  int64_t buffers = 2;
  if (tensor.dtype() == DType::kString) {
    buffers = 3;
    if (has_long_strings(tensor)) {
      write_strings(tensor, parts->long_offsets, parts->characters);
      parts->buffers[1] = parts->long_offsets.data();
    } else {
      write_strings(tensor, parts->offsets, parts->characters);
      parts->buffers[1] = parts->offsets.data();
    }
    parts->buffers[2] = parts->characters.data();
  } else if (tensor.dtype() == DType::kBool) {
    const auto* from = static_cast<const uint8_t*>(tensor.raw());
    // The buffer has at least one byte, for readers that want an address even of empty arrays.
    parts->bits.resize(static_cast<size_t>(tensor.count()) / 8 + 1);
    for (int64_t i = 0; i < tensor.count(); ++i)
      parts->bits[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>((from[i] != 0) << (i % 8));
    parts->buffers[1] = parts->bits.data();
  } else {
    parts->tensor = tensor;
    parts->buffers[1] = tensor.raw();
  }
  return array_of(std::move(parts), tensor.count(), buffers);
}

// Lists of a fixed size around elements, for dims [first, ...).
ArrowArray lists_of(const Tensor& tensor, size_t first, int64_t length) {
  if (first >= tensor.rank()) return elements_of(tensor);
  auto parts = std::make_unique<ArrayParts>();
  parts->children.push_back(
      std::make_unique<ArrowArray>(lists_of(tensor, first + 1, length * tensor.shape()[first])));
  return array_of(std::move(parts), length, 1);
}

ArrowSchema list_schema_of(const Tensor& tensor, size_t first, const std::string& name,
                           const std::string& format) {
  auto parts = std::make_unique<SchemaParts>();
  parts->name = name;
  parts->format = format;
  if (first < tensor.rank()) {
    parts->format = text("+w:", tensor.shape()[first]);
    parts->children.push_back(
        std::make_unique<ArrowSchema>(list_schema_of(tensor, first + 1, "item", format)));
  }
  return schema_of(std::move(parts));
}

int64_t rows_of(const Tensor& tensor) {
  return tensor.rank() == 0 ? 1 : tensor.shape()[0];
}

}  // namespace

void export_column(const Tensor& tensor, const std::string& name, ArrowArray& array,
                   ArrowSchema& schema) {
  const std::string format = element_format(name, tensor);
  const ArrowSchema made = list_schema_of(tensor, 1, name, format);
  try {
    array = lists_of(tensor, 1, rows_of(tensor));
  } catch (...) {
    ArrowSchema unused = made;
    unused.release(&unused);
    throw;
  }
  schema = made;
}

void export_columns(const std::vector<std::pair<std::string, Tensor>>& columns, ArrowArray& array,
                    ArrowSchema& schema) {
  auto parts = std::make_unique<ArrayParts>();
  auto types = std::make_unique<SchemaParts>();
  types->format = "+s";
  const int64_t rows = columns.empty() ? 0 : rows_of(columns[0].second);
  for (const auto& [name, tensor] : columns) {
    if (rows_of(tensor) != rows) {
      fail(ErrorCode::kInvalidArgument, "output ", name, " has ", rows_of(tensor), " rows, output ",
           columns[0].first, " has ", rows,
           "; columns are of one length: take them one by one by sx_value_export_arrow");
    }
    parts->children.push_back(std::make_unique<ArrowArray>());
    types->children.push_back(std::make_unique<ArrowSchema>());
    export_column(tensor, name, *parts->children.back(), *types->children.back());
  }
  array = array_of(std::move(parts), rows, 1);
  schema = schema_of(std::move(types));
}

}  // namespace sardonyx::c_api
