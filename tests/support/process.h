// What tests of threads ask of the process that they run in.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iterator>

namespace sardonyx {

// Threads of this process.
inline size_t tasks_of_process() {
  using Tasks = std::filesystem::directory_iterator;
  return static_cast<size_t>(std::distance(Tasks("/proc/self/task"), Tasks()));
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
