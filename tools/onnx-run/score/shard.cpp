#include "tools/onnx-run/score/shard.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace {

constexpr int64_t kMostShards = 1 << 24;

int64_t shard_number(const std::string& value, const std::string& what) {
  int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || stop != end || number < 0 || number > kMostShards)
    fail_usage(what, ": expected a number from 0 to ", kMostShards, ", got '", value, "'");
  return number;
}

Shard checked_shard(int64_t index, int64_t count, std::string origin) {
  if (count < 1 || index >= count) {
    fail_usage(origin, ": shard ", index, " of ", count,
               " does not exist; shards are counted from 0");
  }
  return {index, count, std::move(origin)};
}

Shard parse_shard(const std::string& option) {
  const size_t slash = option.find('/');
  if (slash == std::string::npos) fail_usage("--shard: expected K/N, got '", option, "'");
  const std::string what = "--shard " + option;
  return checked_shard(shard_number(option.substr(0, slash), what),
                       shard_number(option.substr(slash + 1), what), what);
}

class ShardVariables {
 public:
  explicit ShardVariables(const Environment& environment) : environment_(environment) {}
  std::optional<int64_t> find(const std::string& name) const {
    const std::optional<std::string> value = environment_(name);
    if (!value || value->empty()) return std::nullopt;
    return shard_number(*value, name);
  }
  // A rank and how many there are, where the first is set.
  std::optional<Shard> pair(const std::string& index, const std::string& count) const {
    const std::optional<int64_t> found = find(index);
    if (!found) return std::nullopt;
    const std::optional<int64_t> of = find(count);
    if (!of) fail_usage(index, " is set, but not ", count, "; say --shard K/N");
    return checked_shard(*found, *of, index);
  }

 private:
  const Environment& environment_;
};

Shard array_task(const ShardVariables& variables, int64_t id, int64_t count) {
  const std::string origin = "SLURM_ARRAY_TASK_ID";
  if (count > 0) return checked_shard(id, count, origin);
  const std::optional<int64_t> tasks = variables.find("SLURM_ARRAY_TASK_COUNT");
  if (!tasks) fail_usage(origin, " is set, but not SLURM_ARRAY_TASK_COUNT; say --shards N");
  const int64_t first = variables.find("SLURM_ARRAY_TASK_MIN").value_or(0);
  const int64_t step = std::max<int64_t>(variables.find("SLURM_ARRAY_TASK_STEP").value_or(1), 1);
  const int64_t last = variables.find("SLURM_ARRAY_TASK_MAX").value_or(first + (*tasks - 1) * step);
  // Of an array such as 3,7 nobody can tell which shares the others take.
  if (id < first || (id - first) % step != 0 || last - first != (*tasks - 1) * step) {
    fail_usage(origin, ": task ", id, " of an array of ", *tasks, " tasks from ", first, " to ",
               last, ", which has gaps; say --shards N, with tasks from 0 to N-1");
  }
  return checked_shard((id - first) / step, *tasks, origin);
}

Shard outer_shard(const ShardVariables& variables, int64_t count) {
  if (const auto id = variables.find("SLURM_ARRAY_TASK_ID"))
    return array_task(variables, *id, count);
  if (const auto index = variables.find("JOB_COMPLETION_INDEX")) {
    const std::optional<int64_t> completions =
        count > 0 ? count : variables.find("JOB_COMPLETIONS");
    if (!completions) {
      fail_usage(
          "JOB_COMPLETION_INDEX is set, but not how many there are: set JOB_COMPLETIONS to "
          "the Job's completions, or say --shards N");
    }
    return checked_shard(*index, *completions, "JOB_COMPLETION_INDEX");
  }
  return {};
}

Shard inner_shard(const ShardVariables& variables) {
  if (auto rank = variables.pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")) return *rank;
  if (auto rank = variables.pair("PMI_RANK", "PMI_SIZE")) return *rank;
  // Without srun SLURM_PROCID is 0 whatever there is; only its steps have a number of tasks.
  if (variables.find("SLURM_STEP_NUM_TASKS")) {
    if (auto rank = variables.pair("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")) return *rank;
  }
  return {};
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

Shard shard_of(const std::string& option, int64_t count, const Environment& environment) {
  if (!option.empty()) {
    if (count > 0) fail_usage("--shard and --shards exclude each other");
    return parse_shard(option);
  }
  const ShardVariables variables(environment);
  const Shard outer = outer_shard(variables, count), inner = inner_shard(variables);
  if (outer.origin.empty()) {
    if (count > 0) {
      fail_usage("--shards ", count,
                 " needs a Slurm array task or an Indexed Job's completion to tell which of them "
                 "this is; say --shard K/N");
    }
    return inner;
  }
  if (inner.count == 1) return outer;
  return {outer.index * inner.count + inner.index, outer.count * inner.count,
          outer.origin + " and " + inner.origin};
}

std::pair<int64_t, int64_t> share_of(int64_t total, const Shard& shard) {
  const int64_t each = total / shard.count, more = total % shard.count;
  const auto begin = [&](int64_t index) { return index * each + std::min(index, more); };
  return {begin(shard.index), begin(shard.index + 1)};
}

}  // namespace sardonyx::tool
