#include "tools/onnx-serve/http/connection.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <cstring>

#include "tools/onnx-serve/http/chunk_decoder.h"
#include "tools/onnx-serve/http/compression.h"
#include "tools/onnx-serve/http/framing.h"
#include "tools/onnx-serve/http/target.h"

namespace sardonyx::serve {
namespace {

namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr size_t kSmallAnswer = 16 << 10;  // is copied behind its header and sent with it

std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = end.ec == std::errc() && end.ptr == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

template <typename Stream>
class Connection : public Watched, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(Stream stream, const ConnectionContext& context,
             std::shared_ptr<asio::ssl::context> tls)
      : tls_(std::move(tls)), stream_(std::move(stream)), context_(context) {
    place_ = context_.thread.add(*this);
  }
  ~Connection() override { context_.thread.remove(place_); }

  int descriptor() override { return beast::get_lowest_layer(stream_).native_handle(); }
  void close() override {
    error_code ignored;
    beast::get_lowest_layer(stream_).close(ignored);
  }

  asio::awaitable<void> run() {
    if constexpr (is_tls()) {
      deadline = Clock::now() + context_.limits.header;
      error_code error;
      co_await stream_.async_handshake(asio::ssl::stream_base::server, on(error));
      if (error) co_return;
    }
    bool goes_on = true;
    while (goes_on)
      goes_on = co_await serve_one();
    co_await shut_down();
  }

