#include "tools/onnx-run/process_pool.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "ir/core/error.h"

namespace sardonyx::tool {
namespace {

using Clock = std::chrono::steady_clock;

// False at the end of the file.
bool read_all(int descriptor, void* out, size_t bytes) {
  auto* to = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t got = read(descriptor, to, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int descriptor, const void* data, size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = write(descriptor, from, bytes);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    from += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return true;
}

// Reads task numbers, writes answers: length and bytes. Never returns.
[[noreturn]] void serve(int tasks, int answers, const std::function<std::string(size_t)>& task) {
  uint64_t index = 0;
  while (read_all(tasks, &index, sizeof index)) {
    const std::string answer = task(index);
    const uint64_t length = answer.size();
    if (!write_all(answers, &length, sizeof length)) break;
    if (!write_all(answers, answer.data(), answer.size())) break;
  }
  fflush(nullptr);
  _exit(0);
}

struct WorkerProcess {
  pid_t pid = -1;
  int tasks = -1;
  int answers = -1;
  std::optional<size_t> task;  // the one it works on
  Clock::time_point begun;
};

// `others`: their pipes are closed in the new process, or they would not see the end of theirs.
WorkerProcess start_worker(const std::function<std::string(size_t)>& task,
                           const std::vector<WorkerProcess>& others) {
  int tasks[2], answers[2];
  if (pipe(tasks) != 0) fail(ErrorCode::kResourceExhausted, "pipe: ", strerror(errno));
  if (pipe(answers) != 0) fail(ErrorCode::kResourceExhausted, "pipe: ", strerror(errno));
  fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) fail(ErrorCode::kResourceExhausted, "fork: ", strerror(errno));
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    for (const WorkerProcess& other : others) {
      if (other.pid < 0) continue;
      close(other.tasks);
      close(other.answers);
    }
    close(tasks[1]);
    close(answers[0]);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    serve(tasks[0], answers[1], task);
  }
  close(tasks[0]);
  close(answers[1]);
  return {.pid = pid, .tasks = tasks[1], .answers = answers[0], .task = {}, .begun = {}};
}

// Ends the worker and says how it ended.
std::string stop_worker(WorkerProcess& worker, bool kill_it) {
  if (kill_it) kill(worker.pid, SIGKILL);
  close(worker.tasks);
  close(worker.answers);
  int status = 0;
  while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  worker.pid = -1;
  if (WIFSIGNALED(status)) return text("killed by SIG", sigabbrev_np(WTERMSIG(status)));
  return text("ended with status ", WEXITSTATUS(status), " and no result");
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class ProcessPoolRun {
 public:
  ProcessPoolRun(const ProcessPool& settings, size_t count,
                 const std::function<std::string(size_t)>& task,
                 const std::function<void(size_t, const TaskOutcome&)>& done)
      : settings_(settings), count_(count), task_(task), done_(done) {
    workers_.resize(std::max<size_t>(1, std::min(settings.jobs, count)));
  }
  ~ProcessPoolRun() {
    for (WorkerProcess& worker : workers_) {
      if (worker.pid > 0) stop_worker(worker, worker.task.has_value());
    }
  }

  void run() {
    while (finished_ < count_) {
      for (WorkerProcess& worker : workers_) {
        if (!worker.task && next_ < count_) give(worker);
      }
      wait();
    }
  }

 private:
  void give(WorkerProcess& worker) {
    const uint64_t index = next_++;
    if (worker.pid < 0) worker = start_worker(task_, workers_);
    worker.task = index;
    worker.begun = Clock::now();
    // A worker that died while idle shows as a closed answer pipe.
    write_all(worker.tasks, &index, sizeof index);
  }

  void finish(WorkerProcess& worker, TaskOutcome outcome) {
    outcome.seconds = seconds_since(worker.begun);
    const size_t index = *worker.task;
    worker.task.reset();
    ++finished_;
    done_(index, outcome);
  }

  void receive(WorkerProcess& worker) {
    uint64_t length = 0;
    TaskOutcome outcome;
    bool complete = read_all(worker.answers, &length, sizeof length);
    if (complete) {
      outcome.answer.resize(length);
      complete = read_all(worker.answers, outcome.answer.data(), length);
    }
    if (!complete) outcome.failure = stop_worker(worker, /*kill_it=*/false);
    finish(worker, std::move(outcome));
  }

  void give_up(WorkerProcess& worker) {
    stop_worker(worker, /*kill_it=*/true);
    TaskOutcome outcome;
    outcome.failure =
        text("no result within ", std::chrono::duration<double>(settings_.limit).count(), " s");
    finish(worker, std::move(outcome));
  }

  // Until a worker answers, dies or runs out of time.
  void wait() {
    std::vector<pollfd> descriptors;
    std::vector<WorkerProcess*> busy;
    Clock::time_point first = Clock::time_point::max();
    for (WorkerProcess& worker : workers_) {
      if (!worker.task) continue;
      descriptors.push_back({worker.answers, POLLIN, 0});
      busy.push_back(&worker);
      first = std::min(first, worker.begun + settings_.limit);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
    const int timeout = static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
    if (poll(descriptors.data(), descriptors.size(), timeout) < 0 && errno != EINTR)
      fail(ErrorCode::kInternal, "poll: ", strerror(errno));
    for (size_t i = 0; i < busy.size(); ++i) {
      if (descriptors[i].revents != 0)
        receive(*busy[i]);
      else if (Clock::now() >= busy[i]->begun + settings_.limit)
        give_up(*busy[i]);
    }
  }

  const ProcessPool& settings_;
  const size_t count_;
  const std::function<std::string(size_t)>& task_;
  const std::function<void(size_t, const TaskOutcome&)>& done_;
  std::vector<WorkerProcess> workers_;
  size_t next_ = 0;
  size_t finished_ = 0;
};

}  // namespace

void ProcessPool::run(size_t count, const std::function<std::string(size_t)>& task,
                      const std::function<void(size_t, const TaskOutcome&)>& done) const {
  // Writing to a worker that has just died is no reason to die as well.
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  ProcessPoolRun(*this, count, task, done).run();
  sigaction(SIGPIPE, &before, nullptr);
}

}  // namespace sardonyx::tool
