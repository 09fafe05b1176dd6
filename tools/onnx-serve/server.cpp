#include "tools/onnx-serve/server.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <stop_token>
#include <thread>

#ifdef SARDONYX_GRPC
#include "tools/onnx-serve/grpc/grpc_server.h"
#endif

namespace sardonyx::serve {
namespace {

constexpr int kUsage = 2, kBadModel = 3, kRunFailed = 4;
using Clock = std::chrono::steady_clock;

// Signals that the server waits for, blocked in every thread.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP})
      sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
  }
  // The next one, or 0 after `time`.
  int wait(std::chrono::milliseconds time) const {
    const auto left = std::max(time, std::chrono::milliseconds(0));
    const timespec limit{left.count() / 1000, (left.count() % 1000) * 1'000'000};
    const int signal = sigtimedwait(&set_, nullptr, &limit);
    return signal < 0 ? 0 : signal;
  }
  // The next one that comes from outside; 0: end_watch() was called for this thread.
  int watch() const {
    for (;;) {
      siginfo_t info;
      const int signal = sigwaitinfo(&set_, &info);
      if (signal > 0) return info.si_pid == getpid() ? 0 : signal;
    }
  }
  static void end_watch(std::thread& thread) { pthread_kill(thread.native_handle(), SIGHUP); }

 private:
  sigset_t set_;
};

// Waits for signals in a thread of its own, while this one loads models.
class SignalWatch {
 public:
  SignalWatch(const Signals& signals, std::function<void(int)> told)
      : thread_([&signals, told = std::move(told)] {
          while (const int signal = signals.watch())
            told(signal);
        }) {}
  ~SignalWatch() {
    Signals::end_watch(thread_);
    thread_.join();
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  std::thread thread_;
};

// The other front, where the program is built with it.
class GrpcFront {
 public:
#ifdef SARDONYX_GRPC
  GrpcFront(const ServeOptions& options, const GrpcServer::Parts& parts) {
    if (!options.has_grpc) return;
    GrpcServer::GrpcOptions grpc;
    grpc.address = options.grpc_address.empty() ? options.http.address : options.grpc_address;
    grpc.port = options.grpc_port;
    grpc.body_bytes = options.http.limits.body_bytes;
    grpc.all_body_bytes = options.http.limits.all_body_bytes;
    grpc.tls = options.tls;
    server_ = std::make_unique<GrpcServer>(grpc, parts);
  }
  int port() const {
    return server_ ? server_->port() : 0;
  }
  void set_ready(bool ready) {
    if (server_) server_->set_ready(ready);
  }
  bool close(std::chrono::milliseconds patience) {
    return !server_ || server_->close(patience);
  }

 private:
  std::unique_ptr<GrpcServer> server_;
#else
  int port() const {
    return 0;
  }
  void set_ready(bool) {}
  bool close(std::chrono::milliseconds) {
    return true;
  }
#endif
};

class Server {
 public:
  explicit Server(const ServeOptions& options) : options_(options) { log_.configure(options.log); }

  int run() {
    check_port_file();
    for (const std::string& tokens : options_.tokens)
      access_.add_tokens(tokens);
    if (!options_.tls.certificate.empty()) tls_ = std::make_unique<TlsSettings>(options_.tls);
    serving::RepositoryOptions repository_options = options_.repository;
    repository_options.log = [this](LogLevel level, const std::string& line) {
      log_.write(level, line);
    };
    repository_options.session.log = [this](LogLevel level, std::string_view line) {
      log_.write(level, line);
    };
    repository_options.session.cancel = loads_.get_token();
    Tracer tracer(options_.trace, options_.trace_target, log_);
    serving::ModelRepository repository(repository_options);
    Api api(repository, access_, log_, tracer, state_, options_.api);
    // Before models are loaded: probes are answered, with "not ready".
    HttpServer http(options_.http, api, bodies_, tls_.get());
    MetricsApi metrics_api(api);
    std::unique_ptr<HttpServer> metrics;
    if (options_.metrics_port) {
      HttpServer::Options place = options_.http;
      place.port = *options_.metrics_port;
      place.threads = 1;
      metrics = std::make_unique<HttpServer>(place, metrics_api, bodies_, tls_.get());
    }
#ifdef SARDONYX_GRPC
    GrpcFront grpc(options_, {repository, access_, log_, state_, api, options_.api, bodies_});
#else
    GrpcFront grpc;
#endif
    log_.write(LogLevel::kInfo,
               text(tls_ ? "https" : "http", " at ", options_.http.address, ":", http.port()));
    std::map<std::string, std::string> errors;
    unless_ended([&] { errors = repository.start(); });
    // Nobody was told that it is ready, so that nobody has to take note.
    if (has_ended_) return close(http, grpc, repository);
    if (!errors.empty() && options_.exits_on_error) {
      for (const auto& [model, error] : errors)
        std::cerr << "onnx-serve: " << error << '\n';
      return kBadModel;
    }
    grpc.set_ready(repository.is_ready());
    if (!options_.port_file.empty())
      std::ofstream(options_.port_file, std::ios::trunc)
          << http.port() << ' ' << grpc.port() << ' ' << (metrics ? metrics->port() : 0) << '\n';
    log_.write(LogLevel::kInfo, "ready");
    serve(repository);
    drain(grpc);
    return close(http, grpc, repository);
  }

