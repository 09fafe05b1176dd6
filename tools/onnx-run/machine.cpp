#include "tools/onnx-run/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace sardonyx::tool {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t begin = line.find(": ");
    return begin == std::string::npos ? "" : line.substr(begin + 2);
  }
  return "";
}

std::vector<std::string> cpu_features() {
  static constexpr const char* kOfInterest[] = {"sse4_2",      "avx2",        "fma",
                                                "avx512f",     "avx512_vnni", "avx512_bf16",
                                                "avx512_fp16", "amx_bf16",    "amx_int8"};
  std::ifstream file("/proc/cpuinfo");
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    for (const char* name : kOfInterest) {
      if ((line + " ").find(" " + std::string(name) + " ") != std::string::npos)
        found.emplace_back(name);
    }
    break;
  }
  return found;
}

size_t usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<size_t>(std::max(1, CPU_COUNT(&set)));
}

size_t total_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : 0;
}

}  // namespace sardonyx::tool
