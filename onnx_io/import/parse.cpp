#include "onnx_io/import/parse.h"

#include <google/protobuf/io/coded_stream.h>

#include <limits>

#include "ir/error.h"

namespace sardonyx::onnx_import {
namespace {

struct KnownFile {
  std::string_view start, kind;
};
constexpr KnownFile kKnownFiles[] = {
    {"PK\x03\x04", "a zip archive (perhaps a PyTorch checkpoint)"},
    {"\x1f\x8b", "a gzip stream"},
    {"<", "HTML or XML text"},
    {"{", "JSON text"},
    {"version https://git-lfs", "a Git LFS pointer, not the file itself"},
    {"\x89HDF", "an HDF5 file (perhaps a Keras model)"},
    {"\x93NUMPY", "a NumPy array"},
};

std::string guess(std::span<const std::byte> bytes) {
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const KnownFile& known : kKnownFiles) {
    if (content.starts_with(known.start)) return text("it looks like ", known.kind);
  }
  return "the file is truncated, corrupt, nested too deeply, or of another kind";
}

// The length of the UTF-8 character at the front of `value`; 0 where there is none.
size_t utf8_length(std::string_view value) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(value[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || value.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Longer forms than needed, surrogates, and what lies beyond U+10FFFF.
  const unsigned char second = byte(1);
  const bool refused = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return refused ? 0 : length;
}

bool is_utf8(std::string_view value) {
  while (!value.empty()) {
    const size_t length = utf8_length(value);
    if (length == 0) return false;
    value.remove_prefix(length);
  }
  return true;
}

}  // namespace

void parse_message(std::span<const std::byte> bytes, std::string_view what, ErrorCode code,
                   const LoadLimits& limits, google::protobuf::MessageLite& message) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      bytes.size() > limits.file_bytes) {
    fail(ErrorCode::kResourceExhausted, what, ": ", bytes.size(), " bytes, more than the limit of ",
         std::min<uint64_t>(limits.file_bytes, std::numeric_limits<int>::max()),
         "; keep large tensors as external data");
  }
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(limits.nesting);
  stream.SetTotalBytesLimit(static_cast<int>(bytes.size()));
  if (!message.ParsePartialFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    fail(code, what, ": is no valid protobuf of ONNX: ", guess(bytes));
  }
}

void require_utf8(std::string_view value, std::string_view what) {
  if (!is_utf8(value))
    fail(ErrorCode::kInvalidModel, what, " ", in_quotes(value), " is not valid UTF-8");
}

std::string in_quotes(std::string_view value) {
  constexpr size_t kLongest = 120;
  std::string out = "\"";
  for (const char c : value.substr(0, kLongest)) {
    const bool plain = (c >= 0x20 && c < 0x7f) || (c & 0x80);
    out += plain ? c : '?';
  }
  if (value.size() > kLongest) out += "...";
  while (!is_utf8(out)) {
    for (char& c : out) {
      if (c & 0x80) c = '?';
    }
  }
  return out + '"';
}

}  // namespace sardonyx::onnx_import
