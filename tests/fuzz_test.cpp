// Each fuzz target goes through its seeds and the same few changed copies; `./dev fuzz` runs them
// for longer and under sanitizers.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

namespace {

namespace fs = std::filesystem;

TEST(FuzzTargets, have_no_finding_at_the_seeds_or_near_them) {
  const fs::path folder = fs::path(SARDONYX_BIN_DIR).parent_path() / "fuzz";
  size_t count = 0;
  for (const auto& target : fs::directory_iterator(folder)) {
    if (!target.is_regular_file()) continue;
    const std::string name = target.path().filename();
    const fs::path seeds = fs::path(SARDONYX_SOURCE_DIR) / "tests/fuzz" / name;
    EXPECT_TRUE(fs::is_directory(seeds)) << "no seeds for " << name;
    const std::string command = "OMP_NUM_THREADS=1 " + target.path().string() + " -runs=200 " +
                                seeds.string() + " >/dev/null";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
    ++count;
  }
  EXPECT_GE(count, 8u);
}

}  // namespace
