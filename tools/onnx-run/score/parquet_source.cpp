#include "tools/onnx-run/score/parquet_source.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "ir/core/dtype_convert.h"
#include "ir/core/run_control.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/score/duckdb_library.h"

namespace sardonyx::tool {
namespace fs = std::filesystem;
namespace {

std::string in_quotes(const std::string& text, char quote) {
  std::string all(1, quote);
  for (const char c : text) {
    if (c == quote) all += c;
    all += c;
  }
  return all + quote;
}

// The file alone: characters of patterns stand for themselves, and folder names are no columns.
std::string file_literal(const fs::path& file) {
  std::string plain;
  for (const char c : file.string())
    plain += c == '*' || c == '?' || c == '[' ? std::string("[") + c + "]" : std::string(1, c);
  return in_quotes(plain, '\'');
}

// What DuckDB is asked to give for an input. It would round a double that is too large to infinity.
const char* sql_type_of(DuckDbType column, DType dtype) {
  if (is_floating(dtype) && column == DuckDbType::kDouble) return "DOUBLE";
  switch (dtype) {
    case DType::kDouble:
      return "DOUBLE";
    case DType::kInt8:
      return "TINYINT";
    case DType::kInt16:
      return "SMALLINT";
    case DType::kInt32:
      return "INTEGER";
    case DType::kInt64:
      return "BIGINT";
    case DType::kUInt8:
      return "UTINYINT";
    case DType::kUInt16:
      return "USMALLINT";
    case DType::kUInt32:
      return "UINTEGER";
    case DType::kUInt64:
      return "UBIGINT";
    case DType::kBool:
      return "BOOLEAN";
    case DType::kString:
      return "VARCHAR";
    default:
      return "FLOAT";
  }
}

bool is_integer_column(DuckDbType type) {
  return type >= DuckDbType::kInt8 && type <= DuckDbType::kUInt64;
}

bool can_feed(DuckDbType column, DType input) {
  if (is_floating(input)) {
    return is_integer_column(column) || column == DuckDbType::kFloat ||
           column == DuckDbType::kDouble || column == DuckDbType::kDecimal;
  }
  if (input == DType::kBool) return column == DuckDbType::kBoolean;
  if (input == DType::kString) return column == DuckDbType::kVarchar || column == DuckDbType::kEnum;
  return is_integer_column(column);
}

// False where it is finite and beyond the range of the type.
template <typename T>
bool store_floating(T value, Tensor& out, int64_t at) {
  store_numbers(out.dtype(), out.raw(), at, 1, &value, {.overflow = Overflow::kToInfinity});
  T stored{};
  load_numbers(out.dtype(), out.raw(), at, 1, 1, &stored);
  return std::isfinite(stored) || !std::isfinite(value);
}

// Element `from` as element `at` of `out`; false where it is out of range. `type`: the column's.
bool store_element(const DuckDbRows::Values& values, uint64_t from, DuckDbType type, Tensor& out,
                   int64_t at) {
  const DType dtype = out.dtype();
  if (dtype == DType::kString) {
    out.mutable_values<std::string>()[static_cast<size_t>(at)] =
        values.at<DuckDbString>(from).text();
    return true;
  }
  if (is_floating(dtype) && dtype != DType::kDouble) {
    if (type == DuckDbType::kDouble) return store_floating(values.at<double>(from), out, at);
    return store_floating(values.at<float>(from), out, at);
  }
  const size_t width = static_cast<size_t>(bits_of(dtype)) / 8;
  std::memcpy(static_cast<std::byte*>(out.raw()) + static_cast<size_t>(at) * width,
              static_cast<const std::byte*>(values.data) + from * width, width);
  return true;
}

void store_missing(Tensor& out, int64_t at) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  store_numbers(out.dtype(), out.raw(), at, 1, &nan);
}

class ParquetSource : public RowSource {
 public:
  ParquetSource(const fs::path& file, const Runner& runner, const RowColumnOptions& options)
      : name_(file.string()),
        from_(" FROM read_parquet(" + file_literal(file)),
        allows_missing_(options.allow_missing) {
    DuckDbRows counted(
        "SELECT num_rows::BIGINT FROM parquet_file_metadata(" + file_literal(file) + ")", name_);
    if (counted.next()) rows_ = counted.values(0).at<int64_t>(0);
    read_columns();
    if (rows_ == 0) return;
    inputs_ = choose_columns(runner, options, names_, widths_, name_);
    for (const ColumnsOfInput& input : inputs_) {
      for (const size_t column : input.columns) {
        if (can_feed(types_[column], input.dtype)) continue;
        fail_usage(name_, ": column '", names_[column], "' can't feed input '", input.name,
                   "' of type ", input.dtype,
                   "; floating inputs take numbers, integer ones integers, others their own type");
      }
    }
  }

