// How many threads a run uses.
#pragma once

namespace sardonyx {

// `wanted` if positive, else SARDONYX_NUM_THREADS, else OMP_NUM_THREADS, else the CPUs that the
// affinity mask and the cgroup's quota (v1 and v2, rounded up) leave; at least 1.
int thread_count(int wanted);

}  // namespace sardonyx
