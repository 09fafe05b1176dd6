// The number of threads that this process may run at a time.
#pragma once

#include <filesystem>
#include <string>

namespace sardonyx {

// The files in which the system tells about this process; tests give others.
struct SystemFiles {
  std::filesystem::path cgroups = "/proc/self/cgroup";
  std::filesystem::path mounts = "/proc/self/mountinfo";
};

// CPUs that the quota of the cgroup (v1 or v2) and of all above it allows: the smallest; infinity
// without a quota.
double cgroup_cpu_quota(const SystemFiles& files = {});
// Tasks that may still be made before the pids limit of the cgroup or one above it; infinity
// without a limit.
double cgroup_free_tasks(const SystemFiles& files = {});

// SARDONYX_NUM_THREADS, else OMP_NUM_THREADS, else the CPUs that the affinity mask and the cgroup's
// quota leave; less where the pids limit is near, of which at least half is left to others. 1.5
// CPUs are one thread: two would stop each other. From 1 to kMaxThreads.
int available_thread_count();
// An error message where SARDONYX_NUM_THREADS is set and is no number of threads, in which case it
// is passed over; else "".
std::string thread_setting_problem();
// `wanted` if positive, at most kMaxThreads; else that.
int thread_count(int wanted);
// available_thread_count() as it was when first asked for.
int default_thread_count();

}  // namespace sardonyx
