// What is told of repeated measurements.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace sardonyx::tool {

struct Statistics {
  size_t count = 0;
  double min = 0, mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};

// Percentiles are values that were measured (nearest rank).
Statistics statistics_of(std::vector<double> seconds);

// "1.234 ms", "12.3 us", "2.1 s".
std::string time_text(double seconds);
// "12.3 MB" of 10^6 bytes.
std::string bytes_text(double bytes);
std::string text_of(const Statistics& statistics);
nlohmann::ordered_json json_of(const Statistics& statistics);

}  // namespace sardonyx::tool
