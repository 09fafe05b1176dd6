#include "executor/c_api/arrow_import.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include "executor/c_api/pointers.h"
#include "ir/core/dtype_convert.h"

namespace sardonyx::c_api {
namespace {

constexpr int64_t kNull = -1;
constexpr int kDeepest = 64;  // lists in lists

// The elements to read of an array: a range from `begin` on, or a list of indices where there are
// nulls or dictionaries.
struct Places {
  int64_t begin = 0, count = 0;
  bool is_listed = false;
  std::vector<int64_t> list;  // kNull: none

  int64_t at(int64_t i) const { return is_listed ? list[static_cast<size_t>(i)] : begin + i; }
};

class ColumnReader {
 public:
  ColumnReader(std::string name, sx_arrow_nulls nulls, const std::shared_ptr<ArrowKeeper>& keeper)
      : name_(std::move(name)), nulls_(nulls), keeper_(keeper) {}

  Tensor read(const ArrowArray& array, const ArrowSchema& schema, const Places& rows) {
    shape_ = {rows.count};
    return read_level(array, schema, rows, 0);
  }

 private:
  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::kInvalidArgument, "column ", name_.empty() ? "" : "'" + name_ + "'",
         name_.empty() ? "of the array: " : ": ", parts...);
  }
  template <typename... Parts>
  [[noreturn]] void refuse_type(const Parts&... parts) const {
    fail(ErrorCode::kUnsupported, "column '", name_, "': ", parts...);
  }

  // The row that an element of this level belongs to.
  int64_t row_of(int64_t element) const {
    int64_t in_row = 1;
    for (size_t axis = 1; axis < shape_.size(); ++axis)
      in_row *= shape_[axis];
    return in_row > 0 ? element / in_row : 0;
  }

  void check(const ArrowArray& array, const ArrowSchema& schema, int64_t buffers,
             int64_t children) const {
    if (!schema.format) refuse("its schema has no format");
    if (array.length < 0 || array.offset < 0 ||
        array.length > std::numeric_limits<int64_t>::max() - array.offset)
      refuse("length ", array.length, " at offset ", array.offset, " is none");
    if (array.n_buffers != buffers || (buffers > 0 && !array.buffers))
      refuse("format ", schema.format, " has ", buffers, " buffers, got ", array.n_buffers);
    if (array.n_children != children || schema.n_children != children ||
        (children > 0 && (!array.children || !schema.children)))
      refuse("format ", schema.format, " has ", children, " children, got ", array.n_children);
    for (int64_t i = 0; i < children; ++i) {
      if (!array.children[i] || !schema.children[i]) refuse("a child is NULL");
    }
  }

  template <typename T>
  const T* buffer(const ArrowArray& array, int64_t index, int64_t wanted) const {
    const void* memory = array.buffers[index];
    if (!memory && wanted > 0) refuse("buffer ", index, " is NULL");
    return static_cast<const T*>(memory);
  }

  // The indices of the wanted elements in the array's buffers, with nulls marked. Throws where
  // nulls are refused.
  Places present(const ArrowArray& array, const Places& wanted) const {
    check_inside(array, wanted);
    const auto* valid = array.null_count == 0 || array.n_buffers == 0
                            ? nullptr
                            : static_cast<const uint8_t*>(array.buffers[0]);
    Places places{.begin = wanted.begin + array.offset, .count = wanted.count};
    bool any_null = false;
    for (int64_t i = 0; valid && !any_null && i < wanted.count; ++i)
      any_null = wanted.at(i) != kNull && !is_valid(valid, wanted.at(i) + array.offset);
    if (!wanted.is_listed && !any_null) return places;
    places.is_listed = true;
    for (int64_t i = 0; i < wanted.count; ++i) {
      int64_t at = wanted.at(i);
      if (at != kNull) at += array.offset;
      const bool is_null = at != kNull && valid && !is_valid(valid, at);
      if (is_null) refuse_null(i);
      places.list.push_back(is_null ? kNull : at);
    }
    return places;
  }
  static bool is_valid(const uint8_t* valid, int64_t at) { return (valid[at / 8] >> (at % 8)) & 1; }

