#include "executor/threads.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace sardonyx {
namespace {

// A positive number in an environment variable ("4", or OpenMP's list form "4,2"); 0 where there is
// none.
int from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (!text) return 0;
  int value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return std::max(value, 0);
}

int affinity_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// CPUs that the cgroup's quota allows; a large number where there is no quota.
int quota_count() {
  double quota = -1, period = -1;
  std::string word;
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2 >> word >> period) {
    if (word != "max") quota = std::strtod(word.c_str(), nullptr);
  } else {
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota;
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0) return 1 << 20;
  return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

}  // namespace

int thread_count(int wanted) {
  if (wanted > 0) return wanted;
  for (const char* name : {"SARDONYX_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (const int threads = from_environment(name)) return threads;
  }
  return std::max(1, std::min(affinity_count(), quota_count()));
}

}  // namespace sardonyx
