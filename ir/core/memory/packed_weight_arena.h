// Memory for packed weights. They are many, most of them small, and stay as long as a session does:
// next to each other they take few large pages, which the system gives several times as fast as
// small ones, and through which runs go faster.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "ir/core/tensor.h"

namespace sardonyx {

// Safe from many threads. Buffers may outlive the arena; memory goes back to the system with the
// last one of those that are adjacent.
class PackedWeightArena {
 public:
  // There are weights of so many bytes: few are not worth large pages.
  void expect(size_t bytes);
  // A buffer from this arena, with the contract of Buffer::allocate.
  std::shared_ptr<Buffer> allocate(size_t bytes);

  // Makes `arena` the one of this thread until the scope ends. Scopes nest.
  class Scope {
   public:
    explicit Scope(PackedWeightArena& arena);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PackedWeightArena* previous_;
  };

 private:
  class Chunk;
  class Piece;
  std::mutex mutex_;
  bool is_worthwhile_ = false;
  std::shared_ptr<Chunk> stretch_;  // the last one
};

// A buffer from this thread's arena, or from Buffer::allocate where the thread has none.
std::shared_ptr<Buffer> allocate_packed(size_t bytes);

}  // namespace sardonyx