  void check_inside(const ArrowArray& array, const Places& wanted) const {
    const bool is_inside =
        wanted.count <= array.length && wanted.begin <= array.length - wanted.count;
    if (!wanted.is_listed && !is_inside)
      refuse("an array of ", array.length, " elements, where ", wanted.count, " from ",
             wanted.begin, " on are needed");
    for (const int64_t at : wanted.list) {
      if (at >= array.length)
        refuse("an array of ", array.length, " elements, where element ", at, " is needed");
    }
  }
  void refuse_null(int64_t element) const {
    if (nulls_ == SX_ARROW_NULLS_REFUSED)
      refuse("row ", row_of(element), " is null; choose what nulls become by sx_arrow_options");
  }

  Tensor read_level(const ArrowArray& array, const ArrowSchema& schema, const Places& wanted,
                    int depth) {
    const std::string_view format = schema.format ? schema.format : "";
    if (schema.dictionary) return read_dictionary(array, schema, wanted, depth);
    if (depth > kDeepest) refuse("lists are nested more than ", kDeepest, " deep");
    if (format.starts_with("+w:")) return read_fixed_lists(array, schema, wanted, depth);
    if (format == "+l") return read_lists<int32_t>(array, schema, wanted, depth);
    if (format == "+L") return read_lists<int64_t>(array, schema, wanted, depth);
    if (format == "u" || format == "z") return read_strings<int32_t>(array, schema, wanted);
    if (format == "U" || format == "Z") return read_strings<int64_t>(array, schema, wanted);
    if (format == "b") return read_bools(array, schema, wanted);
    if (format == "n") return read_nothing(array, schema, wanted);
    if (const std::optional<DType> dtype = number_format(format))
      return read_numbers(*dtype, array, schema, wanted);
    refuse_type("Arrow's format '", format,
                "' is no tensor's; expected numbers, bool, utf8 or binary, or lists of them: cast "
                "the column");
  }

  static std::optional<DType> number_format(std::string_view format) {
    constexpr std::pair<char, DType> kFormats[] = {
        {'c', DType::kInt8},    {'C', DType::kUInt8},  {'s', DType::kInt16}, {'S', DType::kUInt16},
        {'i', DType::kInt32},   {'I', DType::kUInt32}, {'l', DType::kInt64}, {'L', DType::kUInt64},
        {'e', DType::kFloat16}, {'f', DType::kFloat},  {'g', DType::kDouble}};
    for (const auto& [letter, dtype] : kFormats) {
      if (format.size() == 1 && format[0] == letter) return dtype;
    }
    return std::nullopt;
  }

  Tensor read_numbers(DType dtype, const ArrowArray& array, const ArrowSchema& schema,
                      const Places& wanted) {
    check(array, schema, 2, 0);
    const Places places = present(array, wanted);
    const size_t size = bytes_for(dtype, 1);
    const auto* from = buffer<std::byte>(array, 1, places.count);
    if (!places.is_listed) {
      const std::byte* begin = from ? from + static_cast<size_t>(places.begin) * size : nullptr;
      const size_t bytes = static_cast<size_t>(places.count) * size;
      // The interface asks for aligned memory, which not every producer has.
      if (reinterpret_cast<uintptr_t>(begin) % size == 0) {
        return Tensor(dtype, shape_, Buffer::borrow(const_cast<std::byte*>(begin), bytes, keeper_));
      }
      Tensor copy = Tensor::allocate(dtype, shape_);
      if (bytes > 0) std::memcpy(copy.raw(), begin, bytes);
      return copy;
    }
    Tensor copy = Tensor::allocate(dtype, shape_);
    auto* to = static_cast<std::byte*>(copy.raw());
    const std::vector<std::byte> nothing = null_of(dtype, size, places);
    for (int64_t i = 0; i < places.count; ++i, to += size) {
      const int64_t at = places.at(i);
      std::memcpy(to, at == kNull ? nothing.data() : from + static_cast<size_t>(at) * size, size);
    }
    return copy;
  }

