#include "onnx_io/import/parse.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <limits>

#include "ir/core/error.h"
#include "onnx_io/utf.h"

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
  return "the file is truncated, corrupt, or of another kind";
}

bool parses(std::span<const std::byte> bytes, int nesting, google::protobuf::MessageLite& message) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(nesting);
  stream.SetTotalBytesLimit(static_cast<int>(bytes.size()));
  return message.ParsePartialFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

// Is the depth alone what is wrong? The parser does not tell. Beyond this depth nobody asks, as it
// takes the stack; `message` is empty afterwards.
bool is_nested_too_deeply(std::span<const std::byte> bytes, int nesting,
                          google::protobuf::MessageLite& message) {
  constexpr int kDeepest = 1000;
  message.Clear();
  const bool is_too_deep = nesting < kDeepest && parses(bytes, kDeepest, message);
  message.Clear();
  return is_too_deep;
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
  if (parses(bytes, limits.nesting, message)) return;
  if (is_nested_too_deeply(bytes, limits.nesting, message)) {
    fail(ErrorCode::kResourceExhausted, what, ": messages are nested more than ", limits.nesting,
         " levels deep, the limit for nesting");
  }
  fail(code, what, ": is no valid protobuf of ONNX: ", guess(bytes));
}

bool is_utf8(std::string_view value) {
  const bool is_ascii = std::all_of(value.begin(), value.end(), [](char c) { return !(c & 0x80); });
  return is_ascii || from_utf8(value);
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
