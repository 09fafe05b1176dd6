// How a model is to be served: from config.pbtxt, from JSON, or derived from the model itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/batching/scheduler.h"
#include "executor/run_report.h"
#include "ir/core/dtype.h"

namespace sardonyx::serving {

// An input or an output as clients see it.
struct TensorConfig {
  std::string name;
  DType dtype = DType::kUndefined;
  Shape dims;  // -1: any size; without the batch dim
  // The shape that the model sees in place of `dims`, where they differ; -1 as in `dims`.
  std::optional<Shape> reshape;
  bool optional = false;
  bool has_rank = true;             // false: any shape at all
  std::vector<std::string> labels;  // of an output, by index
};

struct VersionPolicy {
  enum class Kind { kLatest, kAll, kSpecific } kind = Kind::kLatest;
  uint32_t latest = 1;
  std::vector<int64_t> specific;
};

struct WarmupConfig {
  struct Input {
    DType dtype = DType::kUndefined;
    Shape dims;
    enum class Data { kZero, kRandom, kFile } data = Data::kZero;
    std::string file;  // in the folder `warmup` of the model, the elements' binary form
  };
  std::string name;
  int64_t batch = 0;
  std::map<std::string, Input> inputs;
  int count = 1;
};

struct SequenceConfig {
  struct Control {
    enum class Kind { kStart, kReady, kEnd, kCorrelationId } kind = Kind::kStart;
    std::string input;
    DType dtype = DType::kInt32;
    double false_value = 0, true_value = 1;
  };
  struct State {
    std::string input, output;
    DType dtype = DType::kFloat;
    Shape dims;
    std::string initial_file;  // in the folder `initial_state` of the model; "": zeros
  };
  std::chrono::microseconds max_idle{1'000'000};
  size_t max_sequences = 1024;
  std::vector<Control> controls;
  std::vector<State> states;
};

struct EnsembleStep {
  std::string model;
  int64_t version = -1;
  std::map<std::string, std::string> inputs, outputs;  // the step's name -> the ensemble's
};

struct ModelConfig {
  std::string name;
  int64_t max_batch_size = 0;  // 0: no batch dim
  bool is_derived = false;     // max_batch_size is ours: larger requests are served, alone
  std::string file = "model.onnx";
  bool names_file = false;  // default_model_filename was given: no other will do
  VersionPolicy versions;
  std::vector<TensorConfig> inputs, outputs;
  SchedulingPolicy scheduling;
  std::vector<WarmupConfig> warmup;
  std::optional<SequenceConfig> sequence;
  std::vector<EnsembleStep> ensemble;
  std::map<std::string, std::string> parameters;
  int optimization_level = 2;
  bool sets_instances = false;  // scheduling.instances was configured
  // Settings that say nothing to this server and change no answer, to be logged.
  std::vector<std::string> without_effect;
  // The whole configuration as a protocol message, for answers.
  std::string wire;

  bool is_ensemble() const { return !ensemble.empty(); }
};

// Throws ServingError kInvalidArgument, naming the model and the line, for text that is none;
// kUnsupported for settings that this server can't obey, each with its remedy.
ModelConfig config_from_text(std::string_view text, std::string_view model);
ModelConfig config_from_json(std::string_view json, std::string_view model);
// As JSON; 64-bit integers are numbers, and fields that are not set have their defaults.
std::string config_as_json(const ModelConfig& config);

// What a model says of itself where there is no configuration, and what one leaves out: inputs,
// outputs, and with max_batch_size, where the first dims of all of them have one name that means a
// batch ("batch", "N" ...), batching of at most `default_max_batch` items (0: none). Throws
// ServingError kInvalidArgument where the configuration contradicts the model, kUnsupported for
// types that the protocol can't express.
void complete_config(ModelConfig& config, bool is_given, std::span<const ValueInfo> inputs,
                     std::span<const ValueInfo> optional_inputs, std::span<const ValueInfo> outputs,
                     int64_t default_max_batch);

}  // namespace sardonyx::serving