  // The element that replaces nulls: zero bytes, or NaN (SX_ARROW_NULLS_NAN), which throws if there
  // is a null and the type has no NaN.
  std::vector<std::byte> null_of(DType dtype, size_t size, const Places& places) const {
    std::vector<std::byte> bytes(size);
    if (nulls_ != SX_ARROW_NULLS_NAN) return bytes;
    if (is_floating(dtype)) {
      const double nan = std::numeric_limits<double>::quiet_NaN();
      store_numbers(dtype, bytes.data(), 0, 1, &nan);
    } else {
      refuse_first_null(places, name_of(dtype));
    }
    return bytes;
  }
  void refuse_first_null(const Places& places, std::string_view type) const {
    for (int64_t i = 0; nulls_ == SX_ARROW_NULLS_NAN && i < places.count; ++i) {
      if (places.at(i) != kNull) continue;
      refuse("row ", row_of(i), " is null, which can't be NaN in a column of type ", type,
             "; choose SX_ARROW_NULLS_ZERO, or cast the column");
    }
  }

  Tensor read_bools(const ArrowArray& array, const ArrowSchema& schema, const Places& wanted) {
    check(array, schema, 2, 0);
    const Places places = present(array, wanted);
    refuse_first_null(places, "bool");
    const auto* bits = buffer<uint8_t>(array, 1, places.count);
    Tensor made = Tensor::allocate(DType::kBool, shape_);
    auto* to = static_cast<uint8_t*>(made.raw());
    for (int64_t i = 0; i < places.count; ++i)
      to[i] = places.at(i) != kNull && is_valid(bits, places.at(i));
    return made;
  }

  // Reads a column of Arrow's null type as floats. Throws where nulls are refused.
  Tensor read_nothing(const ArrowArray& array, const ArrowSchema& schema, const Places& wanted) {
    check(array, schema, 0, 0);
    check_inside(array, wanted);
    if (wanted.count > 0) refuse_null(0);
    Tensor made = Tensor::zeros(DType::kFloat, shape_);
    if (nulls_ == SX_ARROW_NULLS_NAN)
      std::ranges::fill(made.mutable_values<float>(), std::numeric_limits<float>::quiet_NaN());
    return made;
  }

  template <typename Offset>
  std::pair<int64_t, int64_t> range_of(const Offset* offsets, int64_t at) const {
    const int64_t begin = offsets[at], end = offsets[at + 1];
    if (begin < 0 || end < begin) refuse("offsets ", begin, " and ", end, " are none");
    return {begin, end};
  }

  template <typename Offset>
  Tensor read_strings(const ArrowArray& array, const ArrowSchema& schema, const Places& wanted) {
    check(array, schema, 3, 0);
    const Places places = present(array, wanted);
    refuse_first_null(places, "string");
    const auto* offsets = buffer<Offset>(array, 1, places.count);
    const auto* bytes = static_cast<const char*>(array.buffers[2]);
    Tensor made = Tensor::allocate(DType::kString, shape_);
    const std::span<std::string> elements = made.mutable_values<std::string>();
    for (int64_t i = 0; i < places.count; ++i) {
      if (places.at(i) == kNull) continue;
      const auto [begin, end] = range_of(offsets, places.at(i));
      if (end > begin && !bytes) refuse("buffer 2 is NULL");
      if (end > begin)
        elements[static_cast<size_t>(i)].assign(bytes + begin, static_cast<size_t>(end - begin));
    }
    return made;
  }

  Tensor read_fixed_lists(const ArrowArray& array, const ArrowSchema& schema, const Places& wanted,
                          int depth) {
    check(array, schema, 1, 1);
    char* end = nullptr;
    const int64_t length = std::strtoll(schema.format + 3, &end, 10);
    if (length < 0 || *end != '\0') refuse("format ", schema.format, " is none");
    const Places places = present(array, wanted);
    return read_elements(array, schema, places, length, depth, [&](int64_t at) {
      int64_t first = 0;
      if (__builtin_mul_overflow(at, length, &first)) refuse("too many elements");
      return first;
    });
  }

