#include "tools/onnx-serve/http/http_server.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <future>

namespace sardonyx::serve {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

int open_spare() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void refuse_connection(tcp::socket& socket, bool is_tls) {
  static constexpr std::string_view kBusy =
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
      "Content-Type: application/json\r\nContent-Length: 32\r\n\r\n"
      "{\"error\":\"too many connections\"}";
  error_code ignored;
  socket.non_blocking(true, ignored);
  if (!is_tls) socket.send(asio::buffer(kBusy), 0, ignored);
}

}  // namespace

HttpServer::HttpServer(const Options& options, HttpHandler& handler, BodyBudget& bodies,
                       TlsSettings* tls)
    : options_(options), handler_(handler), tls_(tls), bodies_(bodies) {
  for (int i = 0; i < options_.threads; ++i)
    threads_.push_back(std::make_unique<IoThread>(
        [&handler](const std::exception_ptr& error) { handler.report_defect(error); }));
  asio::io_context& context = threads_[0]->context();
  try {
    const tcp::endpoint place(asio::ip::make_address(options_.address), options_.port);
    acceptor_ = std::make_unique<tcp::acceptor>(context);
    acceptor_->open(place.protocol());
    acceptor_->set_option(tcp::acceptor::reuse_address(true));
    acceptor_->bind(place);
    acceptor_->listen(4096);
    port_ = acceptor_->local_endpoint().port();
  } catch (const boost::system::system_error& error) {
    serving::refuse(Status::kUnavailable, "can't listen at ", options_.address, ", port ",
                    options_.port, ": ", error.code().message());
  }
  spare_descriptor_ = open_spare();
  retry_ = std::make_unique<asio::steady_timer>(context);
  asio::post(context, [this] { accept(); });
}

HttpServer::~HttpServer() {
  if (!close(std::chrono::milliseconds(0))) {
    for (const auto& thread : threads_)
      asio::post(thread->context(), [&io = *thread] { io.end_runs(); });
    if (!close(std::chrono::seconds(1))) cut_off();
  }
  for (const auto& thread : threads_)
    thread->stop();
  if (spare_descriptor_ >= 0) ::close(spare_descriptor_);
}

size_t HttpServer::connections() const {
  size_t all = 0;
  for (const auto& thread : threads_)
    all += thread->connections();
  return all;
}

void HttpServer::accept() {
  IoThread& thread = *threads_[next_++ % threads_.size()];
  acceptor_->async_accept(thread.context(), [this, &thread](error_code error, tcp::socket socket) {
    if (!error) {
      if (spare_descriptor_ < 0) spare_descriptor_ = open_spare();
      hand_over(std::move(socket), thread);
    }
    if (error == asio::error::operation_aborted || !acceptor_->is_open()) return;
    // That is also said where nobody waits, and then at once, again and again.
    const bool is_refused = error == asio::error::no_descriptors && refuse_one();
    if (is_refused) {
      asio::post(acceptor_->get_executor(), [this] { accept(); });
    } else if (error) {
      // What is lacking may be given back.
      retry_->expires_after(std::chrono::milliseconds(100));
      retry_->async_wait([this](error_code stopped) {
        if (!stopped) accept();
      });
    } else {
      accept();
    }
  });
}

// To the thread that the connection is served by.
void HttpServer::hand_over(tcp::socket socket, IoThread& thread) {
  ++handed_over_;
  asio::post(thread.context(), [this, &thread, moved = std::move(socket)]() mutable {
    take(std::move(moved), thread);
    --handed_over_;
  });
}

// A connection that is left waiting would wait for ever.
bool HttpServer::refuse_one() {
  if (spare_descriptor_ < 0) return false;
  ::close(spare_descriptor_);
  error_code error;
  acceptor_->non_blocking(true, error);
  tcp::socket socket(acceptor_->get_executor());
  acceptor_->accept(socket, error);
  const bool is_one = !error;
  if (is_one) refuse_connection(socket, tls_ != nullptr);
  socket.close(error);
  spare_descriptor_ = open_spare();
  const auto now = std::chrono::steady_clock::now();
  if (is_one && now >= next_report_) {
    handler_.report("no file descriptors are left (ulimit -n): connections are refused");
    next_report_ = now + std::chrono::minutes(1);
  }
  return is_one;
}

void HttpServer::take(tcp::socket socket, IoThread& thread) {
  if (connections() >= options_.limits.connections) {
    refuse_connection(socket, tls_ != nullptr);
    return;
  }
  serve_connection(std::move(socket), {handler_, options_.limits, bodies_, thread},
                   tls_ ? tls_->current() : nullptr);
}

// Takes those that wait, whose clients would be reset, and closes the door.
void HttpServer::stop_listening() {
  if (!acceptor_->is_open()) return;
  error_code error;
  acceptor_->listen(0, error);
  acceptor_->non_blocking(true, error);
  for (;;) {
    IoThread& thread = *threads_[next_++ % threads_.size()];
    tcp::socket socket(thread.context());
    acceptor_->accept(socket, error);
    if (error == asio::error::connection_aborted) continue;
    if (error) break;
    hand_over(std::move(socket), thread);
  }
  acceptor_->close(error);
  retry_->cancel();
}

// Clients are not waited for, but what works for them is: it would answer to threads that are no
// more.
void HttpServer::cut_off() {
  while (connections() > 0) {
    for (const auto& thread : threads_)
      asio::post(thread->context(), [&io = *thread] {
        io.end_runs();
        io.close_all();
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool HttpServer::close(std::chrono::milliseconds patience) {
  std::promise<void> closed;
  asio::post(threads_[0]->context(), [&] {
    stop_listening();
    // Behind the handlers of connections that were taken before.
    asio::post(threads_[0]->context(), [&] { closed.set_value(); });
  });
  closed.get_future().wait();
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    // Connections that were idle once may be so again: a request was on its way.
    for (const auto& thread : threads_)
      asio::post(thread->context(), [&io = *thread] { io.close_idle(); });
    if (handed_over_ == 0 && connections() == 0) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace sardonyx::serve
