// Who waits for whom, from what the ranks tell of themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sardonyx::eager::distributed {

// What is known of one rank.
struct RankStatus {
  std::string host = {};
  uint64_t finished = 0;     // calls
  std::string current = {};  // the call that it is in; "": none
  double seconds = 0;        // in that call, or without one
  double silence = 0;        // since it was heard of
  bool has_ended = false;
};

// "" unless some rank has been in a call for `stall` seconds.
std::string stall_report(const std::vector<RankStatus>& ranks, double stall);

}  // namespace sardonyx::eager::distributed
