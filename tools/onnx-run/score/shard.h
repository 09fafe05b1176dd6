// Which share of the work this process takes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace sardonyx::tool {

struct Shard {
  int64_t index = 0, count = 1;
  std::string origin;  // where the numbers come from, for messages; "" for all of the work
};

// The value of an environment variable; none where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

// `option` is "K/N" (K from 0) or empty; then the environment counts: tasks of a Slurm array
// (SLURM_ARRAY_TASK_ID, _MIN, _MAX, _STEP, _COUNT) or completions of a Kubernetes Indexed Job
// (JOB_COMPLETION_INDEX, and JOB_COMPLETIONS or `count`), each split further among the ranks of
// mpirun (OMPI_COMM_WORLD_RANK, _SIZE; PMI_RANK, PMI_SIZE) or srun (SLURM_PROCID of
// SLURM_STEP_NUM_TASKS). `count`, if positive, is the number of tasks or completions. Throws
// UsageError naming the variable where a number is missing, no number, or out of range.
Shard shard_of(const std::string& option, int64_t count, const Environment& environment);

// Part of `total` things that a shard takes: [first, second). Shares differ by one at most, and
// partition the things.
std::pair<int64_t, int64_t> share_of(int64_t total, const Shard& shard);

}  // namespace sardonyx::tool
