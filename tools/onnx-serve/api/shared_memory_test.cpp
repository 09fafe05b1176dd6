#include "tools/onnx-serve/api/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/batching/serving_error.h"

namespace sardonyx::serve {
namespace {

using serving::ServingError;

class SharedMemoryTest : public testing::Test {
 protected:
  SharedMemoryTest() : file_(shm_open(key_.c_str(), O_CREAT | O_RDWR, 0600)) { resize(32); }
  ~SharedMemoryTest() override {
    shm_unlink(key_.c_str());
    close(file_);
  }
  void resize(off_t bytes) { ASSERT_EQ(ftruncate(file_, bytes), 0); }
  off_t size() const {
    struct stat info = {};
    fstat(file_, &info);
    return info.st_size;
  }

  const std::string key_ = "/sardonyx_test_" + std::to_string(getpid());
  const int file_;
  SharedMemory memory_;
};

TEST_F(SharedMemoryTest, WhatHasBecomeShorterIsNeitherReadNorGrown) {
  memory_.add({"r", key_, 8, 16});
  const Tensor tensor = Tensor::of<float>({1, 2, 3, 4}, {4});
  memory_.write("r", 0, 16, tensor, "output");
  EXPECT_TRUE(memory_.read("r", 0, 16, DType::kFloat, {4}, "input").values<float>()[3] == 4);
  for (const off_t bytes : {off_t{23}, off_t{0}}) {
    resize(bytes);
    EXPECT_THROW(memory_.write("r", 0, 16, tensor, "output"), ServingError);
    EXPECT_THROW(memory_.read("r", 0, 16, DType::kFloat, {4}, "input"), ServingError);
    EXPECT_EQ(size(), bytes);
  }
}

TEST_F(SharedMemoryTest, RegionsHaveNamesThatCanBeTold) {
  for (const char* name : {"", "\xff", "a\nb"})
    EXPECT_THROW(memory_.add({name, key_, 0, 8}), ServingError) << name;
  EXPECT_THROW(memory_.add({"r", key_, 0, 0}), ServingError);
  EXPECT_TRUE(memory_.regions().empty());
}

}  // namespace
}  // namespace sardonyx::serve
