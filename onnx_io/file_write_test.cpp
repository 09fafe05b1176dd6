// What a written file leaves as it was: links, permissions, and what is no file at all.
#include "onnx_io/file_write.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "ir/core/error.h"
#include "ir/core/run_control.h"
#include "onnx_io/unfinished_files.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

std::string all_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

mode_t bits_of_file(const fs::path& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

ptrdiff_t entries_of(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), {});
}

TEST(FileWrite, AFifoIsWrittenInto) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe", link = folder.path() / "link";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink("pipe", link);
  for (const fs::path& path : {pipe, link}) {
    std::string got;
    std::thread reader([&] { got = all_of(pipe); });
    write_atomically(path, "through");
    reader.join();
    EXPECT_EQ(got, "through");
    EXPECT_TRUE(fs::is_fifo(fs::symlink_status(pipe)));
  }
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(entries_of(folder.path()), 2);
}

TEST(FileWrite, AFifoThatNobodyReadsHoldsNobodyUp) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  const ControlScope scope({.budget = nullptr, .deadline = deadline, .cancel = {}});
  expect_refusal(ErrorCode::kDeadlineExceeded, "deadline", [&] { write_atomically(pipe, "x"); });
}

TEST(FileWrite, WhatKilledWritersLeftIsRemoved) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "cache";
  const std::vector<std::string> others{"cache",         "cache.7.tmp",     "cache.7.0.tmp.bak",
                                        "cache.x.0.tmp", "a.cache.7.0.tmp", "cache.data.7.0.tmp"};
  for (const std::string& name : others)
    std::ofstream(folder.path() / name) << "kept";
  std::ofstream(folder.path() / "cache.7.0.tmp") << "left";
  AtomicFile unfinished(target);
  remove_abandoned_beside(target);
  EXPECT_FALSE(fs::exists(folder.path() / "cache.7.0.tmp"));
  EXPECT_EQ(entries_of(folder.path()), static_cast<ptrdiff_t>(others.size()) + 1);
  unfinished.commit();
  for (const std::string& name : others)
    EXPECT_EQ(all_of(folder.path() / name), name == "cache" ? "" : "kept") << name;
}

TEST(FileWrite, AnOwnDescriptorIsWrittenInto) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  write_atomically("/proc/self/fd/" + std::to_string(ends[1]), "through");
  char got[8] = {};
  EXPECT_EQ(read(ends[0], got, sizeof got), 7);
  EXPECT_STREQ(got, "through");
  close(ends[0]);
  close(ends[1]);
}

TEST(FileWrite, ALinkStaysAndItsTargetIsReplaced) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "data/target", link = folder.path() / "link";
  fs::create_directory(folder.path() / "data");
  std::ofstream(target) << "old";
  fs::create_symlink("target", folder.path() / "data/second");
  fs::create_symlink("data/second", link);
  write_atomically(link, "new");
  EXPECT_EQ(fs::read_symlink(link), "data/second");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(target)));
  EXPECT_EQ(all_of(target), "new");
  fs::remove(target);  // a link to what is not there yet
  write_atomically(link, "newer");
  EXPECT_EQ(all_of(target), "newer");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(entries_of(folder.path()) + entries_of(folder.path() / "data"), 4);
}

TEST(FileWrite, PermissionsStayAndNewFilesObeyTheMask) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
  const mode_t before = umask(027);
  write_atomically(file, "1");
  EXPECT_EQ(bits_of_file(file), 0640u);
  for (const mode_t bits : {0600u, 0666u, 0755u, 0400u}) {
    ASSERT_EQ(chmod(file.c_str(), bits), 0);
    write_atomically(file, "2");
    EXPECT_EQ(bits_of_file(file), bits);
  }
  umask(before);
}

// The system ends by SIGXFSZ who writes beyond that limit, unless the writer sees to it.
TEST(FileWrite, ALimitOfFileSizesIsAnError) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
  write_atomically(file, "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{100, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(write_atomically(file, std::string(1000, 'x')), Error);
  write_atomically(folder.path() / "other", "fits");
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  sigset_t pending;
  EXPECT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGXFSZ), 0);
  EXPECT_EQ(all_of(file), "old");
  EXPECT_EQ(entries_of(folder.path()), 2);
}

TEST(FileWrite, WhatIsUnfinishedCanBeRemoved) {
  const TemporaryFolder folder;
  const fs::path stale = folder.path() / "file.1.0.tmp";  // another process's
  std::ofstream(stale) << "x";
  write_atomically(folder.path() / "done", "x");
  const AtomicFile first(folder.path() / "file"), second(folder.path() / "file");
  EXPECT_EQ(entries_of(folder.path()), 4);
  remove_unfinished_files();
  EXPECT_EQ(entries_of(folder.path()), 2);
  EXPECT_TRUE(fs::exists(stale));
}

}  // namespace
}  // namespace sardonyx
