#include "tools/duckdb/vectors.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "ir/core/small_float.h"

namespace sardonyx::duckdb {
namespace {

bool is_there(Handle vector, uint64_t row) {
  const uint64_t* valid = api.vector_get_validity(vector);
  return !valid || ((valid[row / 64] >> (row % 64)) & 1) != 0;
}

bool are_there(Handle vector, uint64_t begin, uint64_t count) {
  const uint64_t* valid = api.vector_get_validity(vector);
  for (uint64_t row = begin; valid && row < begin + count; ++row) {
    if (((valid[row / 64] >> (row % 64)) & 1) == 0) return false;
  }
  return true;
}

template <typename T>
T value_at(Handle vector, uint64_t at) {
  return static_cast<const T*>(api.vector_get_data(vector))[at];
}

std::string text_at(Handle vector, uint64_t at) {
  const auto& found = static_cast<const DuckString*>(api.vector_get_data(vector))[at];
  constexpr uint32_t kInlined = 12;  // up to here the characters stand in place of the pointer
  return {found.length <= kInlined ? found.inlined_or_prefix : found.pointer, found.length};
}

const char* dtype_name(int32_t dtype) {
  switch (dtype) {
    case SX_FLOAT:
      return "float";
    case SX_DOUBLE:
      return "double";
    case SX_FLOAT16:
      return "float16";
    case SX_BFLOAT16:
      return "bfloat16";
    case SX_STRING:
      return "string";
    case SX_BOOL:
      return "bool";
    default:
      return "an integer";
  }
}

// A number as it stands in the column: integers stay exact.
struct ColumnNumber {
  bool is_integer = false;
  bool is_negative = false;
  uint64_t magnitude = 0;
  double value = 0;

  template <typename T>
  static ColumnNumber integer(T from) {
    const auto wide = static_cast<uint64_t>(from);
    const bool is_negative = from < T{0};
    return {true, is_negative, is_negative ? uint64_t{0} - wide : wide, static_cast<double>(from)};
  }
  static ColumnNumber real(double from) { return {.value = from}; }
};

template <typename T>
std::optional<T> integer_of(const ColumnNumber& number) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<T>::max());
  if (!number.is_integer) {
    // A real number that is one all the same.
    const double least = static_cast<double>(std::numeric_limits<T>::lowest());
    if (number.value != std::floor(number.value) || number.value < least ||
        number.value >= std::ldexp(1.0, std::numeric_limits<T>::digits))
      return std::nullopt;
    return static_cast<T>(number.value);
  }
  if (!number.is_negative) {
    if (number.magnitude > kMost) return std::nullopt;
    return static_cast<T>(number.magnitude);
  }
  if (std::is_unsigned_v<T> || number.magnitude > kMost + 1) return std::nullopt;
  return static_cast<T>(uint64_t{0} - number.magnitude);
}

template <typename T>
void append_value(ColumnElements& elements, T value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  elements.bytes.insert(elements.bytes.end(), begin, begin + sizeof value);
}

template <typename T>
bool append_integer(ColumnElements& elements, const ColumnNumber& number) {
  const std::optional<T> value = integer_of<T>(number);
  if (value) append_value(elements, *value);
  return value.has_value();
}

// False where the number is none of the type.
bool append_number(ColumnElements& elements, const ColumnNumber& number) {
  switch (elements.dtype) {
    case SX_FLOAT:
      append_value(elements, static_cast<float>(number.value));
      return true;
    case SX_DOUBLE:
      append_value(elements, number.value);
      return true;
    case SX_FLOAT16:
      append_value(elements, Float16(static_cast<float>(number.value)));
      return true;
    case SX_BFLOAT16:
      append_value(elements, BFloat16(static_cast<float>(number.value)));
      return true;
    case SX_BOOL:
      append_value(elements, static_cast<uint8_t>(number.value != 0));
      return true;
    case SX_INT8:
      return append_integer<int8_t>(elements, number);
    case SX_INT16:
      return append_integer<int16_t>(elements, number);
    case SX_INT32:
      return append_integer<int32_t>(elements, number);
    case SX_INT64:
      return append_integer<int64_t>(elements, number);
    case SX_UINT8:
      return append_integer<uint8_t>(elements, number);
    case SX_UINT16:
      return append_integer<uint16_t>(elements, number);
    case SX_UINT32:
      return append_integer<uint32_t>(elements, number);
    case SX_UINT64:
      return append_integer<uint64_t>(elements, number);
    default:
      return false;
  }
}

}  // namespace