  template <typename Offset>
  Tensor read_lists(const ArrowArray& array, const ArrowSchema& schema, const Places& wanted,
                    int depth) {
    check(array, schema, 2, 1);
    const Places places = present(array, wanted);
    const auto* offsets = buffer<Offset>(array, 1, places.count);
    std::optional<int64_t> length;
    for (int64_t i = 0; i < places.count; ++i) {
      if (places.at(i) == kNull) continue;
      const auto [begin, end] = range_of(offsets, places.at(i));
      if (!length) length = end - begin;
      if (*length == end - begin) continue;
      refuse("row ", row_of(i), " has ", end - begin, " elements, an earlier one ", *length,
             "; a tensor has as many in each row: pad them, or run rows of one length at a time");
    }
    if (!length && places.count > 0) refuse("all rows are null: nothing tells how many elements");
    return read_elements(array, schema, places, length.value_or(0), depth,
                         [&](int64_t at) { return range_of(offsets, at).first; });
  }

  // `first(at)`: where the elements of the list at that place begin.
  Tensor read_elements(const ArrowArray& array, const ArrowSchema& schema, const Places& places,
                       int64_t length, int depth, const auto& first) {
    int64_t count = 0;
    if (__builtin_mul_overflow(places.count, length, &count)) refuse("too many elements");
    Places elements{.count = count, .is_listed = places.is_listed};
    if (!places.is_listed) {
      elements.begin = places.count > 0 ? first(places.begin) : 0;
    } else {
      for (int64_t i = 0; i < places.count; ++i) {
        const int64_t begin = places.at(i) == kNull ? kNull : first(places.at(i));
        for (int64_t k = 0; k < length; ++k)
          elements.list.push_back(begin == kNull ? kNull : begin + k);
      }
    }
    shape_.push_back(length);
    return read_level(*array.children[0], *schema.children[0], elements, depth + 1);
  }

  // The integers at the wanted places; 0 for nulls.
  std::vector<int64_t> numbers_at(DType dtype, const ArrowArray& array,
                                  const Places& places) const {
    const size_t size = bytes_for(dtype, 1);
    const auto* from = buffer<std::byte>(array, 1, places.count);
    Tensor numbers = Tensor::zeros(dtype, {places.count});
    auto* to = static_cast<std::byte*>(numbers.raw());
    for (int64_t i = 0; i < places.count; ++i, to += size) {
      if (places.at(i) != kNull)
        std::memcpy(to, from + static_cast<size_t>(places.at(i)) * size, size);
    }
    return numbers.to_int64s();
  }

  Tensor read_dictionary(const ArrowArray& array, const ArrowSchema& schema, const Places& wanted,
                         int depth) {
    if (!array.dictionary) refuse("its schema has a dictionary and its array has none");
    if (depth > kDeepest) refuse("dictionaries are nested more than ", kDeepest, " deep");
    const std::optional<DType> dtype = number_format(schema.format ? schema.format : "");
    if (!dtype || !is_integer(*dtype)) refuse("the indices of its dictionary are no integers");
    check(array, schema, 2, 0);
    const Places places = present(array, wanted);
    const std::vector<int64_t> indices = numbers_at(*dtype, array, places);
    Places entries{.count = places.count, .is_listed = true};
    for (int64_t i = 0; i < places.count; ++i) {
      const int64_t index = places.at(i) == kNull ? 0 : indices[static_cast<size_t>(i)];
      if (index < 0) refuse("index ", index, " of its dictionary");
      entries.list.push_back(places.at(i) == kNull ? kNull : index);
    }
    return read_level(*array.dictionary, *schema.dictionary, entries, depth + 1);
  }

  std::string name_;
  sx_arrow_nulls nulls_;
  std::shared_ptr<ArrowKeeper> keeper_;
  Shape shape_;
};

void check_there(const ArrowArray& array, const ArrowSchema& schema) {
  if (!array.release) fail(ErrorCode::kInvalidArgument, "array: it was released, or taken over");
  if (!schema.release) fail(ErrorCode::kInvalidArgument, "schema: it was released");
  if (!schema.format) fail(ErrorCode::kInvalidArgument, "schema: format is NULL");
}

