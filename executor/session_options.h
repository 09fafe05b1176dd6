// The options of a session and those of one run.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "executor/log.h"
#include "executor/run_report.h"
#include "ir/core/memory/memory_source.h"
#include "ir/core/threading/thread_pool.h"
#include "ir/kernel.h"
#include "onnx_io/load.h"

namespace sardonyx {

struct SessionOptions {
  // Threads that one run may use, the one that calls it included; at most kMaxThreads. 0: as many
  // as the pool says, which for our own is SARDONYX_NUM_THREADS, else OMP_NUM_THREADS, else what
  // the affinity mask, the cgroup's CPU quota and its limit of tasks leave.
  int intra_op_threads = 0;
  // The pool of the other threads. Null: one pool that all such sessions of the process share, so
  // that threads do not multiply with sessions or concurrent runs. make_thread_pool() makes one for
  // a session, or some, alone, or of the program's own threads (ir/core/threading).
  std::shared_ptr<ThreadPool> thread_pool = {};
  // 0: no rewriting passes; 1: generic clean-ups; 2: and fusions that keep every value to a few
  // units in the last place.
  int optimization_level = 2;
  std::vector<std::string> disabled_passes = {};  // by name, see `list_passes`
  std::vector<std::string> providers = {"onednn",
                                        "cpu"};  // asked in this order, the reference last
  Precision precision = Precision::kFloat32;
  size_t memory_limit = size_t{1} << 36;  // bytes that weights, plans and runs may take together
  // Where the memory of weights, plans, runs and outputs comes from. Null: the operating system.
  // It is kept until the last tensor on its memory is gone. Sessions with one share no weights.
  std::shared_ptr<MemorySource> memory_source = {};
  // A file that keeps the weights as kernels want them for the next session of this model, which
  // maps it and packs nothing; empty: none. Sessions of one model with the same options share it,
  // in any number of processes; what another version or CPU packed is packed anew. The session that
  // finds none writes it, of the size of the packed weights, once its first plan is made.
  std::filesystem::path plan_cache = {};
  size_t max_plans = 32;  // plans kept per graph; the least recently used goes first
  std::optional<std::chrono::milliseconds> load_deadline = {};
  std::stop_token cancel = {};  // stops the load, which throws kCancelled
  LoadOptions load = {};
  // Keep for each step which implementations were asked, and why each refused, for kernels().
  bool keep_kernel_attempts = false;
  LogLevel log_level = log_level_from_environment();
  LogSink log = {};  // none: stderr
};

struct RunOptions {
  std::optional<std::chrono::milliseconds> deadline = {};  // from the start of the run
  std::stop_token cancel = {};
  std::vector<NodeTiming>* profile = nullptr;  // one entry is added for each step that ran
  // Refuse a run whose outputs don't all have the type and shape of the memory that is bound to
  // them, with kInvalidArgument: before anything is computed where the shapes follow from those of
  // the inputs, else before anything is copied to memory that is bound.
  bool strict_outputs = false;
  // The outputs that run_into computes, as ascending indices into outputs(); none: all. Nodes that
  // these do not need are skipped, inputs that they do not need may be omitted, and the other slots
  // show nothing.
  std::span<const size_t> outputs = {};
};

}  // namespace sardonyx
