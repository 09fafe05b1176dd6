#include "tools/onnx-run/interruption.h"

#include <signal.h>
#include <unistd.h>

#include <thread>

#include "onnx_io/unfinished_files.h"
#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace {

std::stop_source& source() {
  static std::stop_source instance;
  return instance;
}

// Ends the process by the signal, which SA_RESETHAND gave back its meaning.
void end_by(int signal) {
  remove_unfinished_files();
  raise(signal);
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
    remove_unfinished_files();
    _exit(kInterrupted);
  }).detach();
  return stop.get_token();
}

bool was_interrupted() {
  return source().stop_requested();
}

void remove_unfinished_files_on_signals() {
  struct sigaction action = {};
  action.sa_handler = end_by;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) sigaction(signal, &action, nullptr);
  }
}

void report_full_files() {
  signal(SIGXFSZ, SIG_IGN);
}

}  // namespace sardonyx::tool
