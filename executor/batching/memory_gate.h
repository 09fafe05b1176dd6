// How much memory the runs of all models may take in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "executor/session.h"

namespace sardonyx::serving {

// What the container, or else the machine, has; in bytes.
uint64_t machine_memory();

// Lets a run begin only where what it is predicted to need (its plan's memory, and its outputs once
// they have been seen) still fits beside what models hold: a refusal to one client instead of the
// end of the process for all.
class MemoryGate {
 public:
  explicit MemoryGate(uint64_t limit) : limit_(limit) {}  // 0: none
  MemoryGate(const MemoryGate&) = delete;
  MemoryGate& operator=(const MemoryGate&) = delete;

  // What a run has been let in with; given back at its end.
  class Space {
   public:
    Space() = default;
    Space(MemoryGate* gate, uint64_t bytes) : gate_(gate), bytes_(bytes) {}
    Space(Space&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), bytes_(other.bytes_) {}
    Space& operator=(Space&&) = delete;
    ~Space() {
      if (gate_) gate_->give_back(bytes_);
    }

   private:
    MemoryGate* gate_ = nullptr;
    uint64_t bytes_ = 0;
  };

  // Sessions count while they are known here.
  void add(Session& session);
  void remove(Session& session);
  // Throws ServingError kResourceExhausted. Idle memory of other models is given back first.
  Space take(uint64_t bytes);
  bool is_limited() const { return limit_ > 0; }

 private:
  void give_back(uint64_t bytes);

  const uint64_t limit_;
  std::mutex mutex_;
  std::set<Session*> sessions_;
  uint64_t reserved_ = 0;  // by runs that go on
};

// Predicts the memory of runs by their inputs' shapes.
class MemoryForecast {
 public:
  struct Need {
    uint64_t run = 0, outputs = 0;
    bool is_known = false;  // the outputs have been seen
    uint64_t bytes() const { return run + outputs; }
  };
  // Of a run with these inputs, beside the memory of the inputs themselves. The first time it makes
  // the plan, within the deadline of the run and as long as that is not cancelled.
  Need need_of(const Session& session, std::span<const Datum> inputs, const RunOptions& options);
  // What its outputs took.
  void learn(std::span<const Datum> inputs, std::span<const Datum> outputs);

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, Need> needs_;  // by a digest of types and shapes
};

}  // namespace sardonyx::serving
