#include "tools/onnx-run/profile.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "onnx_io/file_write.h"
#include "tools/onnx-run/statistics.h"

namespace sardonyx::tool {
namespace {

constexpr size_t kSlowestShown = 20;

struct ProfileSum {
  std::string label;
  double seconds = 0;
  size_t steps = 0;
};

template <typename Label>
std::vector<ProfileSum> summed(std::span<const NodeTiming> timings, const Label& label) {
  std::map<std::string, ProfileSum> sums;
  for (const NodeTiming& timing : timings) {
    ProfileSum& sum = sums[label(timing)];
    sum.label = label(timing);
    sum.seconds += timing.seconds;
    ++sum.steps;
  }
  std::vector<ProfileSum> sorted;
  for (auto& [name, sum] : sums)
    sorted.push_back(std::move(sum));
  std::ranges::sort(sorted, std::greater(), &ProfileSum::seconds);
  return sorted;
}

void print_line(std::ostream& out, const ProfileSum& sum, double total, int runs) {
  out << std::setw(6) << std::fixed << std::setprecision(1)
      << (total > 0 ? 100 * sum.seconds / total : 0) << " %" << std::setw(12)
      << time_text(sum.seconds / runs) << std::setw(7) << sum.steps / static_cast<size_t>(runs)
      << "  " << sum.label << '\n';
}

}  // namespace

void print_profile(std::ostream& out, std::span<const NodeTiming> timings, int runs) {
  double total = 0;
  for (const NodeTiming& timing : timings)
    total += timing.seconds;
  out << "  share        time  steps  op and implementation\n";
  for (const ProfileSum& sum : summed(timings, [](const NodeTiming& timing) {
         return timing.op + " (" + timing.implementation + ")";
       }))
    print_line(out, sum, total, runs);
  out << "\n  share        time  steps  node\n";
  const std::vector<ProfileSum> nodes = summed(timings, [](const NodeTiming& timing) {
    return timing.op + " '" + timing.name + "' " + timing.types +
           (timing.source.empty() ? "" : " at " + timing.source);
  });
  for (size_t i = 0; i < std::min(kSlowestShown, nodes.size()); ++i)
    print_line(out, nodes[i], total, runs);
}

void write_trace(const std::filesystem::path& file, std::span<const NodeTiming> timings) {
  auto events = nlohmann::ordered_json::array();
  double at = 0;  // steps run one after the other
  for (const NodeTiming& timing : timings) {
    events.push_back({{"name", timing.name.empty() ? timing.op : timing.name},
                      {"cat", timing.op},
                      {"ph", "X"},
                      {"ts", at * 1e6},
                      {"dur", timing.seconds * 1e6},
                      {"pid", 1},
                      {"tid", 1},
                      {"args",
                       {{"op", timing.op},
                        {"implementation", timing.implementation},
                        {"types", timing.types},
                        {"scope", timing.scope},
                        {"source", timing.source},
                        {"bytes", timing.bytes}}}});
    at += timing.seconds;
  }
  const nlohmann::ordered_json trace = {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
  write_atomically(file, trace.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

nlohmann::ordered_json json_of(std::span<const NodeTiming> timings) {
  auto list = nlohmann::ordered_json::array();
  for (const NodeTiming& timing : timings) {
    list.push_back({{"node", timing.name},
                    {"op", timing.op},
                    {"implementation", timing.implementation},
                    {"types", timing.types},
                    {"scope", timing.scope},
                    {"source", timing.source},
                    {"seconds", timing.seconds},
                    {"bytes", timing.bytes}});
  }
  return list;
}

}  // namespace sardonyx::tool