// The type of a vector or of the elements of its lists.
struct Column::Level {
  explicit Level(LogicalType of) : type(std::move(of)), id(type.id()) {
    if (id == TypeId::kList) {
      child = std::make_unique<Level>(LogicalType(api.list_type_child_type(type.get())));
    } else if (id == TypeId::kArray) {
      child = std::make_unique<Level>(LogicalType(api.array_type_child_type(type.get())));
      size = api.array_type_array_size(type.get());
    } else if (id == TypeId::kDecimal) {
      stored = static_cast<TypeId>(api.decimal_internal_type(type.get()));
      scale = std::pow(10.0, api.decimal_scale(type.get()));
    } else if (id == TypeId::kEnum) {
      stored = static_cast<TypeId>(api.enum_internal_type(type.get()));
    }
  }
  LogicalType type;
  TypeId id;
  TypeId stored = TypeId::kInvalid;
  double scale = 1;
  uint64_t size = 0;
  std::unique_ptr<Level> child;
};

namespace {

ColumnNumber stored_number(Handle vector, TypeId id, uint64_t at) {
  switch (id) {
    case TypeId::kBoolean:
      return ColumnNumber::integer(static_cast<int>(value_at<uint8_t>(vector, at) != 0));
    case TypeId::kInt8:
      return ColumnNumber::integer(value_at<int8_t>(vector, at));
    case TypeId::kInt16:
      return ColumnNumber::integer(value_at<int16_t>(vector, at));
    case TypeId::kInt32:
      return ColumnNumber::integer(value_at<int32_t>(vector, at));
    case TypeId::kInt64:
      return ColumnNumber::integer(value_at<int64_t>(vector, at));
    case TypeId::kUInt8:
      return ColumnNumber::integer(value_at<uint8_t>(vector, at));
    case TypeId::kUInt16:
      return ColumnNumber::integer(value_at<uint16_t>(vector, at));
    case TypeId::kUInt32:
      return ColumnNumber::integer(value_at<uint32_t>(vector, at));
    case TypeId::kUInt64:
      return ColumnNumber::integer(value_at<uint64_t>(vector, at));
    case TypeId::kFloat:
      return ColumnNumber::real(static_cast<double>(value_at<float>(vector, at)));
    case TypeId::kDouble:
      return ColumnNumber::real(value_at<double>(vector, at));
    case TypeId::kHugeInt: {
      const HugeInt wide = value_at<HugeInt>(vector, at);
      if (wide.upper == 0) return ColumnNumber::integer(wide.lower);
      if (wide.upper == -1 && static_cast<int64_t>(wide.lower) < 0)
        return ColumnNumber::integer(static_cast<int64_t>(wide.lower));
      return ColumnNumber::real(std::ldexp(static_cast<double>(wide.upper), 64) +
                                static_cast<double>(wide.lower));
    }
    default:
      return {};
  }
}

bool is_number(TypeId id) {
  return (id >= TypeId::kBoolean && id <= TypeId::kDouble) || id == TypeId::kHugeInt;
}

}  // namespace

Column::Column(Handle vector, uint64_t rows, int32_t dtype, std::string label)
    : label_(std::move(label)) {
  elements_.dtype = dtype;
  const Level level{LogicalType(api.vector_get_column_type(vector))};
  if (read_uniform(vector, level, rows)) return;
  cells_.reserve(rows);
  for (uint64_t row = 0; row < rows; ++row) {
    const size_t begin = element_count();
    dims_.clear();
    if (read(vector, level, row, 0)) {
      cells_.push_back(RowValue{shape_number(), begin, element_count() - begin});
      continue;
    }
    elements_.bytes.resize(dtype == SX_STRING ? 0 : begin);
    elements_.strings.resize(dtype == SX_STRING ? begin : 0);
    cells_.emplace_back();
  }
}

// Bytes, or strings.
size_t Column::element_count() const {
  return elements_.dtype == SX_STRING ? elements_.strings.size() : elements_.bytes.size();
}

// Of the row that was read; most have that of the one before.
size_t Column::shape_number() {
  for (size_t i = shapes_.size(); i-- > 0;) {
    if (shapes_[i] == dims_) return i;
  }
  shapes_.push_back(dims_);
  return shapes_.size() - 1;
}

