#include "tools/onnx-run/score/part.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "onnx_io/file_write.h"
#include "onnx_io/npz.h"
#include "tools/onnx-run/score/row_source.h"

namespace sardonyx::tool {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRowName = "row_name";

// One field of CSV; quoted where it must be.
void append_text_field(std::string& out, const std::string& value) {
  if (value.find_first_of(",\"\r\n") == std::string::npos) {
    out += value;
    return;
  }
  out += '"';
  for (const char c : value) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

template <typename T>
void append_number(std::string& out, T value) {
  // The sign of a NaN says nothing: it is the operation's that made it.
  if constexpr (std::is_floating_point_v<T>) value = std::isnan(value) ? T(NAN) : value;
  std::array<char, 64> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  SARDONYX_CHECK(error == std::errc());
  out.append(digits.data(), end);
}

void append_element(std::string& out, const Tensor& row, int64_t index) {
  const auto at = static_cast<size_t>(index);
  switch (row.dtype()) {
    case DType::kString:
      return append_text_field(out, row.values<std::string>()[at]);
    case DType::kFloat:
      return append_number(out, row.values<float>()[at]);
    case DType::kDouble:
      return append_number(out, row.values<double>()[at]);
    case DType::kUInt64:
      return append_number(out, row.values<uint64_t>()[at]);
    default:
      break;
  }
  const Tensor one = row.reshaped({row.count()}).slice(index, index + 1);
  if (is_floating(row.dtype()))  // no more digits than the narrow type needs: float has them all
    return append_number(out, static_cast<float>(one.to_doubles()[0]));
  append_number(out, one.to_int64s()[0]);
}

std::string csv_head(const Part& part) {
  std::string out(part.row_names().empty() ? "row" : "file");
  for (size_t i = 0; i < part.values().size(); ++i) {
    const Tensor& value = part.values()[i];
    const int64_t count = value.count() / std::max<int64_t>(part.rows(), 1);
    for (int64_t element = 0; element < count; ++element) {
      out += ',';
      const std::string suffix = count == 1 ? "" : "_" + std::to_string(element);
      append_text_field(out, part.names()[i] + suffix);
    }
  }
  return out + "\n";
}

void write_csv_part(const fs::path& path, const Part& part, int64_t first_row) {
  constexpr size_t kPiece = size_t{1} << 20;
  for (const Tensor& value : part.values()) {
    if (!is_complex(value.dtype())) continue;
    fail(ErrorCode::kUnsupported, path.string(), ": elements of type ", value.dtype(),
         " have no form in CSV; use --format npz");
  }
  AtomicFile file(path);
  std::string out = csv_head(part);
  for (int64_t row = 0; row < part.rows(); ++row) {
    if (part.row_names().empty())
      append_number(out, first_row + row);
    else
      append_text_field(out, part.row_names()[static_cast<size_t>(row)]);
    for (const Tensor& value : part.values()) {
      const Tensor elements = value.slice(row, row + 1);
      for (int64_t i = 0; i < elements.count(); ++i) {
        out += ',';
        append_element(out, elements, i);
      }
    }
    out += '\n';
    if (out.size() < kPiece) continue;
    file.write(std::as_bytes(std::span(out)));
    out.clear();
  }
  file.write(std::as_bytes(std::span(out)));
  file.commit();
}

// What numpy's strings take: as much for each as for the longest, four bytes a character.
size_t padded_bytes(std::span<const std::string> strings) {
  size_t longest = 0;
  for (const std::string& one : strings) {
    const auto continues = [](char c) { return (c & 0xc0) == 0x80; };
    longest =
        std::max(longest, one.size() - static_cast<size_t>(std::ranges::count_if(one, continues)));
  }
  return strings.size() * longest * sizeof(char32_t);
}

// Strings of very different lengths take far more in an array than in memory.
void check_padded(const fs::path& path, const Part& part) {
  size_t bytes = padded_bytes(part.row_names());
  for (const Tensor& value : part.values()) {
    bytes +=
        value.dtype() == DType::kString ? padded_bytes(value.values<std::string>()) : value.bytes();
  }
  if (bytes <= Part::kMostBytes) return;
  fail(ErrorCode::kResourceExhausted, path.string(),
       ": arrays of numpy give every string the size of "
       "the longest, which takes ",
       bytes >> 20, " MiB, more than ", Part::kMostBytes >> 20,
       "; say --format csv, or smaller --part-rows");
}

void write_npz_part(const fs::path& path, const Part& part) {
  check_padded(path, part);
  NpzWriter archive(path);
  for (size_t i = 0; i < part.values().size(); ++i) {
    if (!part.row_names().empty() && part.names()[i] == kRowName) {
      fail(ErrorCode::kUnsupported, "output '", kRowName,
           "' has the name that the names of rows are written under; use --format csv");
    }
    archive.add(part.names()[i], part.values()[i]);
  }
  if (!part.row_names().empty())
    archive.add(std::string(kRowName), Tensor::vector(part.row_names()));
  archive.close();
}

}  // namespace

Part::Part(int64_t rows, std::vector<std::string> names)
    : rows_(rows), names_(std::move(names)), values_(names_.size()) {}

void Part::begin(size_t output, const Tensor& first) {
  if (is_packed(first.dtype())) {
    fail(ErrorCode::kUnsupported, "output '", names_[output], "' is ", first.dtype(),
         ", whose rows do not begin at whole bytes; have the model cast it to int8 or uint8");
  }
  Shape shape = first.shape();
  const int64_t row_elements = shape[0] > 0 ? first.count() / shape[0] : 0;
  const size_t row_bytes = bytes_for(first.dtype(), row_elements);
  size_t taken = 0;
  for (const Tensor& value : values_)
    taken += value.defined() ? value.bytes() : 0;
  const auto most = (kMostBytes - std::min(taken, kMostBytes)) / std::max<size_t>(row_bytes, 1);
  if (most < static_cast<size_t>(rows_)) {
    fail(ErrorCode::kResourceExhausted, "output '", names_[output], "' takes ", row_bytes,
         " bytes a row, and a part of ", rows_, " rows more than ", kMostBytes >> 20,
         " MiB; say --part-rows ",
         std::max<size_t>(kMostBytes / 4 / std::max<size_t>(row_bytes, 1), 1));
  }
  shape[0] = rows_;
  values_[output] = Tensor::allocate(first.dtype(), shape);
}

void Part::add(int64_t at, int64_t rows, int64_t fed, std::vector<Datum> outputs) {
  SARDONYX_CHECK(at >= 0 && rows <= fed && at + rows <= rows_ && outputs.size() == names_.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Datum& output = outputs[i];
    if (!output.is_tensor() || output.tensor().rank() == 0 || output.tensor().shape()[0] != fed) {
      fail(ErrorCode::kInvalidArgument, "output '", names_[i], "': expected a tensor with ", fed,
           " rows for as many rows of input, got ", output.type(),
           "; choose other outputs by --outputs");
    }
    const Tensor& tensor = output.tensor();
    if (!values_[i].defined()) begin(i, tensor);
    Shape one = tensor.shape(), whole = values_[i].shape();
    one[0] = whole[0] = 0;
    if (one != whole || tensor.dtype() != values_[i].dtype()) {
      fail(ErrorCode::kInvalidArgument, "output '", names_[i], "': expected rows as before, ",
           to_text(values_[i].shape()), ", got ", to_text(tensor.shape()),
           "; rows of different shapes can't be written as one array");
    }
    copy_rows(values_[i], at, tensor.slice(0, rows));
  }
}

void write_part(const fs::path& file, PartFormat format, const Part& part, int64_t first_row) {
  if (format == PartFormat::kCsv)
    write_csv_part(file, part, first_row);
  else
    write_npz_part(file, part);
}

}  // namespace sardonyx::tool