 private:
  static constexpr bool is_tls() { return !std::is_same_v<Stream, tcp::socket>; }
  using Parser = http::request_parser<http::empty_body>;
  static auto on(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

  void allow(uint64_t bytes) {
    deadline = Clock::now() + Progress::time_for_answer(bytes, context_.limits.transfer);
  }

  // Reads and answers one request; false: it was the last one.
  asio::awaitable<bool> serve_one() {
    Parser parser;
    parser.header_limit(context_.limits.header_bytes);
    parser.body_limit(context_.limits.body_bytes);
    parser.eager(false);
    skip_empty_lines();
    is_idle = buffer_.size() == 0;
    deadline = Clock::now() + (is_idle ? context_.limits.idle : context_.limits.header);
    if (is_idle) {
      // The header's time runs from its first byte on.
      if (!co_await read_more()) co_return false;
      is_idle = false;
      has_asked = true;
      deadline = Clock::now() + context_.limits.header;
    }
    const Clock::time_point received = Clock::now();
    // Without http::async_read_header, which posts a handler even where all is there already.
    for (;;) {
      skip_empty_lines(parser.got_some());
      const error_code error = parse_more(parser);
      if (parser.is_header_done()) break;
      if (error && error != http::error::need_more) co_return co_await refuse_header(error);
      if (!co_await read_more()) co_return false;
    }

    HttpRequest request;
    request.method = parser.get().method();
    request.target.assign(parser.get().target().data(), parser.get().target().size());
    request.path = path_parts(request.target);
    const bool keeps = parser.keep_alive() && !context_.handler.ends_connections();
    const bool is_head = request.method == http::verb::head;
    const unsigned version = parser.get().version();
    is_http_10_ = version == 10;
    const bool is_chunked = parser.chunked();
    const uint64_t length = parser.content_length().value_or(0);
    request.fields = std::move(parser.get().base());
    request.is_secure = is_tls();
    request.received = received;
    request.has_body = length > 0 || is_chunked;
    if (version < 10 || version > 11) {
      const HttpAnswer answer = error_answer(505, "HTTP/1.0 and HTTP/1.1 are served");
      co_return co_await answer_and_close(answer);
    }
    if (const std::optional<HttpAnswer> wrong = framing_refusal(request.fields, is_http_10_))
      co_return co_await answer_and_close(*wrong);
    if (std::optional<HttpAnswer> refusal = context_.handler.refusal(request)) {
      // A body that is not read would be taken for the next request.
      const bool goes_on = keeps && !request.has_body;
      const bool was_written = co_await write(*refusal, goes_on, is_head);
      co_return goes_on ? was_written : false;
    }
    TakenBytes taken(context_.bodies);
    const std::optional<HttpAnswer> wrong_body =
        co_await read_body(request, is_chunked, length, taken);
    if (wrong_body) co_return co_await answer_and_close(*wrong_body);
    if (is_gone_) co_return false;

    deadline = Clock::time_point::max();
    HttpAnswer answer;
    try {
      answer = co_await context_.handler.handle(request, context_.thread, *this);
    } catch (...) {
      answer = error_answer(serving::current_serving_error());
    }
    compress_answer(request, answer);
    const bool goes_on = keeps && !context_.handler.ends_connections();
    const Clock::time_point written_from = Clock::now();
    const bool was_written = co_await write(answer, goes_on, is_head);
    if (answer.on_sent) answer.on_sent(written_from);
    co_return goes_on ? was_written : false;
  }

  // Of the first bytes of a request, a client may send empty lines (RFC 9112, 2.2).
  void skip_empty_lines(bool has_begun = false) {
    while (!has_begun && buffer_.size() >= 2 && std::memcmp(buffer_.data().data(), "\r\n", 2) == 0)
      buffer_.consume(2);
  }

  asio::awaitable<bool> read_more() {
    error_code error;
    const size_t got = co_await stream_.async_read_some(buffer_.prepare(4096), on(error));
    buffer_.commit(got);
    co_return !error;
  }

  error_code parse_more(Parser& parser) {
    error_code error;
    const bool is_half_line = !parser.got_some() && buffer_.size() == 1 &&
                              *static_cast<const char*>(buffer_.data().data()) == '\r';
    if (buffer_.size() == 0 || is_half_line) return http::error::need_more;
    try {
      buffer_.consume(parser.put(buffer_.data(), error));
    } catch (const std::length_error&) {
      // A field of more than 64 KiB, which no container of Beast's takes.
      error = http::error::header_limit;
    }
    return error;
  }

  asio::awaitable<bool> refuse_header(error_code error) {
    const std::optional<HttpAnswer> answer = answer_to_header(error);
    if (!answer) co_return false;
    co_return co_await answer_and_close(*answer);
  }

  // What to say of a header that could not be read; nothing where the client is gone.
  std::optional<HttpAnswer> answer_to_header(error_code error) const {
    if (error == http::error::header_limit)
      return error_answer(431, "the header of the request is too long");
    if (error == http::error::body_limit) return error_answer(413, body_limit_text());
    if (error.category() == error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message)
      return error_answer(400, "no HTTP request: " + error.message());
    return std::nullopt;
  }

  std::string body_limit_text() const {
    return text("the body of the request is larger than ", context_.limits.body_bytes, " bytes");
  }

  // A refusal, or nothing where the body was read (or the client is gone: is_gone_).
  asio::awaitable<std::optional<HttpAnswer>> read_body(HttpRequest& request, bool is_chunked,
                                                       uint64_t length, TakenBytes& taken) {
    if (!request.has_body) co_return split_body(request, padded_string());
    // What can't be had is not waited for; what is announced is not taken before it comes.
    if (!taken.has_left(length)) co_return too_much_memory();
    const std::string_view encoding = request.field("Content-Encoding");
    const bool is_plain = encoding.empty() || beast::iequals(encoding, "identity");
    if (!is_plain && !is_known_encoding(encoding))
      co_return error_answer(415, text("unknown Content-Encoding '", encoding, "'"));
    // A client that has begun to send its body does not wait.
    const bool waits = !is_http_10_ && buffer_.size() == 0;
    if (waits && beast::iequals(request.field("Expect"), "100-continue")) {
      error_code error;
      static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await asio::async_write(stream_, asio::buffer(kContinue), on(error));
    }
    if (is_chunked || !is_plain) {
      std::string body = padded_string();
      // What gcc 12 makes of a conditional operator with co_await destroys its result twice.
      std::optional<HttpAnswer> refusal;
      if (is_chunked) {
        refusal = co_await read_chunks(body, taken);
      } else {
        refusal = co_await read_text(body, length, taken);
      }
      if (refusal || is_gone_) co_return refusal;
      if (!is_plain) refusal = co_await decompress(body, request.received, taken);
      if (refusal || is_gone_) co_return refusal;
      co_return split_body(request, std::move(body));
    }
    // Elements are read to where the tensor is to be.
    uint64_t header = length;
    if (const std::string_view given = request.field("Inference-Header-Content-Length");
        !given.empty()) {
      const auto number = number_of(given);
      if (!number || *number > length) co_return wrong_header_length(given, length);
      header = *number;
      request.has_binary = true;
    }
    request.text = padded_string();
    std::optional<HttpAnswer> refusal = co_await read_text(request.text, header, taken);
    if (refusal || is_gone_ || !request.has_binary) co_return refusal;
    request.binary = Buffer::allocate(0);
    const auto space = [&](uint64_t at, size_t bytes) {
      return extend(request.binary, at, bytes, length - header);
    };
    refusal = co_await read_pieces(length - header, space, taken);
    co_return refusal;
  }

  // In steps, between which others are served; ends early where the client leaves or its time has
  // passed.
  asio::awaitable<std::optional<HttpAnswer>> decompress(std::string& body,
                                                        Clock::time_point received,
                                                        TakenBytes& taken) {
    using State = Decompressor::State;
    Decompressor decompressor(body, context_.limits.body_bytes, kJsonPadding, taken);
    deadline = Clock::time_point::max();
    State state = decompressor.step();
    if (state == State::kGoesOn) {
      context_.thread.begin_run(*this, [this] { is_gone_ = true; });
      while (state == State::kGoesOn && !is_gone_ && !is_late(received)) {
        co_await asio::post(context_.thread.context(), asio::use_awaitable);
        state = decompressor.step();
      }
      context_.thread.end_run(*this);
    }
    if (state == State::kGoesOn && !is_gone_) co_return time_is_up();
    if (state == State::kNoMemory) co_return too_much_memory();
    if (state == State::kTooLarge) co_return error_answer(413, body_limit_text());
    if (state == State::kWrong)
      co_return error_answer(400, "the body is not what its Content-Encoding says");
    body = decompressor.take_result();
    co_return std::nullopt;
  }

  bool is_late(Clock::time_point received) const {
    const std::chrono::microseconds limit = context_.limits.decompression;
    return limit.count() > 0 && Clock::now() >= received + limit;
  }

  static HttpAnswer time_is_up() {
    return error_answer({Status::kDeadlineExceeded,
                         "Request timeout expired: the body was still being decompressed"});
  }
  static HttpAnswer too_much_memory() { return error_answer(503, kBudgetIsUsedUp); }

  static HttpAnswer wrong_header_length(std::string_view given, uint64_t length) {
    return error_answer(400, text("Inference-Header-Content-Length '", given,
                                  "' is no number up to the ", length, " bytes of the body"));
  }

  static std::optional<HttpAnswer> split_body(HttpRequest& request, std::string body) {
    const std::string_view given = request.field("Inference-Header-Content-Length");
    if (given.empty()) {
      request.text = std::move(body);
      return std::nullopt;
    }
    const auto number = number_of(given);
    if (!number || *number > body.size()) return wrong_header_length(given, body.size());
    request.has_binary = true;
    request.binary = Buffer::allocate(body.size() - *number);
    std::memcpy(request.binary->data(), body.data() + *number, body.size() - *number);
    body.resize(*number);
    request.text = std::move(body);
    return std::nullopt;
  }

  asio::awaitable<std::optional<HttpAnswer>> read_text(std::string& to, uint64_t bytes,
                                                       TakenBytes& taken) {
    const auto space = [&](uint64_t, size_t piece) { return extend(to, piece, bytes); };
    std::optional<HttpAnswer> refusal = co_await read_pieces(bytes, space, taken);
    co_return refusal;
  }

  // Reads `bytes` to where space(how many are there, how many come next) says.
  template <typename Space>
  asio::awaitable<std::optional<HttpAnswer>> read_pieces(uint64_t bytes, const Space& space,
                                                         TakenBytes& taken) {
    Progress progress(context_.limits.transfer);
    for (uint64_t at = 0; at < bytes && !is_gone_;) {
      const size_t next = std::max(next_piece(at), buffer_.size());
      const auto piece = static_cast<size_t>(std::min<uint64_t>(bytes - at, next));
      if (!taken.try_take(piece)) co_return too_much_memory();
      co_await read_exactly(space(at, piece), piece, progress);
      at += piece;
    }
    co_return std::nullopt;
  }

  asio::awaitable<void> read_exactly(char* to, size_t bytes, Progress& progress) {
    size_t there = take_buffered(to, bytes);
    while (there < bytes) {
      deadline = progress.deadline();
      error_code error;
      const size_t got =
          co_await stream_.async_read_some(asio::buffer(to + there, bytes - there), on(error));
      is_gone_ = error.failed();
      if (is_gone_) co_return;
      there += got;
      progress.add(got);
    }
  }

  // How many of up to `bytes` were there without reading.
  size_t take_buffered(char* to, size_t bytes) {
    const size_t there = std::min(bytes, buffer_.size());
    if (there > 0) std::memcpy(to, buffer_.data().data(), there);
    buffer_.consume(there);
    return there;
  }

  asio::awaitable<std::optional<HttpAnswer>> read_chunks(std::string& body, TakenBytes& taken) {
    using State = ChunkDecoder::State;
    ChunkDecoder decoder(context_.limits.header_bytes);
    Progress progress(context_.limits.transfer);
    for (;;) {
      const State state = take_framing(decoder);
      if (state == State::kDone) co_return std::nullopt;
      if (state == State::kWrong) co_return error_answer(400, "no chunked body");
      if (state == State::kTooLong)
        co_return error_answer(431, "the trailers or extensions of chunks are too long");
      if (state == State::kData) {
        if (decoder.data_left() > context_.limits.body_bytes - body.size())
          co_return error_answer(413, body_limit_text());
        const auto piece =
            static_cast<size_t>(std::min<uint64_t>(decoder.data_left(), next_piece(body.size())));
        if (!taken.try_take(piece)) co_return too_much_memory();
        char* to = extend(body, piece, context_.limits.body_bytes);
        co_await read_exactly(to, piece, progress);
        decoder.took_data(piece);
      } else {
        deadline = progress.deadline();
        is_gone_ = !co_await read_more();
      }
      if (is_gone_) co_return std::nullopt;
    }
  }

  ChunkDecoder::State take_framing(ChunkDecoder& decoder) {
    const auto* begin = static_cast<const char*>(buffer_.data().data());
    std::string_view framing(begin, buffer_.size());
    const ChunkDecoder::State state = decoder.take_framing(framing);
    buffer_.consume(buffer_.size() - framing.size());
    return state;
  }

  asio::awaitable<bool> answer_and_close(const HttpAnswer& answer) {
    co_await write(answer, false, false);
    co_return false;
  }

  asio::awaitable<bool> write(const HttpAnswer& answer, bool keeps_alive, bool is_head) {
    const auto reason = http::obsolete_reason(static_cast<http::status>(answer.status));
    std::string& head = head_;
    head.assign("HTTP/1.1 ");
    head += std::to_string(answer.status);
    head += ' ';
    head.append(reason.data(), reason.size());
    head += "\r\n";
    if (answer.size() > 0) {
      head += "Content-Type: ";
      head += answer.content_type;
      head += "\r\n";
    }
    for (const auto& [name, value] : answer.fields) {
      head += name;
      head += ": ";
      head += value;
      head += "\r\n";
    }
    if (!keeps_alive) {
      head += "Connection: close\r\n";
    } else if (is_http_10_) {
      head += "Connection: keep-alive\r\n";
    }
    head += "Content-Length: ";
    head += std::to_string(answer.size());
    head += "\r\n\r\n";
    error_code error;
    allow(answer.size());
    if (answer.size() < kSmallAnswer) {
      if (!is_head) append_body(answer, head);
      const asio::const_buffer rest = asio::buffer(head) + send_at_once(asio::buffer(head));
      if (rest.size() > 0) co_await asio::async_write(stream_, rest, on(error));
      co_return !error;
    }
    std::vector<asio::const_buffer> pieces = {asio::buffer(head)};
    if (!is_head) {
      pieces.push_back(asio::buffer(answer.text));
      for (const HttpAnswer::Part& part : answer.parts) {
        pieces.push_back(part.tensor.defined()
                             ? asio::const_buffer(part.tensor.raw(), part.tensor.bytes())
                             : asio::buffer(part.text));
      }
    }
    co_await asio::async_write(stream_, pieces, on(error));
    co_return !error;
  }

  static void append_body(const HttpAnswer& answer, std::string& to) {
    to += answer.text;
    for (const HttpAnswer::Part& part : answer.parts) {
      if (part.tensor.defined()) {
        to.append(static_cast<const char*>(part.tensor.raw()), part.tensor.bytes());
      } else {
        to += part.text;
      }
    }
  }

  // What the socket takes without waiting, which mostly is all; nothing where it encrypts.
  size_t send_at_once(asio::const_buffer bytes) {
    if constexpr (is_tls()) return 0;
    error_code ignored;  // it comes again
    return beast::get_lowest_layer(stream_).send(bytes, 0, ignored);
  }

  // Lets the client read the last answer although it may still be sending.
  asio::awaitable<void> shut_down() {
    auto& socket = beast::get_lowest_layer(stream_);
    if (!socket.is_open()) co_return;
    error_code error;
    deadline = Clock::now() + std::chrono::seconds(2);
    if constexpr (is_tls()) co_await stream_.async_shutdown(on(error));
    socket.shutdown(tcp::socket::shutdown_send, error);
    std::array<char, 4096> rest;
    for (int i = 0; i < 256 && !error; ++i)
      co_await socket.async_read_some(asio::buffer(rest), on(error));
    socket.close(error);
  }

  const std::shared_ptr<asio::ssl::context> tls_;
  Stream stream_;
  const ConnectionContext context_;
  beast::flat_buffer buffer_;
  std::string head_;
  IoThread::Place place_;
  bool is_gone_ = false;
  bool is_http_10_ = false;
};

template <typename Stream>
void spawn(Stream stream, const ConnectionContext& context,
           std::shared_ptr<asio::ssl::context> tls) {
  const auto connection =
      std::make_shared<Connection<Stream>>(std::move(stream), context, std::move(tls));
  asio::co_spawn(
      context.thread.context(),
      [connection]() -> asio::awaitable<void> { return connection->run(); },
      [connection, &handler = context.handler](const std::exception_ptr& error) {
        if (error) handler.report_defect(error);
      });
}

}  // namespace

void serve_connection(tcp::socket socket, const ConnectionContext& context,
                      std::shared_ptr<asio::ssl::context> tls) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (!tls) {
    socket.non_blocking(true, ignored);  // of calls that are not asynchronous
    spawn(std::move(socket), context, nullptr);
    return;
  }
  asio::ssl::context& settings = *tls;
  spawn(asio::ssl::stream<tcp::socket>(std::move(socket), settings), context, std::move(tls));
}

}  // namespace sardonyx::serve
