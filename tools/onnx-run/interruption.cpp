#include "tools/onnx-run/interruption.h"

#include <signal.h>
#include <unistd.h>

#include <thread>

#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace {

std::stop_source& source() {
  static std::stop_source instance;
  return instance;
}

}  // namespace

std::stop_token stop_on_interrupt() {
  // A thread waits for the signals, for a handler may call next to nothing.
  static sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::stop_source& stop = source();
  std::thread([&stop] {
    int signal = 0;
    sigwait(&signals, &signal);
    stop.request_stop();
    sigwait(&signals, &signal);
    _exit(kInterrupted);
  }).detach();
  return stop.get_token();
}

bool was_interrupted() {
  return source().stop_requested();
}

}  // namespace sardonyx::tool
