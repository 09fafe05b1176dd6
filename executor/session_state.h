// The state that all executables of a session share: settings, packed weights, and memory that is
// reused from run to run.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "executor/session_options.h"
#include "executor/weights/prepack_file_store.h"
#include "executor/weights/weight_residency.h"
#include "ir/buffer_pool.h"
#include "ir/core/memory/packed_weight_arena.h"
#include "ir/core/memory/prepacked_weights.h"
#include "ir/core/memory/scratch_arena.h"

namespace sardonyx {

class SessionState {
 public:
  std::vector<const Provider*> providers;
  std::shared_ptr<ThreadPool> pool;
  int threads = 1;  // the threads of the pool that one run uses
  Precision precision = Precision::kFloat32;
  // Both are off if no pass rewrites the graph. Each op then runs the kernel that it would run
  // alone, so that eager calls and the graph give the same bits.
  bool layouts = true;
  bool specializes = true;  // kernels are told which inputs never change
  size_t max_plans = 32;
  // The plans that a subgraph keeps: each iteration of a loop may need its own, where shapes depend
  // on the iteration number.
  size_t max_inner_plans() const { return 8 * max_plans; }
  bool keeps_attempts = false;  // steps keep which implementations refused them, and why
  Log log;
  PrepackedWeights packs;
  std::unique_ptr<PrepackFileStore> plan_cache;  // where `packs` look first; null: nowhere
  PackedWeightArena packed_weight_arena;         // the memory of `packs`
  WeightResidency weight_residency;

  // Buffers for intermediate values, the last one given back first: its lines may still be in a
  // cache.
  std::shared_ptr<Buffer> borrow_arena(size_t bytes);
  void return_arena(std::shared_ptr<Buffer> arena);
  // The pool for buffers that runs allocate for themselves and for what evaluated ops return.
  BufferPool& buffers() { return buffers_; }
  // Memory for what ops need while they run.
  std::unique_ptr<Scratch> borrow_scratch();
  // Also called during stack unwinding: if there is no memory to keep the scratch in the list, it
  // is freed.
  void return_scratch(std::unique_ptr<Scratch> scratch) noexcept;
  // Gives back what is not in use.
  void trim();

 private:
  static constexpr size_t kMaxIdleBytes = 32 << 20;
  BufferPool buffers_{kMaxIdleBytes};
  std::mutex mutex_;
  std::vector<std::shared_ptr<Buffer>> idle_arenas_;
  std::vector<std::unique_ptr<Scratch>> idle_scratch_;
};

// Scratch for the work of this thread, from the session.
class BorrowedScratch {
 public:
  explicit BorrowedScratch(SessionState& session_state);
  ~BorrowedScratch();
  BorrowedScratch(const BorrowedScratch&) = delete;
  BorrowedScratch& operator=(const BorrowedScratch&) = delete;

 private:
  SessionState& session_state_;
  std::unique_ptr<Scratch> scratch_;
  std::optional<ScratchScope> scope_;
  std::optional<ScratchMark> mark_;
};

}  // namespace sardonyx
