#include "eager/distributed/stall_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/core/error.h"

namespace sardonyx::eager::distributed {
namespace {

// Heard of once a second, unless it or its host stands still.
constexpr double kSilent = 5;

std::string whole_seconds(double seconds) {
  return text(std::llround(seconds), " s");
}

// "rank 3 on node-a, rank 4 on node-b and 12 more".
std::string names_of(const std::vector<size_t>& which, const std::vector<RankStatus>& ranks) {
  constexpr size_t kMostNames = 8;
  std::string names;
  for (size_t i = 0; i < std::min(which.size(), kMostNames); ++i) {
    names += text(i == 0 ? "" : ", ", "rank ", which[i], " on ", ranks[which[i]].host);
  }
  if (which.size() > kMostNames) names += text(" and ", which.size() - kMostNames, " more");
  return names;
}

// What a rank does instead of the call that others wait in.
std::string what_it_does(const RankStatus& rank) {
  if (rank.has_ended) return "has ended";
  if (rank.silence > kSilent)
    return "has not been heard of for " + whole_seconds(rank.silence) + " (stopped, or overloaded)";
  const std::string made = text("has made ", rank.finished, " calls and ");
  if (rank.current.empty()) return made + "been in none for " + whole_seconds(rank.seconds);
  return made + "been in the next one (" + rank.current + ") for " + whole_seconds(rank.seconds);
}

}  // namespace

std::string stall_report(const std::vector<RankStatus>& ranks, double stall) {
  uint64_t furthest = 0;
  double longest = 0;
  for (const RankStatus& rank : ranks) {
    if (rank.has_ended || rank.current.empty() || rank.seconds < stall) continue;
    furthest = std::max(furthest, rank.finished);
    longest = std::max(longest, rank.seconds);
  }
  if (longest == 0) return "";
  std::map<std::string, std::vector<size_t>> waiting, late;  // by call; by what they do
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankStatus& rank = ranks[i];
    if (!rank.has_ended && rank.silence <= kSilent && !rank.current.empty() &&
        rank.finished >= furthest)
      waiting[rank.current].push_back(i);
    else
      late[what_it_does(rank)].push_back(i);
  }
  std::string report = "stall: ";
  for (const auto& [call, which] : waiting)
    report += text(names_of(which, ranks), " in call ", furthest + 1, " (", call, "); ");
  report += text("it has not ended for ", whole_seconds(longest));
  for (const auto& [what, which] : late)
    report += text("; ", names_of(which, ranks), " ", what);
  if (late.empty() && waiting.size() > 1)
    report += "; ranks make different calls, so that none can end";
  else if (late.empty())
    report += "; all ranks are in it: the network is slow or broken";
  return report;
}

}  // namespace sardonyx::eager::distributed
