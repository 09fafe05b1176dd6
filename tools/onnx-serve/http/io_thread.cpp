#include "tools/onnx-serve/http/io_thread.h"

#include <poll.h>

#include <latch>
#include <vector>

namespace sardonyx::serve {
namespace {

constexpr std::chrono::milliseconds kDeadlinePeriod{250}, kClientPeriod{10};
constexpr std::chrono::milliseconds kFirstRequest{
    1000};  // a new connection's time for it, at the end

}  // namespace

IoThread::IoThread(std::function<void(const std::exception_ptr&)> report)
    : report_(std::move(report)),
      work_(context_.get_executor()),
      deadlines_(context_),
      clients_(context_) {
  std::latch has_id(1);
  thread_ = std::thread([this, &has_id] {
    id_ = std::this_thread::get_id();
    has_id.count_down();
    check_deadlines();
    run();
  });
  has_id.wait();
}

void IoThread::run() {
  for (;;) {
    try {
      context_.run();
      return;
    } catch (...) {
      report_(std::current_exception());
    }
  }
}

IoThread::~IoThread() {
  stop();
}

void IoThread::stop() {
  work_.reset();
  context_.stop();
  if (thread_.joinable()) thread_.join();
}

IoThread::Place IoThread::add(Watched& connection) {
  ++connections_;
  return watched_.insert(watched_.end(), &connection);
}

void IoThread::remove(Place place) {
  watched_.erase(place);
  --connections_;
}

void IoThread::begin_run(Watched& connection, std::function<void()> on_disconnect) {
  connection.on_disconnect = std::move(on_disconnect);
  ++running_;
  if (!checks_clients_) {
    checks_clients_ = true;
    check_clients();
  }
}

void IoThread::end_run(Watched& connection) {
  connection.on_disconnect = nullptr;
  --running_;
}

void IoThread::close_idle() {
  const auto before = std::chrono::steady_clock::now() - kFirstRequest;
  for (Watched* connection : std::vector<Watched*>(watched_.begin(), watched_.end())) {
    const bool may_ask = !connection->has_asked && connection->begin > before;
    if (connection->is_idle && !may_ask) connection->close();
  }
}

void IoThread::close_all() {
  for (Watched* connection : std::vector<Watched*>(watched_.begin(), watched_.end()))
    connection->close();
}

void IoThread::end_runs() {
  for (Watched* connection : std::vector<Watched*>(watched_.begin(), watched_.end())) {
    if (const auto tell = std::exchange(connection->on_disconnect, nullptr)) tell();
  }
}

void IoThread::check_deadlines() {
  const auto now = std::chrono::steady_clock::now();
  for (Watched* connection : std::vector<Watched*>(watched_.begin(), watched_.end())) {
    if (connection->deadline <= now) connection->close();
  }
  deadlines_.expires_after(kDeadlinePeriod);
  deadlines_.async_wait([this](const boost::system::error_code& error) {
    if (!error) check_deadlines();
  });
}

void IoThread::check_clients() {
  std::vector<pollfd> descriptors;
  std::vector<Watched*> running;
  for (Watched* connection : watched_) {
    if (!connection->on_disconnect) continue;
    descriptors.push_back({connection->descriptor(), POLLRDHUP, 0});
    running.push_back(connection);
  }
  if (!descriptors.empty() && poll(descriptors.data(), descriptors.size(), 0) > 0) {
    for (size_t i = 0; i < running.size(); ++i) {
      if (!(descriptors[i].revents & (POLLRDHUP | POLLHUP | POLLERR))) continue;
      const auto tell = std::exchange(running[i]->on_disconnect, nullptr);
      tell();
    }
  }
  checks_clients_ = running_ > 0;
  if (!checks_clients_) return;
  clients_.expires_after(kClientPeriod);
  clients_.async_wait([this](const boost::system::error_code& error) {
    if (!error) check_clients();
  });
}

}  // namespace sardonyx::serve
