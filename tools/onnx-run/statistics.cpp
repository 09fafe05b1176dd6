#include "tools/onnx-run/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

namespace sardonyx::tool {
namespace {

std::string with_unit(double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %s", value < 10 ? 3 : value < 100 ? 2 : 1, value, unit);
  return text;
}

}  // namespace

Statistics statistics_of(std::vector<double> seconds) {
  Statistics all;
  all.count = seconds.size();
  if (seconds.empty()) return all;
  std::ranges::sort(seconds);
  const auto rank = [&](double part) {
    const auto place = static_cast<size_t>(std::ceil(part * static_cast<double>(seconds.size())));
    return seconds[std::max<size_t>(place, 1) - 1];
  };
  all.min = seconds.front();
  all.max = seconds.back();
  all.mean =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  all.p50 = rank(0.5);
  all.p90 = rank(0.9);
  all.p95 = rank(0.95);
  all.p99 = rank(0.99);
  return all;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return with_unit(seconds * 1e6, "us");
  if (seconds < 1) return with_unit(seconds * 1e3, "ms");
  return with_unit(seconds, "s");
}

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return std::to_string(static_cast<int64_t>(bytes)) + " B";
  if (bytes < 1e6) return with_unit(bytes / 1e3, "kB");
  if (bytes < 1e9) return with_unit(bytes / 1e6, "MB");
  return with_unit(bytes / 1e9, "GB");
}

std::string text_of(const Statistics& statistics) {
  return "min " + time_text(statistics.min) + ", mean " + time_text(statistics.mean) + ", p50 " +
         time_text(statistics.p50) + ", p90 " + time_text(statistics.p90) + ", p95 " +
         time_text(statistics.p95) + ", p99 " + time_text(statistics.p99) + ", max " +
         time_text(statistics.max) + " (" + std::to_string(statistics.count) + " runs)";
}

nlohmann::ordered_json json_of(const Statistics& statistics) {
  return {{"count", statistics.count},  {"min_s", statistics.min}, {"mean_s", statistics.mean},
          {"median_s", statistics.p50}, {"p90_s", statistics.p90}, {"p95_s", statistics.p95},
          {"p99_s", statistics.p99},    {"max_s", statistics.max}};
}

}  // namespace sardonyx::tool
