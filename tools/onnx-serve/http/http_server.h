// Listens, and serves connections by a fixed number of threads.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tools/onnx-serve/http/connection.h"
#include "tools/onnx-serve/http/tls.h"

namespace sardonyx::serve {

class HttpServer {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    uint16_t port = 8000;  // 0: one that is free
    int threads = 1;
    HttpLimits limits;
  };

  // Throws ServingError kUnavailable where the address can't be listened at. `tls` may be null.
  HttpServer(const Options& options, HttpHandler& handler, BodyBudget& bodies, TlsSettings* tls);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const { return port_; }
  // Takes no more connections and ends those that are idle; others end with their request. Waits
  // for them until the time has passed; false: some are left, and are cut off by the destructor.
  bool close(std::chrono::milliseconds patience);

 private:
  void accept();
  // false: nobody was waiting.
  bool refuse_one();
  void take(asio::ip::tcp::socket socket, IoThread& thread);
  size_t connections() const;
  void hand_over(asio::ip::tcp::socket socket, IoThread& thread);
  void stop_listening();
  void cut_off();

  const Options options_;
  HttpHandler& handler_;
  TlsSettings* const tls_;
  BodyBudget& bodies_;
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::unique_ptr<asio::ip::tcp::acceptor> acceptor_;
  std::unique_ptr<asio::steady_timer> retry_;
  // Given up for a moment to take a connection where no descriptor is left.
  int spare_descriptor_ = -1;
  std::chrono::steady_clock::time_point next_report_{};
  std::atomic<size_t> handed_over_ = 0;  // connections on their way to their thread
  size_t next_ = 0;
  uint16_t port_ = 0;
};

}  // namespace sardonyx::serve
