// What a table of sequences knows of a request.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "executor/serving/sequence_table.h"

namespace sardonyx::serving {

struct SequenceRequest {
  enum class State { kWaiting, kHandedOver, kDone };

  InferRequest request;  // until it is handed over
  InferDone done;

  // Guarded by the table's mutex.
  State state = State::kHandedOver;
  bool is_cancelled = false;
  Scheduler::Ticket ticket;  // once the scheduler has it
  std::string key;           // while it waits, as what follows
  std::shared_ptr<SequenceTable::Sequence> sequence;
  std::optional<RunThreads::Timer> timer;
};

// The id of a sequence; a number and the same text differ.
inline std::string key_of(const SequenceControl& control) {
  return control.text_id.empty() ? "#" + std::to_string(control.number_id) : "$" + control.text_id;
}

}  // namespace sardonyx::serving