  int64_t rows() const override { return rows_; }
  std::vector<std::string> column_names() const override {
    return names_of_columns(inputs_, names_);
  }
  NamedData read(int64_t begin, int64_t end) override {
    if (!stream_ || begin != next_) start_at(begin);
    std::vector<Tensor> tensors;
    for (const ColumnsOfInput& input : inputs_) {
      Shape shape = input.row;
      shape.insert(shape.begin(), end - begin);
      tensors.push_back(Tensor::allocate(input.dtype, shape));
    }
    while (next_ < end) {
      if (in_chunk_ == stream_->rows()) {
        check_interrupted();
        if (!stream_->next()) {
          fail(ErrorCode::kInvalidArgument, name_, ": it ends after ", next_,
               " rows; its footer tells of ", rows_);
        }
        in_chunk_ = 0;
      }
      const auto count = std::min(stream_->rows() - in_chunk_, static_cast<uint64_t>(end - next_));
      uint64_t selected = 0;
      for (size_t i = 0; i < inputs_.size(); ++i)
        store_input(inputs_[i], selected, count, next_ - begin, tensors[i]);
      in_chunk_ += count;
      next_ += static_cast<int64_t>(count);
    }
    NamedData data;
    for (size_t i = 0; i < inputs_.size(); ++i)
      data.emplace(inputs_[i].name, std::move(tensors[i]));
    return data;
  }

 private:
  // Names, types and, by the first row, how many elements each column gives.
  void read_columns() {
    const DuckDbRows head("SELECT *" + from_ + ", hive_partitioning=false) LIMIT 0", name_);
    std::string lengths;
    for (uint64_t column = 0; column < head.columns(); ++column) {
      bool is_list = false;
      types_.push_back(head.column_type(column, is_list));
      names_.push_back(head.column_name(column));
      is_list_.push_back(is_list);
      lengths += text(lengths.empty() ? "" : ", ", is_list ? "len(" : "1::BIGINT",
                      is_list ? in_quotes(names_.back(), '"') + ")::BIGINT" : "");
    }
    if (rows_ == 0) return;
    DuckDbRows first("SELECT " + lengths + from_ + ", hive_partitioning=false) LIMIT 1", name_);
    first.next();
    for (uint64_t column = 0; column < names_.size(); ++column) {
      const DuckDbRows::Values values = first.values(column);
      widths_.push_back(values.is_there(0) ? values.at<int64_t>(0) : 0);
    }
  }

  void start_at(int64_t row) {
    std::string selected;
    for (const ColumnsOfInput& input : inputs_) {
      for (const size_t column : input.columns) {
        selected +=
            text(selected.empty() ? "" : ", ", "CAST(", in_quotes(names_[column], '"'), " AS ",
                 sql_type_of(types_[column], input.dtype), is_list_[column] ? "[]" : "", ")");
      }
    }
    std::string sql = "SELECT " + selected + from_ + ", hive_partitioning=false";
    if (row > 0)
      sql += text(", file_row_number=true) WHERE file_row_number >= ", row);
    else
      sql += ")";
    stream_ = std::make_unique<DuckDbRows>(sql, name_);
    in_chunk_ = 0;
    next_ = row;
  }

  // `count` rows of the chunk to row `at` of `out`; `selected` counts columns of the query.
  void store_input(const ColumnsOfInput& input, uint64_t& selected, uint64_t count, int64_t at,
                   Tensor& out) const {
    const int64_t width = element_count(input.row);
    int64_t within = 0;
    for (const size_t column : input.columns) {
      const DuckDbRows::Values values = stream_->values(selected);
      const DuckDbRows::Values elements =
          is_list_[column] ? stream_->list_elements(selected) : values;
      ++selected;
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t row = in_chunk_ + i;
        const int64_t place = (at + static_cast<int64_t>(i)) * width + within;
        if (!is_list_[column]) {
          store_or_refuse(values, row, i, column, out, place);
          continue;
        }
        const bool is_there = values.is_there(row);
        const DuckDbListEntry entry =
            is_there ? values.at<DuckDbListEntry>(row) : DuckDbListEntry{};
        if (static_cast<int64_t>(entry.length) != widths_[column]) {
          fail(ErrorCode::kInvalidArgument, name_, ": row ", next_ + static_cast<int64_t>(i),
               ", column '", names_[column], "': expected ", widths_[column],
               " elements as in the first row, got ",
               is_there ? text(entry.length) : std::string("NULL"));
        }
        for (uint64_t element = 0; element < entry.length; ++element) {
          store_or_refuse(elements, entry.offset + element, i, column, out,
                          place + static_cast<int64_t>(element));
        }
      }
      within += widths_[column];
    }
  }

  void store_or_refuse(const DuckDbRows::Values& values, uint64_t from, uint64_t row, size_t column,
                       Tensor& out, int64_t place) const {
    if (values.is_there(from)) {
      if (store_element(values, from, types_[column], out, place)) return;
      fail(ErrorCode::kInvalidArgument, name_, ": row ", next_ + static_cast<int64_t>(row),
           ", column '", names_[column], "': the number is beyond the range of ", out.dtype());
    }
    if (allows_missing_ && is_floating(out.dtype())) return store_missing(out, place);
    fail(ErrorCode::kInvalidArgument, name_, ": row ", next_ + static_cast<int64_t>(row),
         ", column '", names_[column], "': expected a value, got NULL",
         is_floating(out.dtype()) ? "; --allow-missing makes it NaN" : "");
  }

  std::string name_, from_;
  bool allows_missing_;
  int64_t rows_ = 0, next_ = 0;
  std::vector<std::string> names_;
  std::vector<DuckDbType> types_;
  std::vector<bool> is_list_;
  std::vector<int64_t> widths_;
  std::vector<ColumnsOfInput> inputs_;
  std::unique_ptr<DuckDbRows> stream_;
  uint64_t in_chunk_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> parquet_source(const fs::path& file, const Runner& runner,
                                          const RowColumnOptions& options) {
  return std::make_unique<ParquetSource>(file, runner, options);
}

}  // namespace sardonyx::tool
