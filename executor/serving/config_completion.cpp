// What a model says of itself, beside what its configuration says.
#include <algorithm>
#include <cctype>
#include <set>

#include "executor/serving/datatype.h"
#include "executor/serving/json_text.h"
#include "executor/serving/model_config.h"
#include "executor/serving/model_config_proto.h"
#include "ir/core/threading/cpu_limits.h"

namespace sardonyx::serving {
namespace {

// Exporters' names of the first dim where it counts independent items. Another open first dim may
// be a length in time, along which requests must not be put one after the other.
bool means_batch(std::string_view symbol) {
  std::string name(symbol);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name == "n" || name == "b" || name == "bs" || name.starts_with("batch") ||
         name.ends_with("batch") || name.ends_with("batch_size");
}

Shape open_shape(const Type& type) {
  Shape shape;
  if (!type.shape) return shape;
  for (const Dim& dim : *type.shape)
    shape.push_back(dim.try_value().value_or(-1));
  return shape;
}

class Completion {
 public:
  Completion(ModelConfig& config, bool is_given, std::span<const ValueInfo> inputs,
             std::span<const ValueInfo> optional_inputs, std::span<const ValueInfo> outputs)
      : config_(config), is_given_(is_given), outputs_(outputs) {
    for (const ValueInfo& input : inputs)
      inputs_.push_back({&input, false});
    for (const ValueInfo& input : optional_inputs)
      inputs_.push_back({&input, true});
  }

  void complete(int64_t default_max_batch) {
    for (const DerivedInput& input : inputs_)
      check_type(*input.info, "input");
    for (const ValueInfo& output : outputs_)
      check_type(output, "output");
    if (!is_given_ || (config_.max_batch_size == 0 && config_.inputs.empty() &&
                       config_.outputs.empty() && !config_.sequence))
      derive_batching(default_max_batch);
    set_instances();
    complete_inputs();
    complete_outputs();
  }

 private:
  struct DerivedInput {
    const ValueInfo* info;
    bool optional;
  };

  template <typename... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    refuse(Status::kInvalidArgument, "model '", config_.name, "': ", parts...);
  }

  void check_names(const std::vector<TensorConfig>& tensors, std::string_view kind) const {
    std::set<std::string_view> names;
    for (const TensorConfig& tensor : tensors) {
      if (!names.insert(tensor.name).second)
        wrong("the configuration has ", kind, " '", tensor.name, "' twice");
    }
  }

  void check_type(const ValueInfo& value, std::string_view kind) const {
    if (!is_utf8(value.name)) {
      refuse(Status::kUnsupported, "model '", config_.name, "': the name of ", kind, " '",
             utf8_text(value.name), "' is not UTF-8, which the Open Inference Protocol asks for");
    }
    if (!value.type.is_tensor() || protocol_name(value.type.dtype).empty()) {
      refuse(
          Status::kUnsupported, "model '", config_.name, "': ", kind, " '", value.name,
          "' has type ", value.type.text(),
          ", which the Open Inference Protocol can't express; cast or unpack it within the model");
    }
  }

  void derive_batching(int64_t default_max_batch) {
    if (default_max_batch <= 0 || inputs_.empty()) return;
    std::optional<Dim> batch;
    const auto agrees = [&](const ValueInfo& value) {
      if (!value.type.has_rank() || value.type.rank() == 0) return false;
      const Dim& first = (*value.type.shape)[0];
      if (!batch) batch = first;
      return !first.is_known() && first == *batch && means_batch(first.text());
    };
    for (const DerivedInput& input : inputs_) {
      if (!agrees(*input.info)) return;
    }
    for (const ValueInfo& output : outputs_) {
      if (!agrees(output)) return;
    }
    config_.max_batch_size = default_max_batch;
    config_.is_derived = true;
    config_.scheduling.has_batch_dim = true;
    config_.scheduling.max_batch = default_max_batch;
    config_.scheduling.batches = default_max_batch > 1;
  }

  // Batches form while all instances are busy, so a model that batches has one, whose run may use
  // all threads; others run as many requests at once as there are threads.
  void set_instances() {
    SchedulingPolicy& policy = config_.scheduling;
    if (!config_.sets_instances) policy.instances = policy.batches ? 1 : default_thread_count();
  }

  bool is_of_server(const std::string& name) const {
    if (!config_.sequence) return false;
    const auto& controls = config_.sequence->controls;
    const auto& states = config_.sequence->states;
    return std::any_of(controls.begin(), controls.end(),
                       [&](const auto& control) { return control.input == name; }) ||
           std::any_of(states.begin(), states.end(),
                       [&](const auto& state) { return state.input == name; });
  }

  // `given`, or what the model says where the configuration leaves it out.
  TensorConfig complete(const TensorConfig* given, const ValueInfo& info) const {
    const bool has_batch = config_.max_batch_size > 0;
    TensorConfig tensor = given ? *given : TensorConfig{.name = info.name};
    if (tensor.dtype == DType::kUndefined) tensor.dtype = info.type.dtype;
    if (tensor.dtype != info.type.dtype) {
      wrong("'", info.name, "' has data_type ", protocol_name(tensor.dtype),
            " in the configuration, but ", protocol_name(info.type.dtype), " in the model");
    }
    tensor.has_rank = info.type.has_rank() || given != nullptr;
    const Shape model_shape = open_shape(info.type);
    if (!given) {
      if (has_batch && info.type.has_rank()) {
        if (model_shape.empty() || model_shape[0] >= 0)
          wrong("max_batch_size is ", config_.max_batch_size, ", but the first dim of '", info.name,
                "' (", info.type.text(), ") is no batch of any size");
        tensor.dims.assign(model_shape.begin() + 1, model_shape.end());
      } else {
        tensor.dims = model_shape;
      }
      return tensor;
    }
    if (info.type.has_rank()) check_dims(tensor, model_shape, info);
    return tensor;
  }

