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

#include "executor/batching/scheduler.h"
#include "executor/serving/model_config.h"

namespace sardonyx::serving {

// A request of a sequence on its way.
struct SequenceRequest;

// Requests of one sequence run one after the other, in the order in which they came; those of
// several sequences run as one batch where the model batches. Sequences beyond the configured
// number wait until one of those before them ends or is idle for too long. Held by shared pointers
// alone.
class SequenceTable : public std::enable_shared_from_this<SequenceTable> {
 public:
  // `inputs` and `outputs` are the model's; `folder` has initial states. Throws ServingError
  // kInvalidArgument where the configuration does not fit them.
  SequenceTable(SequenceConfig config, std::span<const ValueInfo> inputs,
                std::span<const ValueInfo> outputs, const std::filesystem::path& folder,
                const ModelConfig& model, std::shared_ptr<Scheduler> scheduler, RunThreads& threads,
                std::shared_ptr<Statistics> statistics);
  ~SequenceTable() { close(); }

  // May be dropped at any time.
  using Ticket = std::weak_ptr<SequenceRequest>;
  Ticket submit(InferRequest request, InferDone done);
  // Ends the request with kCancelled, waiting or running, unless it is done. Where it is the first
  // one of a sequence that waits for a place, those that wait behind it end as well.
  void cancel(const Ticket& ticket);
  // Refuses what waits and what comes from now on.
  void close();
  size_t sequences() const;
  // Requests that wait here: behind others of their sequence, or for a place.
  size_t waiting() const;

 private:
  using RequestPointer = std::shared_ptr<SequenceRequest>;
  friend struct SequenceRequest;
  struct Sequence {
    SequenceControl control;  // the id
    std::vector<Datum> states;
    std::deque<RequestPointer> waiting;
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
    RequestPointer first;
  };

  void require_one_item(const InferRequest& request) const;
  SequencePointer sequence_of(const InferRequest& request);
  SequencePointer begin(const std::string& key, const SequenceControl& control);
  void remove_idle(Clock::time_point now);
  void release(Sequence& sequence);
  void admit();
  void start_admitted();
  void set_idle_timer();
  void wait(const RequestPointer& request, const std::string& key, const SequencePointer& sequence);
  RequestPointer next_waiting(Sequence& sequence);
  void stop_waiting(SequenceRequest& request);
  std::vector<RequestPointer> take_out(const RequestPointer& request);
  void withdraw(const RequestPointer& request, const ServingError& error, Failure kind);
  void refuse_request(SequenceRequest& request, const ServingError& error, Failure kind);
  void run(const std::string& key, const SequencePointer& sequence, RequestPointer request);
  void hand_over(const SequencePointer& sequence, const RequestPointer& waiting,
                 std::function<void()> next);
  void keep_states(Sequence& sequence, std::span<const size_t> asked, InferResult& result);
  RequestPointer take_next(const std::string& key, const SequencePointer& sequence);
  Tensor control_tensor(const ControlInput& input, const SequenceControl& control) const;

  const SequenceConfig config_;
  const std::string model_;
  const bool has_batch_dim_;
  std::vector<ControlInput> controls_;
  std::vector<StateInput> states_;
  size_t outputs_ = 0;
  const std::shared_ptr<Scheduler> scheduler_;
  RunThreads& threads_;
  const std::shared_ptr<Statistics> statistics_;

  mutable std::mutex mutex_;
  std::map<std::string, SequencePointer> sequences_;
  size_t admitted_ = 0;
  std::deque<std::pair<std::string, SequencePointer>> backlog_;  // those that are not
  std::deque<Ready> ready_;                                      // taken from there, to be started
  size_t waiting_ = 0;                                           // requests
  bool is_starting_ = false;
  std::optional<RunThreads::Timer> idle_timer_;
  bool is_closed_ = false;
};

}  // namespace sardonyx::serving
