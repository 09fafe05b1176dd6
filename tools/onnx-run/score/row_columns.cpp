#include "tools/onnx-run/score/row_columns.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace {

constexpr DTypeSet kColumnTypes = kFloats | kInts | DType::kBool | DType::kString;

std::optional<size_t> column_number(std::string_view text, size_t count) {
  size_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size()) return {};
  return number < count ? std::optional(number) : std::nullopt;
}

// One item of COLUMNS: a name, a number, or "FIRST-LAST".
void append_columns(const std::string& item, const std::vector<std::string>& header, size_t count,
                    const std::string& where, std::vector<size_t>& columns) {
  if (const auto found = std::ranges::find(header, item); found != header.end()) {
    columns.push_back(static_cast<size_t>(found - header.begin()));
    return;
  }
  if (const auto number = column_number(item, count)) {
    columns.push_back(*number);
    return;
  }
  const size_t dash = item.find('-');
  if (dash != std::string::npos) {
    const auto first = column_number(std::string_view(item).substr(0, dash), count);
    const auto last = column_number(std::string_view(item).substr(dash + 1), count);
    if (first && last && *first <= *last) {
      for (size_t column = *first; column <= *last; ++column)
        columns.push_back(column);
      return;
    }
  }
  fail_usage("--columns: ", where, " has no column '", item, "'; it has ", count, " columns",
             header.empty() ? "" : ", named in its first line");
}

std::vector<size_t> columns_in(std::string_view list, const std::vector<std::string>& header,
                               size_t count, const std::string& where) {
  std::vector<size_t> columns;
  while (true) {
    const size_t comma = std::min(list.find(','), list.size());
    append_columns(std::string(list.substr(0, comma)), header, count, where, columns);
    if (comma == list.size()) return columns;
    list.remove_prefix(comma + 1);
  }
}

// The dims that so many elements form after the first; one open dim takes what is left.
Shape formed_row(const ValueInfo& input, int64_t columns, const std::string& where) {
  if (!input.type.has_rank()) return {columns};
  Shape row;
  int64_t known = 1;
  std::optional<size_t> open;
  bool fits = input.type.rank() > 0;
  for (size_t axis = 1; axis < input.type.rank(); ++axis) {
    const std::optional<int64_t> dim = (*input.type.shape)[axis].try_value();
    fits = fits && (dim || !open);
    if (!dim) open = row.size();
    row.push_back(dim.value_or(1));
    known *= dim.value_or(1);
  }
  if (open && known > 0) row[*open] = columns / known;
  if (!fits || element_count(row) != columns) {
    fail_usage(where, ": ", columns, " columns do not form a row of input '", input.name,
               "' of type ", input.type, "; choose them by --columns");
  }
  return row;
}

// All columns, in the order of `names` where the header has these names and no others.
std::vector<size_t> all_columns(const std::vector<std::string>& names,
                                const std::vector<std::string>& header, size_t count) {
  std::vector<size_t> by_name, by_place(count);
  std::iota(by_place.begin(), by_place.end(), size_t{0});
  for (const std::string& name : names) {
    if (std::ranges::count(header, name) != 1) return by_place;
    by_name.push_back(static_cast<size_t>(std::ranges::find(header, name) - header.begin()));
  }
  return by_name.size() == count ? by_name : by_place;
}

ColumnsOfInput columns_of_input(const ValueInfo& input, std::vector<size_t> columns,
                                const std::vector<int64_t>& widths, const std::string& where) {
  if (!input.type.is_tensor() || !kColumnTypes.has(input.type.dtype) ||
      is_packed(input.type.dtype)) {
    fail_usage(where, ": input '", input.name, "' is ", input.type,
               ", which columns can't give; use .npy or .npz");
  }
  int64_t elements = 0;
  for (const size_t column : columns)
    elements += widths[column];
  Shape row = formed_row(input, elements, where);
  return {input.name, input.type.dtype, std::move(columns), std::move(row)};
}

}  // namespace

std::vector<ColumnsOfInput> choose_columns(const Runner& runner, const RowColumnOptions& options,
                                           const std::vector<std::string>& header,
                                           const std::vector<int64_t>& widths,
                                           const std::string& where) {
  const size_t count = widths.size();
  std::vector<ColumnsOfInput> chosen;
  const auto has = [&](const std::string& name) {
    return std::ranges::find(chosen, name, &ColumnsOfInput::name) != chosen.end() ||
           std::ranges::find(options.constants, name) != options.constants.end();
  };
  for (const std::string& argument : options.columns) {
    const size_t split = argument.rfind('=');
    if (split == std::string::npos || split == 0)
      fail_usage("--columns: expected NAME=COLUMNS, got '", argument, "'");
    const std::string name = argument.substr(0, split);
    const ValueInfo& input = row_input_named(runner, name, "--columns");
    if (has(name)) fail_usage("--columns: input '", name, "' is given twice");
    chosen.push_back(columns_of_input(
        input, columns_in(std::string_view(argument).substr(split + 1), header, count, where),
        widths, where));
  }
  size_t open = 0;
  for (const ValueInfo& input : runner.inputs())
    open += !has(input.name);
  for (const ValueInfo& input : runner.inputs()) {
    if (has(input.name)) continue;
    std::vector<size_t> columns;
    const auto found = std::ranges::find(header, input.name);
    if (found != header.end()) {
      columns.push_back(static_cast<size_t>(found - header.begin()));
    } else if (open == 1 && chosen.empty()) {
      columns = all_columns(options.order, header, count);
    } else {
      fail_usage(where, ": no column '", input.name, "' for the input of that name; say --columns ",
                 input.name, "=COLUMNS");
    }
    chosen.push_back(columns_of_input(input, std::move(columns), widths, where));
  }
  return chosen;
}

std::vector<std::string> names_of_columns(const std::vector<ColumnsOfInput>& inputs,
                                          const std::vector<std::string>& header) {
  std::vector<std::string> names;
  for (const ColumnsOfInput& input : inputs) {
    for (const size_t column : input.columns) {
      if (column < header.size()) names.push_back(header[column]);
    }
  }
  return names;
}

}  // namespace sardonyx::tool
