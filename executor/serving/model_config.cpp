#include "executor/serving/model_config.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <set>

#include "executor/serving/config_checks.h"
#include "executor/serving/json_text.h"
#include "executor/serving/model_config_proto.h"

namespace sardonyx::serving {
namespace {

constexpr size_t kMaxConfigBytes = 16 << 20;
constexpr int kMaxDepth = 32;  // of messages within messages; the schema has fewer

// Keeps the first error of the text parser.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = text("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  const std::string& what() const { return text_; }

 private:
  template <typename... Parts>
  static std::string text(const Parts&... parts) {
    return sardonyx::text(parts...);
  }
  std::string text_;
};

// Reads one message that check_message() has found good.
class ConfigReader {
 public:
  ConfigReader(const inference::ModelConfig& message, std::string_view model)
      : message_(message), model_(model) {}

  ModelConfig read() {
    config_.name = message_.name().empty() ? std::string(model_) : message_.name();
    if (config_.name != model_)
      wrong("name is '", message_.name(), "', but the folder is '", model_, "'");
    if (message_.max_batch_size() < 0) wrong("max_batch_size is negative");
    config_.max_batch_size = message_.max_batch_size();
    config_.names_file = !message_.default_model_filename().empty();
    if (config_.names_file) config_.file = message_.default_model_filename();
    if (config_.file.find('/') != std::string::npos || config_.file.starts_with('.'))
      wrong("default_model_filename '", config_.file,
            "' is no name of a file in the version folder");
    read_versions();
    for (const auto& input : message_.input())
      config_.inputs.push_back(read_input(input));
    for (const auto& output : message_.output())
      config_.outputs.push_back(read_output(output));
    read_instances();
    read_scheduling();
    for (const auto& warmup : message_.model_warmup())
      config_.warmup.push_back(read_warmup(warmup));
    read_optimization();
    read_parameters();
    message_.SerializeToString(&config_.wire);
    return std::move(config_);
  }

 private:
  template <typename... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    refuse(Status::kInvalidArgument, "configuration of model '", model_, "': ", parts...);
  }
  template <typename... Parts>
  [[noreturn]] void unsupported(const Parts&... parts) const {
    refuse(Status::kUnsupported, "configuration of model '", model_, "': ", parts...);
  }

  void read_versions() {
    const auto& policy = message_.version_policy();
    VersionPolicy& versions = config_.versions;
    if (policy.has_all()) {
      versions.kind = VersionPolicy::Kind::kAll;
    } else if (policy.has_specific()) {
      versions.kind = VersionPolicy::Kind::kSpecific;
      const auto& wanted = policy.specific().versions();
      for (const int64_t version : std::set<int64_t>(wanted.begin(), wanted.end())) {
        if (version < 1) wrong("version_policy: specific version ", version, "; they begin at 1");
        versions.specific.push_back(version);
      }
      if (versions.specific.empty()) wrong("version_policy: specific without versions");
    } else if (policy.has_latest()) {
      versions.latest = policy.latest().num_versions();
      if (versions.latest == 0)
        wrong(
            "version_policy: latest with num_versions 0, by which no version would be served; "
            "expected 1 or more");
    } else if (message_.has_version_policy()) {
      wrong("version_policy: expected latest, all or specific, got none of them");
    }
  }

  Shape read_dims(const google::protobuf::RepeatedField<int64_t>& dims,
                  std::string_view name) const {
    for (const int64_t dim : dims) {
      if (dim < -1 || dim == 0) wrong("'", name, "': ", dim, " in dims; sizes are positive, or -1");
    }
    return {dims.begin(), dims.end()};
  }

  template <typename Message>
  TensorConfig read_tensor(const Message& message) const {
    TensorConfig tensor;
    tensor.name = message.name();
    if (tensor.name.empty()) wrong("a tensor without a name");
    tensor.dtype = dtype_of(message.data_type());
    tensor.dims = read_dims(message.dims(), tensor.name);
    if (message.has_reshape()) {
      tensor.reshape = read_dims(message.reshape().shape(), tensor.name);
      check_reshape(tensor);
    }
    if (message.is_shape_tensor() || message.is_non_linear_format_io())
      unsupported("'", tensor.name,
                  "': is_shape_tensor and is_non_linear_format_io are TensorRT's");
    return tensor;
  }

