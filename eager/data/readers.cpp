#include "eager/data/readers.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "eager/dispatch/dispatch.h"
#include "ir/core/dtype_convert.h"
#include "ir/core/tensor.h"
#include "onnx_io/file_access.h"
#include "onnx_io/npy.h"
#include "onnx_io/npz.h"

namespace sardonyx::eager::data {
namespace {

// Members of a gzip file one after the other, until the end.
std::string unpacked(std::string_view packed, uint64_t most_bytes, const std::string& file) {
  z_stream stream{};
  constexpr int kGzip = 16;
  if (inflateInit2(&stream, kGzip + MAX_WBITS) != Z_OK)
    fail(ErrorCode::kResourceExhausted, file, ": no memory to unpack it");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closing(&stream, inflateEnd);
  std::string out;
  std::vector<char> piece(size_t{1} << 18);
  constexpr size_t kStep = size_t{1} << 30;
  size_t taken = 0;
  while (true) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    const auto in = static_cast<uInt>(std::min(kStep, packed.size() - taken));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    const size_t made = piece.size() - stream.avail_out;
    if (out.size() + made > most_bytes) {
      fail(ErrorCode::kResourceExhausted, file, ": unpacked it has more than ", most_bytes,
           " bytes");
    }
    out.append(piece.data(), made);
    if (status == Z_STREAM_END) {
      if (taken == packed.size()) return out;
      inflateReset(&stream);
    } else if (status != Z_OK) {
      fail(ErrorCode::kInvalidArgument, file, ": broken gzip data at byte ", taken);
    }
  }
}

// --- IDX ---

struct IdxType {
  uint8_t code;
  DType dtype;
};
constexpr IdxType kIdxTypes[] = {{0x08, DType::kUInt8}, {0x09, DType::kInt8},
                                 {0x0b, DType::kInt16}, {0x0c, DType::kInt32},
                                 {0x0d, DType::kFloat}, {0x0e, DType::kDouble}};

// --- CSV ---

// Takes a table apart; fields in quotes may hold delimiters, line ends and doubled quotes.
class CsvReader {
 public:
  CsvReader(std::string_view text, char delimiter, const std::string& file)
      : text_(text), delimiter_(delimiter), file_(file) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  // False at the end. Empty lines are passed over.
  bool next_row(std::vector<std::string>& fields) {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r'))
      skip_line_end();
    fields.clear();
    if (at_ >= text_.size()) return false;
    row_ = line_;
    do {
      fields.push_back(next_field());
    } while (take(delimiter_));
    if (at_ < text_.size()) skip_line_end();
    return true;
  }
  size_t row() const { return row_; }

 private:
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void skip_line_end() {
    take('\r');
    take('\n');
    ++line_;
  }
  std::string next_field() {
    std::string field;
    if (!take('"')) {
      while (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n' &&
             text_[at_] != '\r')
        field += text_[at_++];
      return field;
    }
    while (true) {
      if (at_ >= text_.size()) {
        fail(ErrorCode::kInvalidArgument, file_, ": line ", row_, ": a quote is not closed");
      }
      if (take('"')) {
        if (!take('"')) break;
        field += '"';
      } else {
        line_ += text_[at_] == '\n';
        field += text_[at_++];
      }
    }
    if (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n' && text_[at_] != '\r')
      fail(ErrorCode::kInvalidArgument, file_, ": line ", line_, ": text after a closed quote");
    return field;
  }

  std::string_view text_;
  char delimiter_;
  const std::string& file_;
  size_t at_ = 0, line_ = 1, row_ = 1;
};

double number_in(std::string_view field, const CsvOptions& options, const std::string& place) {
  while (!field.empty() && field.front() == ' ')
    field.remove_prefix(1);
  while (!field.empty() && field.back() == ' ')
    field.remove_suffix(1);
  if (field.empty() && options.allow_missing) return std::numeric_limits<double>::quiet_NaN();
  if (field.starts_with('+')) field.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (field.empty() || end != field.data() + field.size() ||
      status == std::errc::invalid_argument) {
    fail(ErrorCode::kInvalidArgument, place, ": expected a number, got '", field.substr(0, 40),
         "'");
  }
  return value;
}

}  // namespace

std::string read_bytes(const std::filesystem::path& path, uint64_t most_bytes) {
  const OpenFile file = open_regular(path);
  if (file.size > most_bytes) {
    fail(ErrorCode::kResourceExhausted, file.name, ": it has ", file.size, " bytes, more than ",
         most_bytes);
  }
  std::string bytes(static_cast<size_t>(file.size), '\0');
  if (!bytes.empty()) read_exactly(file, 0, bytes.data(), bytes.size());
  return bytes.starts_with("\x1f\x8b") ? unpacked(bytes, most_bytes, file.name) : bytes;
}

Tensor read_idx(const std::filesystem::path& path, uint64_t most_bytes) {
  const std::string bytes = read_bytes(path, most_bytes);
  const auto refuse = [&](const std::string& why) {
    fail(ErrorCode::kInvalidArgument, path.string(), ": no IDX file: ", why);
  };
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) refuse("it does not begin with 0 0");
  const auto code = static_cast<uint8_t>(bytes[2]);
  const auto* type = std::ranges::find(kIdxTypes, code, &IdxType::code);
  if (type == std::end(kIdxTypes)) refuse(text("unknown element type ", int{code}));
  const size_t rank = static_cast<uint8_t>(bytes[3]);
  const size_t begin = 4 + 4 * rank;
  if (bytes.size() < begin) refuse("it ends in its header");
  Shape shape;
  for (size_t axis = 0; axis < rank; ++axis) {
    uint32_t size = 0;
    for (size_t i = 0; i < 4; ++i)
      size = size << 8 | static_cast<uint8_t>(bytes[4 + 4 * axis + i]);
    shape.push_back(size);
  }
  const size_t needed = bytes_for(type->dtype, element_count(shape));
  if (needed != bytes.size() - begin) {
    refuse(
        text("shape ", to_text(shape), " takes ", needed, " bytes, it has ", bytes.size() - begin));
  }
  sardonyx::Tensor made = sardonyx::Tensor::allocate(type->dtype, shape);
  auto* out = static_cast<char*>(made.raw());
  if (needed > 0) std::memcpy(out, bytes.data() + begin, needed);
  const size_t width = static_cast<size_t>(bits_of(type->dtype)) / 8;
  static_assert(std::endian::native == std::endian::little);
  for (size_t at = 0; width > 1 && at < needed; at += width)
    std::reverse(out + at, out + at + width);
  return Tensor(made);
}

