// The script for Slurm, with stand-ins for onnx-run and scontrol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace sardonyx::tool {
namespace {

class ScoreArrayTest : public testing::Test {
 protected:
  ScoreArrayTest() { write_script("scontrol", "echo \"$@\" >> scontrol.log"); }
  void write_script(const std::string& name, const std::string& body) {
    folder_.write(name, "#!/bin/bash\n" + body + "\n");
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::all);
  }
  int run(const std::string& arguments, const std::string& environment = "") {
    const std::string command =
        "cd " + folder_.path().string() +
        " && PATH=$PWD:$PATH SLURM_ARRAY_JOB_ID=70 SLURM_ARRAY_TASK_ID=3 SLURM_CPUS_PER_TASK=2 " +
        environment + " bash " SARDONYX_SOURCE_DIR "/tools/deploy/score-array.slurm " + arguments +
        " 2>&1";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string read(const std::string& name) {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  TemporaryFolder folder_;
};

TEST_F(ScoreArrayTest, PassesArgumentsOn) {
  write_script("onnx-run", "printf '%s|' \"$@\" > arguments.log");
  EXPECT_EQ(run("m.onnx out 'a b.npy' c.npy -- --batch 4"), 0);
  EXPECT_EQ(read("arguments.log"),
            "score|m.onnx|--output|out|--input|a b.npy|--input|c.npy|--threads|2|--batch|4|");
  EXPECT_EQ(run("m.onnx out"), 2);
}

TEST_F(ScoreArrayTest, RequeuesWhatAnotherTryMayMend) {
  for (const int status : {0, 2, 3, 4, 5, 130}) {
    std::filesystem::remove(folder_ / "scontrol.log");
    write_script("onnx-run", "exit " + std::to_string(status));
    EXPECT_EQ(run("m.onnx out x.npy"), status);
    EXPECT_EQ(read("scontrol.log"), status > 3 ? "requeue 70_3\n" : "") << status;
  }
  std::filesystem::remove(folder_ / "scontrol.log");
  EXPECT_EQ(run("m.onnx out x.npy", "SLURM_RESTART_COUNT=5"), 130);
  EXPECT_EQ(read("scontrol.log"), "");
}

// The signal before the time limit comes to the script, and the program ends in its own way.
TEST_F(ScoreArrayTest, HandsOverTheSignalBeforeTheTimeLimit) {
  write_script(
      "onnx-run",
      "trap 'sleep 0.2; exit 130' TERM; sleep 0.3; kill -TERM $PPID; for i in {1..200}; do sleep "
      "0.05; done");
  EXPECT_EQ(run("m.onnx out x.npy"), 130);
  EXPECT_EQ(read("scontrol.log"), "requeue 70_3\n");
}

}  // namespace
}  // namespace sardonyx::tool
