// Memory for what an op needs only while it runs, taken from a stack that serves one run after the
// other: std::pmr containers on scratch() allocate nothing once the stack is as large as it needs
// to be.
#pragma once

#include <memory_resource>
#include <vector>

#include "ir/core/tensor.h"

namespace sardonyx {

// A stack of memory for one thread. What was taken is given back all at once, by a ScratchMark.
class Scratch : public std::pmr::memory_resource {
 public:
  struct Position {
    size_t block, used;
  };
  Position position() const { return {block_, used_}; }
  // Everything that was taken since is free again.
  void rewind(Position position);

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void*, size_t, size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::vector<std::shared_ptr<Buffer>> blocks_;
  size_t block_ = 0;  // that memory is taken from now
  size_t used_ = 0;   // bytes of it
  size_t total_ = 0;  // of the blocks that one is to stand for the next time
};

// The memory for what code on this thread needs until the innermost ScratchMark ends: the stack of
// the innermost ScratchScope, or the heap where there is none. What lives longer must not be put
// there.
std::pmr::memory_resource* scratch();

class ScratchScope {
 public:
  explicit ScratchScope(Scratch& scratch);
  ~ScratchScope();
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  Scratch* previous_;
};

class ScratchMark {
 public:
  ScratchMark();
  ~ScratchMark();
  ScratchMark(const ScratchMark&) = delete;
  ScratchMark& operator=(const ScratchMark&) = delete;

 private:
  Scratch* scratch_;
  Scratch::Position position_{};
};

}  // namespace sardonyx
