// What a handle to a session holds.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/ort_abi/custom_ops/domain.h"
#include "executor/ort_abi/env.h"
#include "executor/ort_abi/ep/ep_assignment.h"
#include "executor/ort_abi/profiling.h"
#include "executor/ort_abi/session_options.h"
#include "executor/output_slot.h"
#include "executor/run/async_workers.h"
#include "executor/session.h"

namespace sardonyx::ort_abi {

struct ModelSource;

// An input or output of the model, as runs are checked against it.
struct Port {
  std::string name;
  Type type;
  bool is_tensor;
  bool has_rank = false;
  std::vector<int64_t> dims = {};  // -1: any

  explicit Port(const ValueInfo& value);
};

// What one run needs, kept for the next: no memory is allocated once it is there.
struct RunSpace {
  std::vector<const Datum*> inputs;  // null: not given
  std::deque<Datum> adapted;         // tensors of LoRA adapters among them
  std::vector<OutputSlot> outputs;
  std::vector<size_t> chosen;                   // outputs that are asked for, ascending
  std::vector<size_t> asked;                    // for each name that a caller gives, which output
  std::vector<NodeTiming> steps;                // where the run is profiled
  std::vector<std::unique_ptr<OrtValue>> made;  // by name that is asked for; null: written in place
};

// The model of a session that the program adds to before it runs.
struct EditedModel {
  const OrtEnv* env;
  OrtSessionOptions options;
  std::string bytes = {};             // empty: no model yet
  std::filesystem::path folder = {};  // that its external data are in
  LoadOptions::NamedTensors initializers = {};
};

}  // namespace sardonyx::ort_abi

struct OrtSession {
  OrtLogger logger;
  std::chrono::steady_clock::time_point begin;   // of the load
  std::vector<std::shared_ptr<void>> libraries;  // outlive what they made
  OrtKeyValuePairs config;
  sardonyx::ort_abi::SessionCustomOps custom_ops;
  std::unique_ptr<sardonyx::ort_abi::EditedModel> edited;  // null: it is ready to run
  std::unique_ptr<OrtSession> reloaded;                    // whose parts are here by now
  sardonyx::Session session;
  bool names_version;                                    // has the file a model_version?
  std::vector<sardonyx::ort_abi::Port> inputs, outputs;  // inputs: the required ones first
  size_t required;
  int threads;
  bool uses_arena;  // as the caller asked: memory comes from the same place
  std::shared_ptr<OrtAllocator> env_allocator;  // that all memory comes from; null: from pools here
  sardonyx::ort_abi::Profile profile;
  sardonyx::AsyncWorkers async;  // ended before anything that runs use goes

  std::unique_ptr<sardonyx::ort_abi::EpAssignment> assignment;  // where it is asked for

  // Spaces that no run is using: the one that was used last, and those of runs at the same time.
  std::atomic<sardonyx::ort_abi::RunSpace*> space = nullptr;
  std::mutex spaces_mutex;
  std::vector<std::unique_ptr<sardonyx::ort_abi::RunSpace>> spaces;

  OrtSession(const OrtEnv& env, const sardonyx::ort_abi::ModelSource& source,
             const OrtSessionOptions& options);
  ~OrtSession();
};
