#include "tools/onnx-run/score/csv_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "ir/core/dtype_convert.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/score/csv_rows.h"

namespace sardonyx::tool {
namespace fs = std::filesystem;
namespace {

std::string_view trimmed(std::string_view field) {
  while (field.starts_with(' '))
    field.remove_prefix(1);
  while (field.ends_with(' '))
    field.remove_suffix(1);
  return field;
}

template <typename T>
bool parse_field(std::string_view field, T& value) {
  if (field.starts_with('+')) field.remove_prefix(1);
  const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (field.empty() || stop != field.data() + field.size()) return false;
  if constexpr (std::is_floating_point_v<T>) {
    // What is too small for the type is rounded, as other digits are; the largest is its bound.
    if (error == std::errc::result_out_of_range) {
      const long double exact = std::strtold(std::string(field).c_str(), nullptr);
      if (std::fabs(exact) > 1) return false;
      value = static_cast<T>(exact);
    }
  }
  return error == std::errc() || std::is_floating_point_v<T>;
}

bool parse_flag(std::string_view field, uint64_t& value) {
  value = field == "1" || field == "true" || field == "True" || field == "TRUE";
  return value == 1 || field == "0" || field == "false" || field == "False" || field == "FALSE";
}

// Stores a number where it is within the range of `dtype`.
template <typename T>
bool store_within(DType dtype, const T& value, Tensor& out, int64_t at) {
  store_numbers(dtype, out.raw(), at, 1, &value, {.overflow = Overflow::kToInfinity});
  T stored{};
  load_numbers(dtype, out.raw(), at, 1, 1, &stored);
  if constexpr (std::is_floating_point_v<T>) return std::isfinite(stored) || !std::isfinite(value);
  return stored == value;
}

// False where the field is no number of that type.
bool store_field(std::string_view field, DType dtype, Tensor& out, int64_t at) {
  if (dtype == DType::kFloat) {
    return parse_field(field, out.mutable_values<float>()[static_cast<size_t>(at)]);
  }
  if (is_floating(dtype)) {
    double value = 0;
    return parse_field(field, value) && store_within(dtype, value, out, at);
  }
  if (is_signed_integer(dtype)) {
    int64_t value = 0;
    return parse_field(field, value) && store_within(dtype, value, out, at);
  }
  uint64_t value = 0;
  const bool is_right =
      dtype == DType::kBool ? parse_flag(field, value) : parse_field(field, value);
  return is_right && store_within(dtype, value, out, at);
}

class CsvSource : public RowSource {
 public:
  CsvSource(const fs::path& file, const Runner& runner, const CsvSourceOptions& options,
            int64_t rows)
      : file_(file), delimiter_(delimiter_of(file, options)), options_(options) {
    rewind();
    std::vector<std::string> first = header_;
    if (!options.has_header && !reader_->next(first)) first.clear();
    columns_ = first.size();
    // A file without a single line has no rows, and needs no columns.
    if (columns_ > 0)
      inputs_ = choose_columns(runner, options, header_, std::vector<int64_t>(columns_, 1),
                               file.string());
    rewind();
    rows_ = rows >= 0 ? rows : count_rows();
  }

  int64_t rows() const override { return rows_; }
  std::vector<std::string> column_names() const override {
    return names_of_columns(inputs_, header_);
  }
  NamedData read(int64_t begin, int64_t end) override {
    if (begin < next_) rewind();
    for (; next_ < begin; ++next_) {
      if (!reader_->skip()) refuse_end(next_);
    }
    std::vector<Tensor> tensors;
    for (const ColumnsOfInput& input : inputs_) {
      Shape shape = input.row;
      shape.insert(shape.begin(), end - begin);
      tensors.push_back(Tensor::allocate(input.dtype, shape));
    }
    for (; next_ < end; ++next_) {
      if (!reader_->next(fields_)) refuse_end(next_);
      check_field_count();
      for (size_t i = 0; i < inputs_.size(); ++i)
        store_row(inputs_[i], next_ - begin, tensors[i]);
    }
    NamedData data;
    for (size_t i = 0; i < inputs_.size(); ++i)
      data.emplace(inputs_[i].name, std::move(tensors[i]));
    return data;
  }

 private:
  static char delimiter_of(const fs::path& file, const CsvSourceOptions& options) {
    if (options.delimiter.empty()) return file.extension() == ".tsv" ? '\t' : ',';
    if (options.delimiter.size() != 1 || options.delimiter == "\"" || options.delimiter == "\n")
      fail_usage("--delimiter: expected one character, got '", options.delimiter, "'");
    return options.delimiter[0];
  }
  void rewind() {
    reader_ = std::make_unique<CsvRows>(file_, delimiter_);
    next_ = 0;
    header_.clear();
    if (options_.has_header) reader_->next(header_);
  }
  int64_t count_rows() {
    int64_t rows = 0;
    while (reader_->skip())
      ++rows;
    rewind();
    return rows;
  }
  [[noreturn]] void refuse_end(int64_t row) const {
    fail(ErrorCode::kInvalidArgument, reader_->name(), ": it ends after ", row,
         " rows; it had more when they were counted");
  }
  void check_field_count() const {
    if (fields_.size() == columns_) return;
    fail(ErrorCode::kInvalidArgument, reader_->name(), ": line ", reader_->line(), ": expected ",
         columns_, " fields, got ", fields_.size());
  }
  void store_row(const ColumnsOfInput& input, int64_t row, Tensor& out) const {
    int64_t at = row * static_cast<int64_t>(input.columns.size());
    for (const size_t column : input.columns) {
      if (input.dtype == DType::kString) {
        out.mutable_values<std::string>()[static_cast<size_t>(at++)] = fields_[column];
        continue;
      }
      const std::string_view field = trimmed(fields_[column]);
      const bool is_missing = field.empty() && options_.allow_missing && is_floating(input.dtype);
      if (!store_field(is_missing ? "nan" : field, input.dtype, out, at++)) {
        fail(ErrorCode::kInvalidArgument, reader_->name(), ": line ", reader_->line(), ", column ",
             column < header_.size() ? "'" + header_[column] + "'" : text(column),
             ": expected a number of type ", input.dtype, ", got '", field.substr(0, 40), "'");
      }
    }
  }

  fs::path file_;
  char delimiter_;
  CsvSourceOptions options_;
  std::unique_ptr<CsvRows> reader_;
  std::vector<std::string> header_, fields_;
  size_t columns_ = 0;
  std::vector<ColumnsOfInput> inputs_;
  int64_t rows_ = 0, next_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> csv_source(const fs::path& file, const Runner& runner,
                                      const CsvSourceOptions& options, int64_t rows) {
  return std::make_unique<CsvSource>(file, runner, options, rows);
}

}  // namespace sardonyx::tool