  void check_dims(const TensorConfig& tensor, const Shape& model_shape,
                  const ValueInfo& info) const {
    Shape seen = tensor.reshape.value_or(tensor.dims);
    if (config_.max_batch_size > 0) seen.insert(seen.begin(), -1);
    bool fits = seen.size() == model_shape.size();
    for (size_t i = 0; fits && i < seen.size(); ++i)
      fits = seen[i] == model_shape[i] || model_shape[i] < 0 || (seen[i] < 0 && i > 0);
    // A batch of at most 1 may be a fixed dim.
    if (fits && config_.max_batch_size > 0 && model_shape[0] >= 0)
      fits = model_shape[0] == 1 && config_.max_batch_size == 1;
    if (!fits) {
      wrong("'", info.name, "' is ", info.type.text(), " in the model, but ", to_text(seen),
            config_.max_batch_size > 0 ? " (with the batch first)" : "", " by the configuration");
    }
  }

  void complete_inputs() {
    check_names(config_.inputs, "input");
    std::vector<TensorConfig> inputs;
    std::set<std::string> known;
    for (const DerivedInput& input : inputs_) {
      known.insert(input.info->name);
      if (is_of_server(input.info->name)) continue;
      const auto given =
          std::find_if(config_.inputs.begin(), config_.inputs.end(),
                       [&](const auto& one) { return one.name == input.info->name; });
      const bool is_given = given != config_.inputs.end();
      if (!is_given && !config_.inputs.empty() && !input.optional)
        wrong("the configuration lists inputs, but not '", input.info->name,
              "', which is required");
      inputs.push_back(complete(is_given ? &*given : nullptr, *input.info));
      if (is_given && given->optional && !input.optional)
        wrong("input '", input.info->name,
              "' is optional in the configuration, but has no default");
      inputs.back().optional = input.optional;
    }
    for (const TensorConfig& given : config_.inputs) {
      if (!known.contains(given.name))
        wrong("the configuration has input '", given.name, "', which the model lacks");
    }
    config_.inputs = std::move(inputs);
  }

  void complete_outputs() {
    check_names(config_.outputs, "output");
    std::vector<TensorConfig> outputs;
    for (const ValueInfo& output : outputs_) {
      const auto given = std::find_if(config_.outputs.begin(), config_.outputs.end(),
                                      [&](const auto& one) { return one.name == output.name; });
      const bool is_given = given != config_.outputs.end();
      if (!is_given && !config_.outputs.empty()) continue;  // not for clients
      outputs.push_back(complete(is_given ? &*given : nullptr, output));
    }
    for (const TensorConfig& given : config_.outputs) {
      const auto same = [&](const ValueInfo& output) { return output.name == given.name; };
      if (std::none_of(outputs_.begin(), outputs_.end(), same))
        wrong("the configuration has output '", given.name, "', which the model lacks");
    }
    config_.outputs = std::move(outputs);
  }

  ModelConfig& config_;
  const bool is_given_;
  std::vector<DerivedInput> inputs_;
  const std::span<const ValueInfo> outputs_;
};

template <typename Message>
void write_tensor(const TensorConfig& tensor, Message& message) {
  message.set_name(tensor.name);
  message.set_data_type(data_type_of(tensor.dtype));
  message.clear_dims();
  for (const int64_t dim : tensor.dims)
    message.add_dims(dim);
}

}  // namespace

void complete_config(ModelConfig& config, bool is_given, std::span<const ValueInfo> inputs,
                     std::span<const ValueInfo> optional_inputs, std::span<const ValueInfo> outputs,
                     int64_t default_max_batch) {
  Completion(config, is_given, inputs, optional_inputs, outputs).complete(default_max_batch);
  update_message(config);
}

void update_message(ModelConfig& config) {
  inference::ModelConfig message;
  SARDONYX_CHECK(message.ParseFromString(config.wire));
  message.set_name(config.name);
  if (message.platform().empty())
    message.set_platform(config.is_ensemble() ? "ensemble" : "onnxruntime_onnx");
  if (message.backend().empty() && !config.is_ensemble()) message.set_backend("onnxruntime");
  if (!message.has_version_policy())
    message.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  message.set_max_batch_size(static_cast<int32_t>(config.max_batch_size));
  const inference::ModelConfig given = message;
  message.clear_input();
  for (const TensorConfig& tensor : config.inputs) {
    auto& to = *message.add_input();
    for (const auto& old : given.input()) {
      if (old.name() == tensor.name) to = old;
    }
    write_tensor(tensor, to);
    to.set_optional(tensor.optional);
  }
  message.clear_output();
  for (const TensorConfig& tensor : config.outputs) {
    auto& to = *message.add_output();
    for (const auto& old : given.output()) {
      if (old.name() == tensor.name) to = old;
    }
    write_tensor(tensor, to);
  }
  if (config.is_derived && config.scheduling.batches) message.mutable_dynamic_batching();
  if (message.instance_group_size() == 0 && !config.is_ensemble()) {
    auto& group = *message.add_instance_group();
    group.set_name(config.name);
    group.set_kind(inference::ModelInstanceGroup::KIND_CPU);
    group.set_count(config.scheduling.instances);
  }
  if (message.default_model_filename().empty() && !config.is_ensemble())
    message.set_default_model_filename(config.file);
  message.SerializeToString(&config.wire);
}

}  // namespace sardonyx::serving
