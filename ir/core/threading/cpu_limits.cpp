#include "ir/core/threading/cpu_limits.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "ir/core/error.h"
#include "ir/core/threading/thread_pool.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// A number of threads in an environment variable ("4", or OpenMP's list form "4,2").
struct ThreadSetting {
  explicit ThreadSetting(const char* name) {
    if (const char* given = std::getenv(name)) text = given;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    is_too_large = read.ec == std::errc::result_out_of_range && !text.starts_with('-');
    is_whole = read.ec != std::errc::invalid_argument && read.ptr == text.data() + text.size();
  }
  int threads() const { return std::max(value, 0); }  // 0: none are named
  bool is_number() const {
    return is_whole && (is_too_large || (value >= 0 && !text.starts_with('-')));
  }

  std::string_view text;
  int value = 0;
  bool is_whole = false, is_too_large = false;
};

int affinity_count() {
  // Masks of machines with more CPUs than a cpu_set_t has bits for are asked for in larger ones.
  for (size_t cpus = CPU_SETSIZE; cpus <= size_t{1} << 20; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (!set) break;
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    CPU_ZERO_S(bytes, set);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return 1;
}

// Spaces in paths of mountinfo are written as \040.
std::string unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    const char* digits = text.data() + i + 1;
    const bool is_escape = text[i] == '\\' && i + 3 < text.size() &&
                           std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3;
    out += is_escape ? static_cast<char>(code) : text[i];
    if (is_escape) i += 3;
  }
  return out;
}

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string each; std::getline(words, each, ',');) {
    if (each == word) return true;
  }
  return false;
}

// A mounted hierarchy of cgroups: the folder `root` of it is seen at `point`.
struct Mount {
  bool is_v2;
  fs::path root, point;
};

// "36 35 98:0 /root /point options... - type source superoptions"
std::optional<Mount> mount_of(const std::string& line, const std::string& controller) {
  const size_t dash = line.find(" - ");
  if (dash == std::string::npos) return std::nullopt;
  std::istringstream head(line.substr(0, dash)), tail(line.substr(dash + 3));
  std::string skipped, root, point, type, source, options;
  head >> skipped >> skipped >> skipped >> root >> point;
  tail >> type >> source >> options;
  if (type != "cgroup2" && (type != "cgroup" || !has_word(options, controller)))
    return std::nullopt;
  return Mount{type == "cgroup2", unescaped(root), unescaped(point)};
}

// "0::/path" (v2) or "4:cpu,cpuacct:/path" (v1); the path of this process in the hierarchy.
std::optional<fs::path> path_of(const SystemFiles& files, const Mount& mount,
                                const std::string& controller) {
  std::ifstream lines(files.cgroups);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (mount.is_v2 ? controllers.empty() : has_word(controllers, controller))
      return fs::path(line.substr(second + 1));
  }
  return std::nullopt;
}

// The folder of this process. A path that is not under what is mounted is that of another
// namespace: then the mount's own folder is all that is seen.
fs::path folder_of(const Mount& mount, const fs::path& path) {
  const fs::path relative = path.lexically_relative(mount.root);
  const bool is_seen = !relative.empty() && *relative.begin() != "..";
  return is_seen ? (mount.point / relative).lexically_normal() : mount.point;
}

// visit(folder, is_v2) for the cgroup of this process and all above it.
void for_each_cgroup(const SystemFiles& files, const std::string& controller,
                     const std::function<void(const fs::path&, bool)>& visit) {
  std::ifstream lines(files.mounts);
  for (std::string line; std::getline(lines, line);) {
    const auto mount = mount_of(line, controller);
    if (!mount) continue;
    const auto path = path_of(files, *mount, controller);
    if (!path) continue;
    fs::path folder = folder_of(*mount, *path);
    constexpr int kMaxDepth = 256;
    for (int depth = 0; depth < kMaxDepth; ++depth, folder = folder.parent_path()) {
      visit(folder, mount->is_v2);
      if (folder == mount->point || folder == folder.parent_path()) break;
    }
  }
}

// The number in a file; infinity for "max", -1, or no such file.
double number_in(const fs::path& file) {
  double value = -1;
  std::ifstream(file) >> value;
  return value >= 0 ? value : kUnlimited;
}

double quota_of(const fs::path& folder, bool is_v2) {
  double quota = kUnlimited, period = 0;
  if (is_v2) {
    std::ifstream file(folder / "cpu.max");
    std::string word;
    if (file >> word >> period && word != "max") quota = std::strtod(word.c_str(), nullptr);
  } else {
    quota = number_in(folder / "cpu.cfs_quota_us");
    period = number_in(folder / "cpu.cfs_period_us");
  }
  return quota > 0 && period > 0 && std::isfinite(quota) ? quota / period : kUnlimited;
}

}  // namespace

double cgroup_cpu_quota(const SystemFiles& files) {
  double least = kUnlimited;
  for_each_cgroup(files, "cpu", [&](const fs::path& folder, bool is_v2) {
    least = std::min(least, quota_of(folder, is_v2));
  });
  return least;
}

double cgroup_free_tasks(const SystemFiles& files) {
  double least = kUnlimited;
  for_each_cgroup(files, "pids", [&](const fs::path& folder, bool) {
    const double most = number_in(folder / "pids.max");
    const double used = number_in(folder / "pids.current");
    if (std::isfinite(most) && std::isfinite(used))
      least = std::min(least, std::max(most - used, 0.0));
  });
  return least;
}

int available_thread_count() {
  for (const char* name : {"SARDONYX_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (const int threads = ThreadSetting(name).threads()) return std::min(threads, kMaxThreads);
  }
  const double cpus = std::min<double>(affinity_count(), cgroup_cpu_quota());
  const double count = std::min({cpus, 1 + cgroup_free_tasks() / 2, double{kMaxThreads}});
  return std::max(1, static_cast<int>(count));
}

std::string thread_setting_problem() {
  const ThreadSetting setting("SARDONYX_NUM_THREADS");
  if (setting.text.empty() || setting.is_number()) return "";
  return text("SARDONYX_NUM_THREADS: expected a number of threads, got '", setting.text, "'",
              setting.threads() > 0 ? "; what it begins with is taken" : "; it is passed over");
}

int thread_count(int wanted) {
  return wanted > 0 ? std::min(wanted, kMaxThreads) : available_thread_count();
}

int default_thread_count() {
  static const int count = available_thread_count();
  return count;
}

}  // namespace sardonyx