TensorDataset read_mnist(const std::filesystem::path& images, const std::filesystem::path& labels) {
  const sardonyx::Tensor pixels = read_idx(images).data(), classes = read_idx(labels).data();
  if (pixels.dtype() != DType::kUInt8 || pixels.rank() != 3 || classes.dtype() != DType::kUInt8 ||
      classes.shape() != Shape{pixels.shape()[0]}) {
    fail(ErrorCode::kInvalidArgument, images.string(), " and ", labels.string(),
         ": expected bytes [N, rows, columns] and [N], got ", Tensor(pixels).type(), " and ",
         Tensor(classes).type());
  }
  const Shape& shape = pixels.shape();
  sardonyx::Tensor scaled =
      sardonyx::Tensor::allocate(DType::kFloat, {shape[0], 1, shape[1], shape[2]});
  const auto from = pixels.values<uint8_t>();
  std::ranges::transform(from, scaled.mutable_values<float>().begin(),
                         [](uint8_t pixel) { return static_cast<float>(pixel) / 255.0f; });
  return TensorDataset({Tensor(scaled), Tensor::of(classes.to_int64s(), classes.shape())});
}

CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options,
                  uint64_t most_bytes) {
  const std::string bytes = read_bytes(path, most_bytes);
  const std::string file = path.string();
  CsvReader reader(bytes, options.delimiter, file);
  CsvTable table;
  std::vector<std::string> fields;
  if (options.has_header && !reader.next_row(table.names))
    fail(ErrorCode::kInvalidArgument, file, ": expected a header, it is empty");
  std::vector<double> values;
  size_t columns = table.names.size();
  int64_t rows = 0;
  while (reader.next_row(fields)) {
    if (rows == 0 && columns == 0) columns = fields.size();
    if (fields.size() != columns) {
      fail(ErrorCode::kInvalidArgument, file, ": line ", reader.row(), ": expected ", columns,
           " fields, got ", fields.size());
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      values.push_back(
          number_in(fields[i], options, text(file, ": line ", reader.row(), ", column ", i + 1)));
    }
    ++rows;
  }
  sardonyx::Tensor made =
      sardonyx::Tensor::allocate(options.dtype, {rows, static_cast<int64_t>(columns)});
  store_numbers(options.dtype, made.raw(), 0, made.count(), values.data());
  table.values = Tensor(made);
  return table;
}

Tensor CsvTable::columns(int64_t begin, std::optional<int64_t> end) const {
  return values.slice(1, {Dim(begin), end ? std::optional<Dim>(*end) : std::nullopt});
}

Tensor read_npy(const std::filesystem::path& path) {
  return Tensor(sardonyx::read_npy(path));
}
void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  sardonyx::write_npy(path, tensor.data());
}
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path) {
  const NpzReader reader(path);
  std::map<std::string, Tensor> arrays;
  for (const std::string& name : reader.names())
    arrays.emplace(name, Tensor(reader.read(name)));
  return arrays;
}

}  // namespace sardonyx::eager::data