namespace {

// The layout of elements of a dtype in a DuckDB vector; kInvalid: DuckDB has none for it.
TypeId stored_as(int32_t dtype) {
  return dtype == SX_FLOAT16 || dtype == SX_BFLOAT16 ? TypeId::kInvalid : type_id_of(dtype);
}

template <typename From, typename To>
bool append_converted(ColumnElements& elements, Handle vector, uint64_t begin, uint64_t count) {
  const auto* from = static_cast<const From*>(api.vector_get_data(vector)) + begin;
  const size_t at = elements.bytes.size();
  elements.bytes.resize(at + count * sizeof(To));
  for (uint64_t i = 0; i < count; ++i) {
    const auto value = static_cast<To>(from[i]);
    std::memcpy(elements.bytes.data() + at + i * sizeof value, &value, sizeof value);
  }
  return true;
}

// Numbers of any type as float or double, which have a value for each.
template <typename To>
bool append_as(ColumnElements& elements, Handle vector, TypeId id, uint64_t begin, uint64_t count) {
  switch (id) {
    case TypeId::kFloat:
      return append_converted<float, To>(elements, vector, begin, count);
    case TypeId::kDouble:
      return append_converted<double, To>(elements, vector, begin, count);
    case TypeId::kInt8:
      return append_converted<int8_t, To>(elements, vector, begin, count);
    case TypeId::kInt16:
      return append_converted<int16_t, To>(elements, vector, begin, count);
    case TypeId::kInt32:
      return append_converted<int32_t, To>(elements, vector, begin, count);
    case TypeId::kInt64:
      return append_converted<int64_t, To>(elements, vector, begin, count);
    case TypeId::kUInt8:
      return append_converted<uint8_t, To>(elements, vector, begin, count);
    case TypeId::kUInt16:
      return append_converted<uint16_t, To>(elements, vector, begin, count);
    case TypeId::kUInt32:
      return append_converted<uint32_t, To>(elements, vector, begin, count);
    case TypeId::kUInt64:
      return append_converted<uint64_t, To>(elements, vector, begin, count);
    default:
      return false;
  }
}

}  // namespace

// Elements of one type without NULLs at once; false where they must be read one by one.
bool Column::read_range(Handle vector, const Level& level, uint64_t begin, uint64_t count) {
  if (level.child || elements_.dtype == SX_STRING || !are_there(vector, begin, count)) return false;
  if (level.id == stored_as(elements_.dtype)) {
    const size_t size = element_bytes(elements_.dtype);
    const auto* from = static_cast<const std::byte*>(api.vector_get_data(vector)) + begin * size;
    elements_.bytes.insert(elements_.bytes.end(), from, from + count * size);
    return true;
  }
  if (elements_.dtype == SX_FLOAT)
    return append_as<float>(elements_, vector, level.id, begin, count);
  if (elements_.dtype == SX_DOUBLE)
    return append_as<double>(elements_, vector, level.id, begin, count);
  return false;
}

// Where all rows are numbers, or lists of them of one length and one behind the other: reads them
// at once.
bool Column::read_uniform(Handle vector, const Level& level, uint64_t rows) {
  if (rows == 0 || !are_there(vector, 0, rows)) return false;
  const size_t size = element_bytes(elements_.dtype);
  if (!level.child) {
    if (!read_range(vector, level, 0, rows)) return false;
    shapes_.emplace_back();
    row_bytes_ = size;
    return true;
  }
  const bool is_list = level.id == TypeId::kList;
  uint64_t begin = 0, length = level.size;
  if (is_list) {
    const auto* entries = static_cast<const ListEntry*>(api.vector_get_data(vector));
    begin = entries[0].offset, length = entries[0].length;
    for (uint64_t row = 0; row < rows; ++row) {
      if (entries[row].length != length || entries[row].offset != begin + row * length)
        return false;
    }
  }
  const Handle child =
      is_list ? api.list_vector_get_child(vector) : api.array_vector_get_child(vector);
  if (length == 0 || !read_range(child, *level.child, begin, rows * length)) return false;
  shapes_.push_back({static_cast<int64_t>(length)});
  row_bytes_ = length * size;
  return true;
}

std::optional<RowValue> Column::cell(uint64_t row) const {
  return is_uniform() ? RowValue{0, row * row_bytes_, row_bytes_} : cells_[row];
}

