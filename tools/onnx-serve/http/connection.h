// A client's connection: reads requests and writes answers, one after the other.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "tools/onnx-serve/http/body_storage.h"
#include "tools/onnx-serve/http/io_thread.h"
#include "tools/onnx-serve/http/message.h"

namespace sardonyx::serve {

struct HttpLimits {
  uint32_t header_bytes = 64 << 10;
  uint64_t body_bytes = uint64_t{1} << 30;
  uint64_t all_body_bytes = uint64_t{4} << 30;  // of all requests at once
  size_t connections = 20'000;
  std::chrono::seconds idle{75};    // between requests
  std::chrono::seconds header{10};  // from the first wait for a request to the end of its header
  // From the first byte of a request until its body is decompressed; 0: no limit. What comes then
  // is up to the handler.
  std::chrono::microseconds decompression{0};
  std::chrono::seconds transfer = Progress::kLeastForAnswer;  // the least; see Progress
};

// Where a request goes. `handle` is called in the connection's thread and may suspend.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual asio::awaitable<HttpAnswer> handle(HttpRequest& request, IoThread& thread,
                                             Watched& connection) = 0;
  // Before the body is read: what is wrong with the header (who asks, for what), if anything.
  virtual std::optional<HttpAnswer> refusal(const HttpRequest& request) = 0;
  // A connection was closed since serving it threw this, which nothing foresaw.
  virtual void report_defect(const std::exception_ptr& error) = 0;
  // What whoever runs the server should know.
  virtual void report(std::string_view remark) = 0;
  // No more requests on a connection, once one is answered.
  virtual bool ends_connections() const = 0;
};

struct ConnectionContext {
  HttpHandler& handler;
  const HttpLimits& limits;
  BodyBudget& bodies;
  IoThread& thread;
};

// Serves the connection in the thread of `context` until either side ends it. With `tls`:
// encrypted.
void serve_connection(asio::ip::tcp::socket socket, const ConnectionContext& context,
                      std::shared_ptr<asio::ssl::context> tls);

}  // namespace sardonyx::serve
