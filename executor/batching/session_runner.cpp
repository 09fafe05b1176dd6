#include "executor/batching/session_runner.h"

#include <algorithm>

namespace sardonyx::serving {

SessionRunner::SessionRunner(Session& session, std::shared_ptr<MemoryGate> gate)
    : session_(session), gate_(std::move(gate)) {
  gate_->add(session_);
}

SessionRunner::~SessionRunner() {
  gate_->remove(session_);
}

std::vector<Datum> SessionRunner::run(std::span<const Datum> inputs, const RunOptions& options) {
  const size_t required = session_.inputs().size();
  // Optional inputs come all or not at all.
  const auto optional = inputs.subspan(required);
  const auto defined = [](const Datum& datum) { return datum.defined(); };
  if (std::none_of(optional.begin(), optional.end(), defined)) inputs = inputs.first(required);
  return gate_->is_limited() ? run_admitted(inputs, options) : run_session(inputs, options);
}

std::vector<Datum> SessionRunner::run_admitted(std::span<const Datum> inputs,
                                               const RunOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const MemoryForecast::Need need = forecast_.need_of(session_, inputs, options);
  constexpr uint64_t kSmall = 1 << 20;  // not worth asking whether it fits
  const MemoryGate::Space space =
      need.bytes() < kSmall ? MemoryGate::Space() : gate_->take(need.bytes());
  RunOptions rest = options;
  if (rest.deadline) {
    // A deadline counts from here on, and planning took some of it.
    const auto took = std::chrono::steady_clock::now() - begin;
    *rest.deadline -= std::chrono::duration_cast<std::chrono::milliseconds>(took);
  }
  std::vector<Datum> outputs = run_session(inputs, rest);
  if (!need.is_known) forecast_.learn(inputs, outputs);
  return outputs;
}

std::vector<Datum> SessionRunner::run_session(std::span<const Datum> inputs,
                                              const RunOptions& options) {
  std::vector<OutputSlot> slots(session_.outputs().size());
  if (profiles_.is_on()) {
    std::vector<NodeTiming> steps;
    RunOptions profiled = options;
    profiled.profile = &steps;
    const auto begin = std::chrono::steady_clock::now();
    session_.run_into(inputs, slots, profiled);
    profiles_.add(std::chrono::steady_clock::now() - begin, steps);
  } else {
    session_.run_into(inputs, slots, options);
  }
  std::vector<Datum> outputs;
  outputs.reserve(slots.size());
  for (OutputSlot& slot : slots)
    outputs.push_back(slot.take());
  return outputs;
}

}  // namespace sardonyx::serving