 private:
  // Before anything is loaded for it.
  void check_port_file() const {
    const std::string& file = options_.port_file;
    if (!file.empty() && !std::ofstream(file, std::ios::app))
      serving::refuse(Status::kInvalidArgument, "port_file '", file, "': ", std::strerror(errno));
  }

  // Calls `load`, which a signal for the end cuts short.
  template <typename Load>
  void unless_ended(const Load& load) {
    const SignalWatch watch(signals_, [this](int signal) {
      if (signal == SIGHUP) {
        polls_again_ = true;
      } else {
        has_ended_ = true;
        loads_.request_stop();
      }
    });
    load();
  }

  void serve(serving::ModelRepository& repository) {
    auto next_poll = Clock::now() + options_.poll_period;
    for (;;) {
      const int signal = signals_.wait(std::chrono::seconds(1));
      if (signal == SIGTERM || signal == SIGINT) return;
      if (tls_) reload_certificate();
      const bool polls = options_.repository.control == serving::ControlMode::kPoll;
      if (polls && (signal == SIGHUP || polls_again_ || Clock::now() >= next_poll)) {
        polls_again_ = false;
        unless_ended([&] { repository.poll(); });
        if (has_ended_) return;
        next_poll = Clock::now() + options_.poll_period;
      }
    }
  }

  void reload_certificate() {
    std::string error;
    if (tls_->reload_if_changed(error))
      log_.write(LogLevel::kInfo, "the certificate was read anew");
    if (!error.empty()) log_.write(LogLevel::kError, "the old certificate stays: " + error);
  }

  // Load balancers learn of the end late: requests are served on for a while.
  void drain(GrpcFront& grpc) {
    state_.is_draining = true;
    grpc.set_ready(false);
    log_.write(LogLevel::kInfo, "not ready from now on");
    const auto until = Clock::now() + options_.drain_delay;
    while (Clock::now() < until) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      const int signal = signals_.wait(left);
      if (signal == SIGINT || signal == SIGTERM) break;  // again: at once
    }
  }

  // Takes no more requests and finishes those that are there, as far as there is time.
  int close(HttpServer& http, GrpcFront& grpc, serving::ModelRepository& repository) {
    state_.is_draining = state_.is_closing = true;
    const auto last = Clock::now() + options_.drain_timeout;
    // Loads that clients asked for have as much time as their requests.
    repository.threads().call_at(last, [this] { loads_.request_stop(); });
    const auto left = [&] {
      return std::chrono::ceil<std::chrono::milliseconds>(
          std::max(last - Clock::now(), Clock::duration(0)));
    };
    // Both take no more connections from now on, and have the same time.
    http.close(std::chrono::milliseconds(0));
    const bool is_grpc_done = grpc.close(left());
    if (!http.close(left()) || !is_grpc_done)
      log_.write(LogLevel::kWarning, "requests were cut off: --drain-timeout has passed");
    log_.write(LogLevel::kInfo, "done");
    return 0;
  }

  const ServeOptions& options_;
  const Signals signals_;
  ServerLog log_;
  AccessControl access_;
  ServerState state_;
  BodyBudget bodies_{options_.http.limits.all_body_bytes};
  std::unique_ptr<TlsSettings> tls_;
  std::stop_source loads_;    // ends those that go on, and all later ones
  bool has_ended_ = false;    // a signal for the end came while models were loaded
  bool polls_again_ = false;  // so did one that asks to look at the repository
};

}  // namespace

int run_server(const ServeOptions& options) {
  try {
    return Server(options).run();
  } catch (const serving::ServingError& error) {
    std::cerr << "onnx-serve: " << error.message() << '\n';
    return error.status() == Status::kUnavailable ? kRunFailed : kUsage;
  } catch (const std::exception& error) {
    std::cerr << "onnx-serve: " << error.what() << '\n';
    return kRunFailed;
  }
}

}  // namespace sardonyx::serve
