// Runs tasks in forked processes, so that a crash or a hang costs one task and nothing else.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace sardonyx::tool {

struct TaskOutcome {
  // What the task returned; valid if `failure` is empty.
  std::string answer;
  // How the process ended instead: "killed by SIGSEGV", "no result within 60 s".
  std::string failure;
  double seconds = 0;
};

struct ProcessPool {
  size_t jobs = 1;                         // processes at once
  std::chrono::milliseconds limit{60000};  // for one task

  // Runs `task` for 0 .. count-1 in worker processes (each serves many tasks, and is replaced when
  // it dies) and calls `done` in this process as they finish, in any order. To be called while this
  // process has one thread. Workers write what they print to stderr.
  void run(size_t count, const std::function<std::string(size_t index)>& task,
           const std::function<void(size_t index, const TaskOutcome&)>& done) const;
};

}  // namespace sardonyx::tool