  // Open dims keep their order: between them, both have the same number of elements.
  void check_reshape(const TensorConfig& tensor) const {
    const auto counts = [](const Shape& dims) {
      constexpr int64_t kMost = int64_t{1} << 40;  // more than a tensor has
      std::vector<int64_t> between = {1};
      for (const int64_t dim : dims) {
        if (dim < 0) {
          between.push_back(1);
        } else {
          between.back() = between.back() > kMost / dim ? kMost : between.back() * dim;
        }
      }
      return between;
    };
    if (counts(tensor.dims) == counts(*tensor.reshape)) return;
    wrong("'", tensor.name, "': reshape ", to_text(*tensor.reshape),
          " has other elements than dims ", to_text(tensor.dims),
          ", or not the same number of them before, between and behind the open ones");
  }

  TensorConfig read_input(const inference::ModelInput& message) const {
    if (message.allow_ragged_batch())
      unsupported("'", message.name(),
                  "': allow_ragged_batch; requests of unequal shapes are batched "
                  "by shape");
    TensorConfig tensor = read_tensor(message);
    tensor.optional = message.optional();
    return tensor;
  }

  TensorConfig read_output(const inference::ModelOutput& message) {
    TensorConfig tensor = read_tensor(message);
    if (!message.label_filename().empty()) tensor.labels = {message.label_filename()};
    return tensor;
  }

  void read_instances() {
    if (message_.instance_group_size() == 0) return;
    config_.sets_instances = true;
    config_.scheduling.instances = 0;
    for (const auto& group : message_.instance_group()) {
      if (!group.passive()) config_.scheduling.instances += std::max(group.count(), 1);
    }
  }

  static QueuePolicy read_queue(const inference::ModelQueuePolicy& message) {
    QueuePolicy queue;
    queue.delays_after_timeout = message.timeout_action() == inference::ModelQueuePolicy::DELAY;
    queue.default_timeout = microseconds(message.default_timeout_microseconds());
    queue.allows_timeout_override = message.allow_timeout_override();
    queue.max_size = message.max_queue_size();
    return queue;
  }

  static std::chrono::microseconds microseconds(uint64_t count) {
    constexpr uint64_t kYear = uint64_t{365} * 24 * 3600 * 1'000'000;
    return std::chrono::microseconds(std::min(count, kYear));
  }

  void read_scheduling() {
    SchedulingPolicy& policy = config_.scheduling;
    policy.has_batch_dim = config_.max_batch_size > 0;
    policy.max_batch = std::max<int64_t>(config_.max_batch_size, 1);
    if (message_.has_dynamic_batching()) read_dynamic_batching(message_.dynamic_batching());
    if (message_.has_sequence_batching()) read_sequences(message_.sequence_batching());
    if (message_.has_ensemble_scheduling()) read_ensemble(message_.ensemble_scheduling());
  }

  void read_preferred(const google::protobuf::RepeatedField<int32_t>& sizes) {
    for (const int32_t size : sizes) {
      if (size < 1 || size > config_.max_batch_size)
        wrong("preferred_batch_size ", size, " is not between 1 and max_batch_size");
      config_.scheduling.preferred.push_back(size);
    }
  }

  void read_dynamic_batching(const inference::ModelDynamicBatching& message) {
    SchedulingPolicy& policy = config_.scheduling;
    policy.batches = config_.max_batch_size > 1;
    read_preferred(message.preferred_batch_size());
    policy.delay = microseconds(message.max_queue_delay_microseconds());
    policy.preserves_order = message.preserve_ordering();
    policy.priority_levels = message.priority_levels();
    policy.default_priority = message.default_priority_level();
    if (policy.priority_levels > 0 &&
        (policy.default_priority < 1 || policy.default_priority > policy.priority_levels))
      wrong("default_priority_level ", policy.default_priority,
            " is not between 1 and priority_levels ", policy.priority_levels);
    policy.default_queue = read_queue(message.default_queue_policy());
    for (const auto& [level, queue] : message.priority_queue_policy()) {
      if (level < 1 || level > policy.priority_levels)
        wrong("priority_queue_policy for level ", level, ", but priority_levels is ",
              policy.priority_levels);
      policy.queues[level] = read_queue(queue);
    }
  }

  void read_sequences(const inference::ModelSequenceBatching& message);
  void read_control(const inference::ModelSequenceBatching::ControlInput& input,
                    SequenceConfig& sequence);
  void read_ensemble(const inference::ModelEnsembling& message);

  WarmupConfig read_warmup(const inference::ModelWarmup& message) const {
    constexpr uint32_t kMostRuns = 10'000;
    WarmupConfig warmup;
    warmup.name = message.name();
    warmup.batch = message.batch_size();
    if (message.count() > kMostRuns)
      wrong("model_warmup '", warmup.name, "': count ", message.count(), ", expected at most ",
            kMostRuns);
    warmup.count = std::max(static_cast<int>(message.count()), 1);
    for (const auto& [name, input] : message.inputs())
      warmup.inputs[name] =
          read_warmup_input(input, text("model_warmup '", warmup.name, "', '", name, "': "));
    return warmup;
  }

