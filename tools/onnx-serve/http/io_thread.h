// One thread that serves connections, and what it watches over.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <thread>

namespace sardonyx::serve {

namespace asio = boost::asio;

// A connection in the eyes of its thread, which alone uses it.
class Watched {
 public:
  virtual ~Watched() = default;
  virtual int descriptor() = 0;
  // Ends all operations on the connection.
  virtual void close() = 0;

  // When the connection is closed unless something happens before.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  bool is_idle = true;     // no request of it is being read, run or answered
  bool has_asked = false;  // there was a request, or the beginning of one
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  // Set while a request runs: called once if the client disconnects meanwhile.
  std::function<void()> on_disconnect;
};

class IoThread {
 public:
  // `report` is told of exceptions that end the work of a handler; the thread goes on.
  explicit IoThread(std::function<void(const std::exception_ptr&)> report);
  ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  asio::io_context& context() { return context_; }
  bool is_current() const { return std::this_thread::get_id() == id_; }
  void stop();

  // From this thread alone.
  using Place = std::list<Watched*>::iterator;
  Place add(Watched& connection);
  void remove(Place place);
  // Looks every 10 ms whether clients of running requests are there, from now on until none runs.
  void begin_run(Watched& connection, std::function<void()> on_disconnect);
  void end_run(Watched& connection);
  // Those that have just come may still ask: their clients were told nothing of an end.
  void close_idle();
  void close_all();
  // As if all clients of running requests had disconnected.
  void end_runs();

  size_t connections() const { return connections_; }

 private:
  void run();
  void check_deadlines();
  void check_clients();

  const std::function<void(const std::exception_ptr&)> report_;
  // Connections take themselves off the list, the last ones when the context is destroyed.
  std::list<Watched*> watched_;
  std::atomic<size_t> connections_ = 0;
  size_t running_ = 0;
  bool checks_clients_ = false;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer deadlines_, clients_;
  std::thread::id id_;
  std::thread thread_;
};

}  // namespace sardonyx::serve
