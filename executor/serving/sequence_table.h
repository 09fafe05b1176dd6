// Sequences of a model: what the server tells the model of each request's place in its sequence,
// and the outputs that become inputs of the next one.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/serving/model_config.h"
#include "executor/serving/scheduler.h"

namespace sardonyx::serving {

// Requests of one sequence run one after the other, in the order in which they came; those of
// several sequences run jointly where the model batches. Sequences beyond the configured number
// wait until one of those before them ends or is idle for too long. Held by shared pointers alone.
class SequenceTable : public std::enable_shared_from_this<SequenceTable> {
 public:
  // `inputs` and `outputs` are the model's; `folder` has initial states. Throws ServingError
  // kInvalidArgument where the configuration does not fit them.
  SequenceTable(SequenceConfig config, std::span<const ValueInfo> inputs,
                std::span<const ValueInfo> outputs, const std::filesystem::path& folder,
                const ModelConfig& model, std::shared_ptr<Scheduler> scheduler,
                RunThreads& threads);
  ~SequenceTable() { close(); }

  // The ticket is empty where earlier requests of the sequence are still to be run.
  Scheduler::Ticket submit(InferRequest request, InferDone done);
  // Refuses what waits and what comes from now on.
  void close();
  size_t sequences() const;

 private:
  struct Waiting {
    InferRequest request;
    InferDone done;
  };
  struct Sequence {
    SequenceControl control;  // the id
    std::vector<Datum> states;
    std::deque<Waiting> waiting;
    bool is_running = false;
    bool is_admitted = false;  // one of at most max_sequences
    Clock::time_point last_used = Clock::now();
  };
  using SequencePointer = std::shared_ptr<Sequence>;
  struct ControlInput {
    SequenceConfig::Control control;
    size_t input = 0;
    Shape shape;  // of one request
  };
  struct StateInput {
    SequenceConfig::State state;
    size_t input = 0, output = 0;
    Tensor initial;
  };

  struct Ready {
    std::string key;
    SequencePointer sequence;
    Waiting first;
  };

  SequencePointer sequence_of(const InferRequest& request);
  SequencePointer begin(const std::string& key, const SequenceControl& control);
  void remove_idle(Clock::time_point now);
  void release(Sequence& sequence);
  void admit();
  void start_admitted();
  void set_idle_timer();
  Scheduler::Ticket run(const std::string& key, const SequencePointer& sequence, Waiting waiting);
  Scheduler::Ticket hand_over(const SequencePointer& sequence, Waiting waiting,
                              std::function<void()> next);
  void keep_states(Sequence& sequence, std::span<const size_t> asked, InferResult& result);
  std::optional<Waiting> take_next(const std::string& key, const SequencePointer& sequence);
  Tensor control_tensor(const ControlInput& input, const SequenceControl& control) const;

  const SequenceConfig config_;
  const std::string model_;
  const bool has_batch_dim_;
  std::vector<ControlInput> controls_;
  std::vector<StateInput> states_;
  size_t outputs_ = 0;
  const std::shared_ptr<Scheduler> scheduler_;
  RunThreads& threads_;

  mutable std::mutex mutex_;
  std::map<std::string, SequencePointer> sequences_;
  size_t admitted_ = 0;
  std::deque<std::pair<std::string, SequencePointer>> backlog_;  // those that are not
  std::deque<Ready> ready_;                                      // taken from there, to be started
  bool is_starting_ = false;
  std::optional<RunThreads::Timer> idle_timer_;
  bool is_closed_ = false;
};

}  // namespace sardonyx::serving
