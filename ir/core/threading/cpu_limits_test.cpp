#include "ir/core/threading/cpu_limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "ir/core/threading/thread_pool.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

// A system in a folder: /proc files, and hierarchies of cgroups.
class CgroupLimits : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cgroups XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    files_ = {root_ / "cgroup", root_ / "mountinfo"};
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::app) << text;
  }
  void mount(const std::string& point, const std::string& seen, const std::string& type,
             const std::string& options) const {
    std::string escaped;
    for (const char c : (root_ / point).string())
      escaped += c == ' ' ? std::string("\\040") : std::string(1, c);
    write("mountinfo", "31 23 0:28 " + seen + " " + escaped + " rw shared:1 - " + type +
                           " cgroup " + options + "\n");
  }

  fs::path root_;
  SystemFiles files_;
};

TEST_F(CgroupLimits, none_where_the_system_tells_of_none) {
  EXPECT_TRUE(std::isinf(cgroup_cpu_quota(files_)));
  EXPECT_TRUE(std::isinf(cgroup_free_tasks(files_)));
}

TEST_F(CgroupLimits, of_version_2_are_those_of_the_process_own_group) {
  mount("v2", "/", "cgroup2", "rw");
  write("cgroup", "0::/system.slice/app.service\n");
  write("v2/system.slice/cpu.max", "max 100000\n");
  write("v2/system.slice/app.service/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(files_), 1.5);
}

TEST_F(CgroupLimits, of_a_group_above_hold_as_well) {
  mount("v2", "/", "cgroup2", "rw");
  write("cgroup", "0::/a/b/c\n");
  write("v2/a/cpu.max", "50000 100000\n");
  write("v2/a/b/c/cpu.max", "400000 100000\n");
  write("v2/a/b/pids.max", "20\n");
  write("v2/a/b/pids.current", "15\n");
  write("v2/a/b/c/pids.max", "max\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(files_), 0.5);
  EXPECT_DOUBLE_EQ(cgroup_free_tasks(files_), 5);
}

TEST_F(CgroupLimits, of_version_1_stand_in_the_hierarchy_of_their_controller) {
  mount("cpu,cpuacct", "/", "cgroup", "rw,cpu,cpuacct");
  mount("pids", "/", "cgroup", "rw,pids");
  write("cgroup", "4:cpu,cpuacct:/job\n2:pids:/other\n0::/\n");
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("pids/other/pids.max", "10\n");
  write("pids/other/pids.current", "12\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(files_), 2.5);
  EXPECT_DOUBLE_EQ(cgroup_free_tasks(files_), 0);
}

TEST_F(CgroupLimits, of_a_container_are_seen_where_its_group_is_mounted) {
  mount("fs", "/docker/4711", "cgroup", "rw,cpu");
  write("cgroup", "4:cpu:/docker/4711\n");
  write("fs/cpu.cfs_quota_us", "100000\n");
  write("fs/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(files_), 1);
}

TEST_F(CgroupLimits, of_another_namespace_are_those_of_the_mount) {
  mount("fs", "/", "cgroup2", "rw");
  write("cgroup", "0::/../../elsewhere\n");
  write("fs/cpu.max", "300000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(files_), 3);
}

TEST_F(CgroupLimits, ignore_what_cannot_be_read) {
  mount("v2", "/", "cgroup2", "rw");
  write("mountinfo", "nonsense\n - \n");
  write("cgroup", "0::/a\nnonsense\n:\n");
  write("v2/a/cpu.max", "lots of it\n");
  EXPECT_TRUE(std::isinf(cgroup_cpu_quota(files_)));
}

TEST(ThreadCount, is_what_the_environment_says_within_bounds) {
  setenv("SARDONYX_NUM_THREADS", "7", 1);
  EXPECT_EQ(available_thread_count(), 7);
  setenv("SARDONYX_NUM_THREADS", "99999999", 1);
  EXPECT_EQ(available_thread_count(), kMaxThreads);
  setenv("SARDONYX_NUM_THREADS", "many", 1);
  EXPECT_GE(available_thread_count(), 1);
  for (const char* wrong : {"many", "-2", "4 cores", "-99999999999"}) {
    setenv("SARDONYX_NUM_THREADS", wrong, 1);
    EXPECT_NE(thread_setting_problem().find(text("'", wrong, "'")), std::string::npos);
  }
  for (const char* right : {"", "0", "7", "99999999999999"}) {
    setenv("SARDONYX_NUM_THREADS", right, 1);
    EXPECT_EQ(thread_setting_problem(), "");
  }
  unsetenv("SARDONYX_NUM_THREADS");
  EXPECT_EQ(thread_setting_problem(), "");
  EXPECT_EQ(thread_count(3), 3);
}

}  // namespace
}  // namespace sardonyx