// Appends the elements; false where one is NULL.
bool Column::read(Handle vector, const Level& level, uint64_t at, size_t depth) {
  if (!is_there(vector, at)) return false;
  if (!level.child) {
    if (read_range(vector, level, at, 1)) return true;
    if (elements_.dtype == SX_STRING) {
      if (level.id == TypeId::kVarchar) {
        elements_.strings.push_back(text_at(vector, at));
        return true;
      }
      if (level.id == TypeId::kEnum) {
        char* name = api.enum_dictionary_value(level.type.get(),
                                               stored_number(vector, level.stored, at).magnitude);
        elements_.strings.emplace_back(name ? name : "");
        api.free(name);
        return true;
      }
    } else if (is_number(level.id) || level.id == TypeId::kDecimal) {
      ColumnNumber number =
          stored_number(vector, level.stored == TypeId::kInvalid ? level.id : level.stored, at);
      if (level.id == TypeId::kDecimal) number = ColumnNumber::real(number.value / level.scale);
      if (append_number(elements_, number)) return true;
      throw QueryError(label_ + ": a value is none of the model's type, " +
                       dtype_name(elements_.dtype) + " of fewer bits or another sign; cast it");
    }
    throw QueryError(label_ + ": the model wants " + dtype_name(elements_.dtype) +
                     (elements_.dtype == SX_STRING
                          ? ", give a VARCHAR: cast it"
                          : ", and this is no column of numbers: cast it"));
  }
  const bool is_list = level.id == TypeId::kList;
  const ListEntry entry =
      is_list ? value_at<ListEntry>(vector, at) : ListEntry{at * level.size, level.size};
  const auto length = static_cast<int64_t>(entry.length);
  if (dims_.size() <= depth) {
    dims_.push_back(length);
  } else if (dims_[depth] != length) {
    throw QueryError(label_ + ": lists in one row have " + std::to_string(dims_[depth]) + " and " +
                     std::to_string(length) + " elements; a tensor has as many in each");
  }
  const Handle child =
      is_list ? api.list_vector_get_child(vector) : api.array_vector_get_child(vector);
  if (read_range(child, *level.child, entry.offset, entry.length)) return true;
  for (uint64_t i = 0; i < entry.length; ++i) {
    if (!read(child, *level.child, entry.offset + i, depth + 1)) return false;
  }
  return true;
}

void Column::append_to(ColumnElements& elements, uint64_t row) const {
  const RowValue cell = *this->cell(row);
  const auto place = [](size_t at) { return static_cast<std::ptrdiff_t>(at); };
  if (elements.dtype == SX_STRING) {
    const auto begin = elements_.strings.begin() + place(cell.begin);
    elements.strings.insert(elements.strings.end(), begin, begin + place(cell.count));
  } else {
    const auto begin = elements_.bytes.begin() + place(cell.begin);
    elements.bytes.insert(elements.bytes.end(), begin, begin + place(cell.count));
  }
}

std::string constant_text(Handle vector, uint64_t rows, const char* what) {
  for (uint64_t row = 0; row < rows; ++row) {
    if (!is_there(vector, row)) throw QueryError(std::string(what) + " is NULL");
    if (text_at(vector, row) != text_at(vector, 0))
      throw QueryError(std::string(what) + " differs from row to row: give one text");
  }
  return rows == 0 ? "" : text_at(vector, 0);
}

TypeId type_id_of(int32_t dtype) {
  switch (dtype) {
    case SX_FLOAT:
    case SX_FLOAT16:
    case SX_BFLOAT16:
      return TypeId::kFloat;
    case SX_DOUBLE:
      return TypeId::kDouble;
    case SX_BOOL:
      return TypeId::kBoolean;
    case SX_STRING:
      return TypeId::kVarchar;
    case SX_INT8:
      return TypeId::kInt8;
    case SX_INT16:
      return TypeId::kInt16;
    case SX_INT32:
      return TypeId::kInt32;
    case SX_INT64:
      return TypeId::kInt64;
    case SX_UINT8:
      return TypeId::kUInt8;
    case SX_UINT16:
      return TypeId::kUInt16;
    case SX_UINT32:
      return TypeId::kUInt32;
    case SX_UINT64:
      return TypeId::kUInt64;
    default:
      throw QueryError("DuckDB has no type for its elements (sx_dtype " + std::to_string(dtype) +
                       "); add a Cast to the model");
  }
}

size_t element_bytes(int32_t dtype) {
  switch (dtype) {
    case SX_DOUBLE:
    case SX_INT64:
    case SX_UINT64:
      return 8;
    case SX_FLOAT:
    case SX_INT32:
    case SX_UINT32:
      return 4;
    case SX_FLOAT16:
    case SX_BFLOAT16:
    case SX_INT16:
    case SX_UINT16:
      return 2;
    default:
      return 1;
  }
}