// Rows of a struct array: nulls of the struct are nulls of all columns.
Places rows_of(const ArrowArray& array, sx_arrow_nulls nulls) {
  Places rows{.begin = array.offset, .count = array.length};
  const auto* valid = array.null_count == 0 || array.n_buffers < 1 || !array.buffers
                          ? nullptr
                          : static_cast<const uint8_t*>(array.buffers[0]);
  if (!valid) return rows;
  rows.is_listed = true;
  for (int64_t i = 0; i < array.length; ++i) {
    const int64_t at = array.offset + i;
    const bool is_there = (valid[at / 8] >> (at % 8)) & 1;
    if (!is_there && nulls == SX_ARROW_NULLS_REFUSED) {
      fail(ErrorCode::kInvalidArgument, "array: row ", i,
           " is null; choose what nulls become by sx_arrow_options");
    }
    rows.list.push_back(is_there ? at : kNull);
  }
  return rows;
}

}  // namespace

ArrowKeeper::~ArrowKeeper() {
  if (array_.release) array_.release(&array_);
}
void ArrowKeeper::take(ArrowArray& array) {
  array_ = array;
  array.release = nullptr;
}

Tensor imported_column(const ArrowArray& array, const ArrowSchema& schema, sx_arrow_nulls nulls,
                       const std::shared_ptr<ArrowKeeper>& keeper) {
  check_there(array, schema);
  ColumnReader reader(schema.name ? schema.name : "", nulls, keeper);
  return reader.read(array, schema, {.begin = 0, .count = std::max<int64_t>(array.length, 0)});
}

std::vector<std::pair<std::string, Tensor>> imported_columns(
    const ArrowArray& array, const ArrowSchema& schema, sx_arrow_nulls nulls,
    const std::shared_ptr<ArrowKeeper>& keeper) {
  check_there(array, schema);
  if (std::string_view(schema.format) != "+s") {
    fail(ErrorCode::kInvalidArgument, "schema: expected a struct ('+s'), whose columns are the ",
         "inputs, got format '", schema.format, "'");
  }
  if (array.n_children != schema.n_children || array.n_children < 0 || array.length < 0 ||
      array.offset < 0 || (array.n_children > 0 && (!array.children || !schema.children))) {
    fail(ErrorCode::kInvalidArgument, "array: ", array.n_children, " columns of ", array.length,
         " rows, its schema has ", schema.n_children);
  }
  const Places rows = rows_of(array, nulls);
  std::vector<std::pair<std::string, Tensor>> columns;
  std::set<std::string_view> names;
  for (int64_t i = 0; i < array.n_children; ++i) {
    const ArrowSchema& of = require(schema.children[i], "schema: a column");
    const ArrowArray& column = require(array.children[i], "array: a column");
    const char* name = of.name ? of.name : "";
    if (!names.insert(name).second)
      fail(ErrorCode::kInvalidArgument, "schema: two columns are named '", name, "'");
    columns.emplace_back(name, ColumnReader(name, nulls, keeper).read(column, of, rows));
  }
  return columns;
}

Tensor with_dims_of(const Tensor& column, const Type& wanted) {
  if (!wanted.is_tensor() || !wanted.shape || wanted.shape->empty()) return column;
  const Dims& dims = *wanted.shape;
  if (dims.size() == column.rank()) return column;
  int64_t in_row = 1;
  for (size_t axis = 1; axis < column.rank(); ++axis)
    in_row *= column.shape()[axis];
  // At most one dim may be unknown; it is inferred from the others.
  int64_t known = 1;
  std::optional<size_t> open;
  for (size_t axis = 1; axis < dims.size(); ++axis) {
    if (dims[axis].is_known()) {
      if (__builtin_mul_overflow(known, dims[axis].value(), &known)) return column;
    } else if (open) {
      return column;
    } else {
      open = axis;
    }
  }
  const bool fits = open ? known > 0 && in_row % known == 0 : in_row == known;
  if (!fits) return column;
  Shape shape{column.shape()[0]};
  for (size_t axis = 1; axis < dims.size(); ++axis)
    shape.push_back(open == axis ? in_row / known : dims[axis].value());
  return column.reshaped(std::move(shape));
}

}  // namespace sardonyx::c_api