  WarmupConfig::Input read_warmup_input(const inference::ModelWarmup::Input& message,
                                        const std::string& where) const {
    using Source = inference::ModelWarmup::Input;
    WarmupConfig::Input input;
    input.dtype = dtype_of(message.data_type());
    if (input.dtype == DType::kUndefined) wrong(where, "it needs data_type");
    input.dims = {message.dims().begin(), message.dims().end()};
    for (const int64_t dim : input.dims) {
      if (dim < 0) wrong(where, dim, " in dims, which must be sizes");
    }
    switch (message.input_data_type_case()) {
      case Source::kZeroData:
        break;
      case Source::kRandomData:
        input.data = WarmupConfig::Input::Data::kRandom;
        break;
      case Source::kInputDataFile:
        input.data = WarmupConfig::Input::Data::kFile;
        input.file = message.input_data_file();
        check_data_file(input.file, where, "warmup");
        break;
      default:
        wrong(where, "expected one of zero_data, random_data and input_data_file, got none");
    }
    return input;
  }

  void check_data_file(const std::string& file, const std::string& where,
                       std::string_view folder) const {
    if (file.empty() || file.find("..") != std::string::npos || file.starts_with('/'))
      wrong(where, "'", file, "' is no file in the folder '", folder, "' of the model");
  }

  // -1: basic, 0: the default, 1: what follows from it, as ONNX Runtime's backend has it.
  void read_optimization() {
    if (message_.optimization().graph().level() == -1) config_.optimization_level = 1;
  }

  void read_parameters() {
    for (const auto& [name, value] : message_.parameters())
      config_.parameters[name] = value.string_value();
    const auto is_set = [&](const char* name) {
      const auto found = config_.parameters.find(name);
      if (found == config_.parameters.end()) return false;
      if (found->second != "true" && found->second != "false")
        wrong("parameter ", name, ": expected true or false, got '", found->second, "'");
      return found->second == "true";
    };
    config_.scheduling.deterministic = is_set("deterministic");
    config_.scheduling.waits_for_delay = is_set("wait_for_delay");
  }

  const inference::ModelConfig& message_;
  const std::string_view model_;
  ModelConfig config_;
};

void ConfigReader::read_control(const inference::ModelSequenceBatching::ControlInput& input,
                                SequenceConfig& sequence) {
  using Control = inference::ModelSequenceBatching::Control;
  for (const Control& message : input.control()) {
    SequenceConfig::Control control;
    control.input = input.name();
    switch (message.kind()) {
      case Control::CONTROL_SEQUENCE_START:
        control.kind = SequenceConfig::Control::Kind::kStart;
        break;
      case Control::CONTROL_SEQUENCE_READY:
        control.kind = SequenceConfig::Control::Kind::kReady;
        break;
      case Control::CONTROL_SEQUENCE_END:
        control.kind = SequenceConfig::Control::Kind::kEnd;
        break;
      default:
        control.kind = SequenceConfig::Control::Kind::kCorrelationId;
        control.dtype = dtype_of(message.data_type());
        sequence.controls.push_back(control);
        continue;
    }
    const auto take = [&](DType dtype, const auto& values) {
      if (values.size() == 0) return;
      control.dtype = dtype;
      control.false_value = static_cast<double>(values[0]);
      control.true_value = static_cast<double>(values[1]);
    };
    take(DType::kInt32, message.int32_false_true());
    take(DType::kFloat, message.fp32_false_true());
    take(DType::kBool, message.bool_false_true());
    sequence.controls.push_back(control);
  }
}

void ConfigReader::read_sequences(const inference::ModelSequenceBatching& message) {
  SequenceConfig sequence;
  if (message.max_sequence_idle_microseconds() > 0)
    sequence.max_idle = microseconds(message.max_sequence_idle_microseconds());
  for (const auto& input : message.control_input())
    read_control(input, sequence);
  for (const auto& state : message.state()) {
    SequenceConfig::State to;
    to.input = state.input_name();
    to.output = state.output_name();
    to.dtype = dtype_of(state.data_type());
    to.dims = read_dims(state.dims(), to.input);
    if (state.initial_state_size() == 1) {
      const auto& initial = state.initial_state(0);
      to.dims = read_dims(initial.dims(), to.input);
      to.initial_file = initial.data_file();
      if (initial.has_data_file())
        check_data_file(to.initial_file, "state '" + to.input + "': ", "initial_state");
    }
    sequence.states.push_back(std::move(to));
  }
  // A request of a sequence is one item; those of several sequences run as one batch. Answers of
  // each are in order in any case, which is all that preserve_ordering could ask for here.
  config_.scheduling.batches = config_.max_batch_size > 1;
  if (message.has_oldest()) {
    if (message.oldest().max_candidate_sequences() > 0)
      sequence.max_sequences = static_cast<size_t>(message.oldest().max_candidate_sequences());
    read_preferred(message.oldest().preferred_batch_size());
    config_.scheduling.delay = microseconds(message.oldest().max_queue_delay_microseconds());
  } else {
    config_.scheduling.delay = microseconds(message.direct().max_queue_delay_microseconds());
  }
  config_.sequence = std::move(sequence);
}

