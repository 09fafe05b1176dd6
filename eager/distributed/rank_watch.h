// Watches over the ranks beside MPI, which tells neither who waits for whom nor who is gone: each
// rank tells rank 0 once a second, over a connection of its own, how far it has come.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "eager/distributed/communication_thread.h"

namespace sardonyx::eager::distributed {

struct RankWatchOptions {
  int rank = 0, size = 1;
  std::vector<std::string> hosts = {};  // of each rank
  std::function<CallProgress()> progress = {};
  // A call that takes longer is reported by rank 0, and again each time it has taken as long once
  // more.
  std::chrono::milliseconds stall = std::chrono::seconds(60);
  std::chrono::milliseconds tick = std::chrono::seconds(1);
  // Called on rank 0 with a line that says who waits for whom.
  std::function<void(const std::string& line)> stalled = {};
  // Called on every rank that is left where the connection of one closes before its end(), or
  // its host answers no more.
  std::function<void(const std::string& line)> died = {};
};

class RankWatch {
 public:
  explicit RankWatch(RankWatchOptions options);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  // On rank 0, before the others' start(): gives what they are to be told. Throws kInternal where
  // no port can be had.
  std::string invite();
  // Gives "", or why the rank goes on without being watched. Rank 0 expects all others.
  std::string start(const std::string& invitation);
  // The rank ends in order.
  void end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sardonyx::eager::distributed
