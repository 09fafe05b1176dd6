#include "tools/onnx-run/score/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(Variables variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string text_of_shard(const std::string& option, int64_t count, const Variables& variables) {
  try {
    const Shard shard = shard_of(option, count, environment_of(variables));
    return std::to_string(shard.index) + "/" + std::to_string(shard.count);
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(ShardTest, WhereItComesFrom) {
  const Variables array = {{"SLURM_ARRAY_TASK_ID", "7"},
                           {"SLURM_ARRAY_TASK_MIN", "1"},
                           {"SLURM_ARRAY_TASK_MAX", "9"},
                           {"SLURM_ARRAY_TASK_STEP", "2"},
                           {"SLURM_ARRAY_TASK_COUNT", "5"},
                           {"SLURM_PROCID", "0"},
                           {"SLURM_NTASKS", "4"}};
  Variables steps = array;
  steps["SLURM_STEP_NUM_TASKS"] = "4";
  steps["SLURM_PROCID"] = "2";
  EXPECT_EQ(text_of_shard("", 0, {}), "0/1");
  EXPECT_EQ(text_of_shard("2/5", 0, array), "2/5");
  EXPECT_EQ(text_of_shard("", 0, array), "3/5");
  EXPECT_EQ(text_of_shard("", 0, steps), "14/20");
  EXPECT_EQ(text_of_shard("", 10, array), "7/10");
  EXPECT_EQ(text_of_shard("", 0, {{"SLURM_ARRAY_TASK_ID", "2"}, {"SLURM_ARRAY_TASK_COUNT", "3"}}),
            "2/3");
  EXPECT_EQ(text_of_shard("", 0, {{"JOB_COMPLETION_INDEX", "4"}, {"JOB_COMPLETIONS", "6"}}), "4/6");
  EXPECT_EQ(text_of_shard("", 8, {{"JOB_COMPLETION_INDEX", "4"}}), "4/8");
  EXPECT_EQ(text_of_shard("", 0, {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
            "1/2");
  EXPECT_EQ(text_of_shard("", 0, {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}), "3/4");
  EXPECT_EQ(text_of_shard("", 0, {{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}}), "1/2");
  // A batch script of several tasks that does not use srun is one process.
  EXPECT_EQ(text_of_shard("", 0, {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), "0/1");
}

TEST(ShardTest, WhatMakesNoSense) {
  using testing::HasSubstr;
  EXPECT_THAT(text_of_shard("5", 0, {}), HasSubstr("expected K/N"));
  EXPECT_THAT(text_of_shard("a/2", 0, {}), HasSubstr("'a'"));
  EXPECT_THAT(text_of_shard("-1/2", 0, {}), HasSubstr("'-1'"));
  EXPECT_THAT(text_of_shard("2/2", 0, {}), HasSubstr("does not exist"));
  EXPECT_THAT(text_of_shard("0/0", 0, {}), HasSubstr("does not exist"));
  EXPECT_THAT(text_of_shard("0/2", 2, {}), HasSubstr("exclude"));
  EXPECT_THAT(text_of_shard("", 4, {}), HasSubstr("--shard K/N"));
  EXPECT_THAT(text_of_shard("", 0, {{"JOB_COMPLETION_INDEX", "1"}}), HasSubstr("JOB_COMPLETIONS"));
  EXPECT_THAT(text_of_shard("", 0, {{"OMPI_COMM_WORLD_RANK", "1"}}),
              HasSubstr("OMPI_COMM_WORLD_SIZE"));
  EXPECT_THAT(text_of_shard("", 0,
                            {{"SLURM_ARRAY_TASK_ID", "7"},
                             {"SLURM_ARRAY_TASK_MIN", "3"},
                             {"SLURM_ARRAY_TASK_MAX", "7"},
                             {"SLURM_ARRAY_TASK_COUNT", "2"}}),
              HasSubstr("has gaps"));
}

TEST(ShardTest, SharesPartitionTheWhole) {
  for (const int64_t total : {0, 1, 5, 16, 17, 1000}) {
    for (const int64_t count : {1, 2, 3, 7, 20}) {
      int64_t next = 0;
      for (int64_t index = 0; index < count; ++index) {
        const auto [begin, end] = share_of(total, {index, count, ""});
        EXPECT_EQ(begin, next);
        EXPECT_LE(end - begin, total / count + 1);
        next = end;
      }
      EXPECT_EQ(next, total);
    }
  }
}

}  // namespace
}  // namespace sardonyx::tool
