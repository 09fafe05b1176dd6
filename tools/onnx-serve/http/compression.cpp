#include "tools/onnx-serve/http/compression.h"

#include <zlib.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>

namespace sardonyx::serve {
namespace {

constexpr int kGzip = 16, kGzipOrZlib = 32;  // added to the bits of the window
constexpr size_t kWorthIt = 1024;            // bytes from which on an answer is compressed

template <typename Pieces>
std::string deflated(const Pieces& pieces, bool is_gzip) {
  z_stream stream = {};
  const int window = MAX_WBITS + (is_gzip ? kGzip : 0);
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out;
  std::string chunk(64 << 10, '\0');
  const auto feed = [&](const void* data, size_t size, int flush) {
    const auto* at = static_cast<const Bytef*>(data);
    do {
      const auto now = static_cast<uInt>(std::min<size_t>(size, 1 << 30));
      stream.next_in = const_cast<Bytef*>(at);
      stream.avail_in = now;
      at += now;
      size -= now;
      do {
        stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
        stream.avail_out = static_cast<uInt>(chunk.size());
        deflate(&stream, size > 0 ? Z_NO_FLUSH : flush);
        out.append(chunk, 0, chunk.size() - stream.avail_out);
      } while (stream.avail_out == 0);
    } while (size > 0);
  };
  for (const auto& [data, size] : pieces)
    feed(data, size, Z_NO_FLUSH);
  feed(nullptr, 0, Z_FINISH);
  deflateEnd(&stream);
  return out;
}

// Appends what `body` holds, up to somewhat more than `limit` bytes; false where it is not in that
// format. A gzip file may have several members, one after the other.
bool inflate_all(std::string_view body, int window, size_t limit, size_t padding,
                 const std::function<bool(size_t)>& take, std::string& out) {
  z_stream stream = {};
  if (inflateInit2(&stream, window) != Z_OK) throw std::bad_alloc();
  std::string chunk(64 << 10, '\0');
  int status = Z_OK;
  while (out.size() <= limit) {
    if (stream.avail_in == 0 && !body.empty()) {
      const auto now = std::min<size_t>(body.size(), 1 << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
      stream.avail_in = static_cast<uInt>(now);
      body.remove_prefix(now);
    }
    const bool is_over = stream.avail_in == 0;
    if (status == Z_STREAM_END && (is_over || inflateReset(&stream) != Z_OK)) break;
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = inflate(&stream, Z_NO_FLUSH);
    const size_t got = chunk.size() - stream.avail_out;
    if (!take(got)) break;
    if (out.capacity() < out.size() + got + padding)
      out.reserve(std::max(2 * out.capacity(), out.size() + got + padding));
    out.append(chunk, 0, got);
    if (status != Z_OK && status != Z_STREAM_END) break;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END || out.size() > limit;
}

// Is `encoding` among those that the client takes?
bool accepts(std::string_view list, std::string_view encoding) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (!one.empty() && one.front() == ' ')
      one.remove_prefix(1);
    const std::string_view name = one.substr(0, one.find_first_of("; "));
    const bool is_refused =
        one.find("q=0") != std::string_view::npos &&
        one.find_first_of("123456789", one.find("q=0") + 3) == std::string_view::npos;
    if (beast::iequals(name, encoding) && !is_refused) return true;
  }
  return false;
}

}  // namespace

bool is_known_encoding(std::string_view encoding) {
  for (const std::string_view known : {"gzip", "x-gzip", "deflate"}) {
    if (beast::iequals(encoding, known)) return true;
  }
  return false;
}

std::optional<std::string> decompressed(std::string_view body, size_t limit, size_t padding,
                                        const std::function<bool(size_t)>& take) {
  std::string out;
  if (inflate_all(body, MAX_WBITS + kGzipOrZlib, limit, padding, take, out)) return out;
  // Some clients take deflate for what zlib makes without its header.
  out.clear();
  if (inflate_all(body, -MAX_WBITS, limit, padding, take, out)) return out;
  return std::nullopt;
}

void compress_answer(const HttpRequest& request, HttpAnswer& answer) {
  const std::string_view wanted = request.field("Accept-Encoding");
  if (answer.size() < kWorthIt) return;
  // Caches are told of that whether it is compressed for this client or not.
  answer.fields.emplace_back("Vary", "Accept-Encoding");
  if (wanted.empty()) return;
  const bool is_gzip = accepts(wanted, "gzip");
  if (!is_gzip && !accepts(wanted, "deflate")) return;
  std::vector<std::pair<const void*, size_t>> pieces = {{answer.text.data(), answer.text.size()}};
  for (const HttpAnswer::Part& part : answer.parts) {
    pieces.emplace_back(part.tensor.defined() ? part.tensor.raw() : part.text.data(),
                        part.tensor.defined() ? part.tensor.bytes() : part.text.size());
  }
  answer.text = deflated(pieces, is_gzip);
  answer.parts.clear();
  answer.fields.emplace_back("Content-Encoding", is_gzip ? "gzip" : "deflate");
}

}  // namespace sardonyx::serve
