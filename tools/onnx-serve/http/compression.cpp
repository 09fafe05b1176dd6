#include "tools/onnx-serve/http/compression.h"

#include <zlib.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>

namespace sardonyx::serve {
namespace {

constexpr int kGzip = 16, kGzipOrZlib = 32;  // added to the bits of the window
constexpr size_t kWorthIt = 1024;            // bytes from which on an answer is compressed
constexpr size_t kLeastPiece = 16 << 10, kStep = 1 << 20;  // bytes that are decompressed at once

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

struct Decompressor::Inflater {
  explicit Inflater(int window_bits) {
    if (inflateInit2(&stream, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  z_stream stream = {};
  int status = Z_OK;
};

Decompressor::Decompressor(std::string_view body, uint64_t limit, size_t padding, TakenBytes& taken)
    : body_(body), limit_(limit), padding_(padding), taken_(taken) {
  begin(MAX_WBITS + kGzipOrZlib);
}

Decompressor::~Decompressor() = default;

void Decompressor::begin(int window_bits) {
  rest_ = body_;
  inflater_ = std::make_unique<Inflater>(window_bits);
}

Decompressor::State Decompressor::step() {
  const size_t until = out_.size() + kStep;
  State state = State::kGoesOn;
  while (state == State::kGoesOn && out_.size() < until)
    state = inflate_piece();
  // Some clients take deflate for what zlib makes without its header.
  if (state == State::kWrong && has_header_ && out_.empty()) {
    has_header_ = false;
    begin(-MAX_WBITS);
    return State::kGoesOn;
  }
  return state;
}

Decompressor::State Decompressor::inflate_piece() {
  z_stream& stream = inflater_->stream;
  int& status = inflater_->status;
  if (stream.avail_in == 0 && !rest_.empty()) {
    const auto now = std::min<size_t>(rest_.size(), 1 << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
    stream.avail_in = static_cast<uInt>(now);
    rest_.remove_prefix(now);
  }
  // A gzip file may have several members, one after the other.
  if (status == Z_STREAM_END) {
    if (stream.avail_in == 0) return State::kDone;
    if (inflateReset(&stream) != Z_OK) return State::kWrong;
  }
  const size_t before = out_.size();
  const size_t piece = std::clamp<size_t>(before, kLeastPiece, kStep);
  stream.next_out = reinterpret_cast<Bytef*>(extend(out_, piece, limit_ + piece, padding_));
  stream.avail_out = static_cast<uInt>(piece);
  status = inflate(&stream, Z_NO_FLUSH);
  const size_t got = piece - stream.avail_out;
  out_.resize(before + got);
  if (!taken_.try_take(got)) return State::kNoMemory;
  if (out_.size() > limit_) return State::kTooLarge;
  return status == Z_OK || status == Z_STREAM_END ? State::kGoesOn : State::kWrong;
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