LogicalType result_type(int32_t dtype, size_t dims) {
  LogicalType type(type_id_of(dtype));
  for (size_t i = 0; i < dims; ++i) {
    const Handle list = api.create_list_type(type.get());
    type.~LogicalType();
    new (&type) LogicalType(list);
  }
  return type;
}

void set_null(Handle vector, uint64_t row) {
  api.vector_ensure_validity_writable(vector);
  uint64_t* valid = api.vector_get_validity(vector);
  valid[row / 64] &= ~(uint64_t{1} << (row % 64));
}

ResultWriter::ResultWriter(Handle vector, const sx_tensor& tensor, const sx_value* strings,
                           std::vector<int64_t> dims)
    : vector_(vector), tensor_(tensor), dims_(std::move(dims)) {
  if (tensor.dtype != SX_STRING) return;
  const size_t count = sx_value_count(strings);
  strings_.resize(count);
  lengths_.resize(count);
  if (sx_value_strings(strings, strings_.data(), lengths_.data(), count) != SX_OK)
    throw QueryError(sx_last_error());
}

void ResultWriter::write(const ChunkRows& rows, size_t in_row) {
  if (!rows.picked && dims_.empty()) return write_elements(vector_, rows.first, 0, rows.count);
  if (!rows.picked && dims_.size() == 1) return write_lists(rows.first, rows.count);
  for (uint64_t i = 0; i < rows.count; ++i)
    write_level(vector_, rows[i], i * in_row, 0);
}

// Space for `length` more elements in the lists of `vector`; where it begins.
uint64_t ResultWriter::grow(Handle vector, uint64_t length) {
  const uint64_t begin = api.list_vector_get_size(vector);
  if (api.list_vector_reserve(vector, begin + length) != 0 ||
      api.list_vector_set_size(vector, begin + length) != 0)
    throw QueryError("no memory for a list of the result");
  return begin;
}

// Lists of numbers or strings for `count` rows from `first` on.
void ResultWriter::write_lists(uint64_t first, uint64_t count) {
  const auto length = static_cast<uint64_t>(dims_[0]);
  const uint64_t begin = grow(vector_, count * length);
  auto* entries = static_cast<ListEntry*>(api.vector_get_data(vector_)) + first;
  for (uint64_t i = 0; i < count; ++i)
    entries[i] = {begin + i * length, length};
  write_elements(api.list_vector_get_child(vector_), begin, 0, count * length);
}

void ResultWriter::write_level(Handle vector, uint64_t row, size_t first, size_t axis) {
  if (axis == dims_.size()) return write_elements(vector, row, first, 1);
  const auto length = static_cast<uint64_t>(dims_[axis]);
  const uint64_t begin = grow(vector, length);
  static_cast<ListEntry*>(api.vector_get_data(vector))[row] = {begin, length};
  const Handle child = api.list_vector_get_child(vector);
  if (axis + 1 == dims_.size()) return write_elements(child, begin, first, length);
  size_t inner = 1;
  for (size_t i = axis + 1; i < dims_.size(); ++i)
    inner *= static_cast<size_t>(dims_[i]);
  for (uint64_t i = 0; i < length; ++i)
    write_level(child, begin + i, first + i * inner, axis + 1);
}

void ResultWriter::write_elements(Handle vector, uint64_t row, size_t first, size_t count) {
  if (count == 0) return;
  if (tensor_.dtype == SX_STRING) {
    for (size_t i = 0; i < count; ++i)
      api.vector_assign_string_element_len(vector, row + i, strings_[first + i],
                                           lengths_[first + i]);
    return;
  }
  auto* to = static_cast<std::byte*>(api.vector_get_data(vector));
  const auto* from = static_cast<const std::byte*>(tensor_.data);
  const size_t size = element_bytes(tensor_.dtype);
  if (tensor_.dtype == SX_FLOAT16 || tensor_.dtype == SX_BFLOAT16) {
    for (size_t i = 0; i < count; ++i) {
      const std::byte* element = from + (first + i) * size;
      float wide = 0;
      if (tensor_.dtype == SX_FLOAT16) {
        Float16 narrow;
        std::memcpy(&narrow, element, sizeof narrow);
        wide = static_cast<float>(narrow);
      } else {
        BFloat16 narrow;
        std::memcpy(&narrow, element, sizeof narrow);
        wide = static_cast<float>(narrow);
      }
      std::memcpy(to + (row + i) * sizeof wide, &wide, sizeof wide);
    }
    return;
  }
  std::memcpy(to + row * size, from + first * size, count * size);
}

}  // namespace sardonyx::duckdb
