// What tests of threads ask of the process that they run in.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <thread>

namespace sardonyx {

// Threads of this process.
inline size_t tasks_of_process() {
  using Tasks = std::filesystem::directory_iterator;
  return static_cast<size_t>(std::distance(Tasks("/proc/self/task"), Tasks()));
}

// The same once threads that were joined have left the table of the kernel, which they do a little
// after the join: what fifty readings a millisecond apart agree on.
inline size_t settled_tasks_of_process() {
  size_t tasks = tasks_of_process();
  for (int same = 0, readings = 0; same < 50 && readings < 10'000; ++readings) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const size_t now = tasks_of_process();
    same = now == tasks ? same + 1 : 0;
    tasks = now;
  }
  return tasks;
}

// Does the number of threads of this process come to `expected` within ten seconds?
inline bool tasks_of_process_settle_at(size_t expected) {
  for (int readings = 0; readings < 10'000 && tasks_of_process() != expected; ++readings)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return tasks_of_process() == expected;
}

// Does `passes` say yes in a forked child, within two minutes?
inline bool ends_well_in_child(const std::function<bool()>& passes) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    _exit(passes() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

}  // namespace sardonyx
