// One version of a model, ready to be asked.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "executor/batching/scheduler.h"
#include "executor/batching/session_runner.h"
#include "executor/serving/model_config.h"
#include "executor/session.h"

namespace sardonyx::serving {

class SequenceTable;
struct SequenceRequest;

// What a request names: tensors by name.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

class ServedModel {
 public:
  struct Source {
    std::filesystem::path file;          // the model
    const std::string* bytes = nullptr;  // or its bytes, in place of the file
    std::optional<Model> model;          // or the model itself
    std::filesystem::path folder;        // of labels, warm-up and state data; may be empty
    int64_t version = 1;
    bool has_config = false;
    int64_t default_max_batch = 0;
  };

  // Loads the file and warms it up. Throws ServingError, naming the model and its version.
  ServedModel(ModelConfig config, Source source, SessionOptions options, RunThreads& threads,
              std::shared_ptr<Statistics> statistics, std::shared_ptr<MemoryGate> gate);
  // Refuses what waits and waits for what runs.
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  const ModelConfig& config() const { return config_; }
  const std::string& name() const { return config_.name; }
  int64_t version() const { return version_; }
  const Session& session() const { return *session_; }
  Statistics& statistics() const { return *statistics_; }
  // What its runs spend their time on from now on, as long as the pointer is held.
  std::shared_ptr<RunProfile> begin_profile() const { return runner_->profiles().begin(); }
  const Scheduler& scheduler() const { return *scheduler_; }
  // Requests that wait or run.
  int64_t pending() const { return statistics_->snapshot().pending; }
  // Of those, the ones that no run has begun for.
  size_t waiting() const;
  // What it took to load it and to warm it up.
  std::chrono::nanoseconds load_time() const { return load_time_; }

  // The index of an output that clients may ask for. Throws ServingError kInvalidArgument.
  size_t output_index(std::string_view name) const;
  // The input that clients know by this name. Throws ServingError kInvalidArgument.
  const TensorConfig& input(std::string_view name) const;

  // Puts a request's tensors in order and checks them: names, types, shapes, sizes of the batch.
  // `outputs`: indices from output_index(); none: all. Throws ServingError kInvalidArgument.
  void fill(InferRequest& request, std::vector<NamedTensor> tensors,
            std::vector<size_t> outputs) const;

  // See Scheduler. Outputs come in the order of config().outputs, in the shape that clients see;
  // those that were not asked for are undefined.
  using Ticket = std::variant<Scheduler::Ticket, std::weak_ptr<SequenceRequest>>;
  Ticket submit(InferRequest request, InferDone done, bool may_run_here = false);
  // Ends the request, waiting or running, unless it is done.
  void cancel(const Ticket& ticket);

 private:
  void load_labels(const std::filesystem::path& folder);
  void warm_up(const std::filesystem::path& folder, const std::stop_token& cancel);
  Tensor as_model_sees(const TensorConfig& config, const Tensor& tensor) const;
  void check_request_tensor(const TensorConfig& config, const Tensor& tensor) const;
  void check_all_given(const InferRequest& request) const;
  InferDone restoring_shapes(InferDone done) const;

  ModelConfig config_;
  const int64_t version_;
  std::chrono::nanoseconds load_time_{0};
  const std::shared_ptr<Statistics> statistics_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<SessionRunner> runner_;
  std::vector<ValueInfo> model_inputs_;  // required ones, then optional ones
  std::vector<size_t> config_inputs_;    // of each of config_.inputs: which of model_inputs_
  std::vector<size_t> config_outputs_;   // of each of config_.outputs: which of the session's
  bool restores_shapes_ = false;         // an output has another shape for clients
  bool identity_outputs_ = true;         // config_outputs_ is 0, 1, 2 ...
  std::shared_ptr<SequenceTable> sequences_;
  std::shared_ptr<Scheduler> scheduler_;  // last: it is closed first
};

}  // namespace sardonyx::serving
