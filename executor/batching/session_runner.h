// Runs of a session as a scheduler asks for them: what clients may leave out, admission by memory,
// profiles.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "executor/batching/memory_gate.h"
#include "executor/batching/run_profile.h"
#include "executor/session.h"

namespace sardonyx::serving {

class SessionRunner {
 public:
  // The gate counts the session until this is destroyed.
  SessionRunner(Session& session, std::shared_ptr<MemoryGate> gate);
  ~SessionRunner();
  SessionRunner(const SessionRunner&) = delete;
  SessionRunner& operator=(const SessionRunner&) = delete;

  // Inputs are the session's, followed by the optional ones, which may all be undefined. Outputs
  // that options.outputs does not list are undefined.
  std::vector<Datum> run(std::span<const Datum> inputs, const RunOptions& options);
  // Memory beside runs, such as their inputs', where the gate lets it in.
  MemoryGate::Space space_for(uint64_t bytes) {
    return gate_->is_limited() ? gate_->take(bytes) : MemoryGate::Space();
  }
  RunProfiles& profiles() { return profiles_; }

 private:
  std::vector<Datum> run_admitted(std::span<const Datum> inputs, const RunOptions& options);
  std::vector<Datum> run_session(std::span<const Datum> inputs, const RunOptions& options);

  Session& session_;
  const std::shared_ptr<MemoryGate> gate_;
  MemoryForecast forecast_;
  RunProfiles profiles_;
};

}  // namespace sardonyx::serving