void ConfigReader::read_ensemble(const inference::ModelEnsembling& message) {
  for (const auto& step : message.step()) {
    EnsembleStep to;
    to.model = step.model_name();
    to.version = step.model_version() == 0 ? -1 : step.model_version();
    to.inputs = {step.input_map().begin(), step.input_map().end()};
    to.outputs = {step.output_map().begin(), step.output_map().end()};
    config_.ensemble.push_back(std::move(to));
  }
}

// Text may have such strings as escapes, and a message that has one can't be sent.
bool has_utf8_strings(const google::protobuf::Message& message) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!is_message && field->type() != FieldDescriptor::TYPE_STRING) continue;
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : -1;
    for (int i = 0; i < std::max(count, 1); ++i) {
      const bool is_good =
          is_message
              ? has_utf8_strings(count < 0 ? reflection.GetMessage(message, field)
                                           : reflection.GetRepeatedMessage(message, field, i))
              : is_utf8(count < 0 ? reflection.GetString(message, field)
                                  : reflection.GetRepeatedString(message, field, i));
      if (!is_good) return false;
    }
  }
  return true;
}

}  // namespace

DType dtype_of(inference::DataType type) {
  using namespace inference;
  switch (type) {
    case TYPE_BOOL:
      return DType::kBool;
    case TYPE_UINT8:
      return DType::kUInt8;
    case TYPE_UINT16:
      return DType::kUInt16;
    case TYPE_UINT32:
      return DType::kUInt32;
    case TYPE_UINT64:
      return DType::kUInt64;
    case TYPE_INT8:
      return DType::kInt8;
    case TYPE_INT16:
      return DType::kInt16;
    case TYPE_INT32:
      return DType::kInt32;
    case TYPE_INT64:
      return DType::kInt64;
    case TYPE_FP16:
      return DType::kFloat16;
    case TYPE_FP32:
      return DType::kFloat;
    case TYPE_FP64:
      return DType::kDouble;
    case TYPE_STRING:
      return DType::kString;
    case TYPE_BF16:
      return DType::kBFloat16;
    default:
      return DType::kUndefined;
  }
}

inference::DataType data_type_of(DType dtype) {
  for (int type = inference::DataType_MIN; type <= inference::DataType_MAX; ++type) {
    if (dtype_of(static_cast<inference::DataType>(type)) == dtype)
      return static_cast<inference::DataType>(type);
  }
  return inference::TYPE_INVALID;
}

ModelConfig config_from_message(const inference::ModelConfig& message, std::string_view model) {
  if (!has_utf8_strings(message)) {
    refuse(Status::kInvalidArgument, "configuration of model '", model,
           "': it has a string that is not UTF-8");
  }
  check_message(message, model);
  ModelConfig config = ConfigReader(message, model).read();
  config.without_effect = settings_without_effect(message);
  return config;
}

ModelConfig config_from_text(std::string_view text, std::string_view model) {
  const auto wrong = [&](std::string_view why) {
    refuse(Status::kInvalidArgument, "configuration of model '", model, "': ", why);
  };
  if (text.size() > kMaxConfigBytes) wrong("the file has more than 16 MiB");
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxDepth);
  inference::ModelConfig message;
  if (!parser.ParseFromString(std::string(text), &message)) wrong(error.what());
  return config_from_message(message, model);
}

ModelConfig config_from_json(std::string_view json, std::string_view model) {
  inference::ModelConfig message;
  if (json.size() > kMaxConfigBytes)
    refuse(Status::kInvalidArgument, "configuration of model '", model, "': more than 16 MiB");
  const auto status = google::protobuf::util::JsonStringToMessage(std::string(json), &message);
  if (!status.ok()) {
    refuse(Status::kInvalidArgument, "configuration of model '", model,
           "': ", std::string(status.message()));
  }
  return config_from_message(message, model);
}

std::string config_as_json(const ModelConfig& config) {
  inference::ModelConfig message;
  SARDONYX_CHECK(message.ParseFromString(config.wire));
  return message_as_json(message);
}

}  // namespace sardonyx::serving
