#include "executor/serving/config_checks.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "executor/batching/serving_error.h"

namespace sardonyx::serving {
namespace {

using Controls = inference::ModelSequenceBatching::Control;

constexpr int kMostInstances = 1024;

// Rules of the schema that one field alone does not tell.
class MessageChecks {
 public:
  MessageChecks(const inference::ModelConfig& message, std::string_view model)
      : message_(message), model_(model) {}

  void check() const {
    check_kind();
    check_missing_abilities();
    for (const auto& input : message_.input())
      check_format(input);
    check_instances();
    if (message_.has_dynamic_batching()) check_order(message_.dynamic_batching());
    if (message_.has_sequence_batching()) check_sequences(message_.sequence_batching());
    if (message_.has_ensemble_scheduling()) check_ensemble(message_.ensemble_scheduling());
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

  void check_kind() const {
    const std::string& platform = message_.platform();
    const std::string& backend = message_.backend();
    if (message_.has_ensemble_scheduling()) {
      if (!(platform.empty() || platform == "ensemble") || !backend.empty())
        wrong("ensemble_scheduling is for platform 'ensemble' without a backend, got platform '",
              platform, "', backend '", backend, "'");
      return;
    }
    if (platform == "ensemble")
      wrong("platform 'ensemble' needs ensemble_scheduling, which names the steps");
    if (!(platform.empty() || platform == "onnxruntime_onnx" || platform == "onnxv1" ||
          platform == "onnx_onnxv1"))
      unsupported("platform '", platform,
                  "'; ONNX files (onnxruntime_onnx) and ensembles are served");
    if (!(backend.empty() || backend == "onnxruntime" || backend == "sardonyx"))
      unsupported("backend '", backend, "'; there is onnxruntime, which is served by sardonyx");
  }

  void check_missing_abilities() const {
    if (message_.batch_input_size() > 0 || message_.batch_output_size() > 0)
      unsupported("batch_input and batch_output: ragged batches are for models made for them");
    if (message_.model_transaction_policy().decoupled())
      unsupported("decoupled: each request of an ONNX model has one answer");
    if (message_.model_operations().op_library_filename_size() > 0)
      unsupported("model_operations: libraries of custom operators are not loaded");
    if (message_.model_repository_agents().agents_size() > 0)
      unsupported("model_repository_agents: none can be loaded; what '",
                  message_.model_repository_agents().agents(0).name(),
                  "' does is to be done before the model comes here");
  }

  // What clients may take from it: one image, without its batch.
  void check_format(const inference::ModelInput& input) const {
    if (input.format() == inference::ModelInput::FORMAT_NONE || input.dims_size() == 3) return;
    wrong("input '", input.name(), "': format ", inference::ModelInput::Format_Name(input.format()),
          " is of 3 dims, got ", input.dims_size(),
          "; list those of one image, or leave format out");
  }

  void check_instances() const {
    int64_t instances = 0;
    for (const auto& group : message_.instance_group()) {
      const auto kind = group.kind();
      if (group.count() < 0) wrong("instance_group '", group.name(), "': count ", group.count());
      if (group.gpus_size() > 0 && (kind == inference::ModelInstanceGroup::KIND_CPU ||
                                    kind == inference::ModelInstanceGroup::KIND_MODEL))
        wrong("instance_group '", group.name(), "' has gpus, but kind ",
              inference::ModelInstanceGroup::Kind_Name(kind), "; leave gpus out");
      if (group.profile_size() > 0)
        unsupported("instance_group '", group.name(),
                    "': profile is for TensorRT's plans; leave it out");
      if (!group.passive()) instances += std::max(group.count(), 1);
    }
    if (message_.instance_group_size() > 0 && instances == 0)
      wrong("instance_group: all are passive, so that nothing would run requests");
    if (instances > kMostInstances)
      wrong("instance_group: ", instances, " instances in all, expected at most ", kMostInstances);
  }

  void check_order(const inference::ModelDynamicBatching& batching) const {
    if (!batching.preserve_ordering()) return;
    if (batching.priority_levels() > 1)
      wrong("dynamic_batching: preserve_ordering with priority_levels ", batching.priority_levels(),
            ", which would change the order; expected 1 level, or none");
    const auto delays = [](const inference::ModelQueuePolicy& policy) {
      return policy.default_timeout_microseconds() != 0 &&
             policy.timeout_action() == inference::ModelQueuePolicy::DELAY;
    };
    bool any = delays(batching.default_queue_policy());
    for (const auto& [level, policy] : batching.priority_queue_policy())
      any |= delays(policy);
    if (any)
      wrong(
          "dynamic_batching: preserve_ordering with timeout_action DELAY, which would change "
          "the order; expected REJECT");
  }

  void check_sequences(const inference::ModelSequenceBatching& batching) const {
    if (batching.iterative_sequence())
      unsupported("iterative_sequence: each request of an ONNX model runs once");
    std::set<std::string> inputs;
    std::set<int> kinds;
    for (const auto& input : batching.control_input()) {
      if (input.name().empty()) wrong("control_input without a name");
      if (!inputs.insert(input.name()).second)
        wrong("control_input '", input.name(), "' is there twice");
      if (input.control_size() != 1)
        wrong("control_input '", input.name(), "' has ", input.control_size(),
              " controls, expected 1: each has an input of its own");
      if (!kinds.insert(input.control(0).kind()).second)
        wrong("control_input '", input.name(), "': ", Controls::Kind_Name(input.control(0).kind()),
              " has an input already");
      check_control(input.name(), input.control(0));
    }
    for (const auto& state : batching.state())
      check_state(state, inputs);
    const float utilization = batching.direct().minimum_slot_utilization();
    if (!(utilization >= 0 && utilization <= 1))
      wrong("sequence_batching: minimum_slot_utilization ", utilization, ", expected 0 to 1");
    if (batching.oldest().max_candidate_sequences() < 0)
      wrong("sequence_batching: max_candidate_sequences ",
            batching.oldest().max_candidate_sequences(), "; expected a number above 0, or none");
  }

  void check_control(const std::string& input, const Controls& control) const {
    const std::string where =
        "control_input '" + input + "', " + Controls::Kind_Name(control.kind()) + ": ";
    const std::array sizes = {control.int32_false_true_size(), control.fp32_false_true_size(),
                              control.bool_false_true_size()};
    const auto given = std::count_if(sizes.begin(), sizes.end(), [](int size) { return size > 0; });
    if (control.kind() == Controls::CONTROL_SEQUENCE_CORRID) {
      if (given > 0) wrong(where, "it is the sequence's id, and has no values for false and true");
      constexpr std::array kTypes = {inference::TYPE_UINT64, inference::TYPE_INT64,
                                     inference::TYPE_UINT32, inference::TYPE_INT32,
                                     inference::TYPE_STRING};
      if (std::find(kTypes.begin(), kTypes.end(), control.data_type()) == kTypes.end())
        wrong(where, "data_type ", inference::DataType_Name(control.data_type()),
              ", expected TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 or TYPE_STRING");
      return;
    }
    if (given != 1)
      wrong(where, "expected one of int32_false_true, fp32_false_true and bool_false_true, got ",
            given);
    if (sizes[0] + sizes[1] + sizes[2] != 2) wrong(where, "expected [ false, true ]");
  }

  void check_state(const inference::ModelSequenceBatching::State& state,
                   std::set<std::string>& inputs) const {
    const std::string& name = state.input_name();
    if (name.empty() || state.output_name().empty())
      wrong("sequence_batching: a state needs input_name and output_name");
    if (!inputs.insert(name).second)
      wrong("state '", name, "' is an input of another state or control");
    if (state.initial_state_size() > 1) wrong("state '", name, "' has two initial states");
    if (state.initial_state_size() == 0) return;
    const auto& initial = state.initial_state(0);
    if (initial.state_data_case() ==
        inference::ModelSequenceBatching::InitialState::STATE_DATA_NOT_SET)
      wrong("state '", name, "': its initial_state has neither zero_data nor data_file");
    if (initial.data_type() != state.data_type())
      wrong("state '", name, "': its initial_state has data_type ",
            inference::DataType_Name(initial.data_type()), ", but the state ",
            inference::DataType_Name(state.data_type()));
    bool fits = initial.dims_size() == state.dims_size();
    for (int i = 0; fits && i < state.dims_size(); ++i)
      fits = initial.dims(i) > 0 && (state.dims(i) == -1 || state.dims(i) == initial.dims(i));
    if (!fits)
      wrong(
          "state '", name,
          "': the dims of its initial_state are not those of the state, with sizes for open ones");
  }

  // A step that gives nothing, or a tensor that nobody takes, is a name that was misspelt.
  void check_ensemble(const inference::ModelEnsembling& ensemble) const {
    if (ensemble.step_size() == 0) wrong("ensemble_scheduling has no step");
    std::set<std::string> used, given;
    int number = 0;
    for (const auto& step : ensemble.step()) {
      const auto where = [&] { return "ensemble_scheduling, step " + std::to_string(number); };
      if (step.model_name().empty()) wrong(where(), ": it needs model_name");
      if (step.model_version() < -1)
        wrong(where(), ": model_version ", step.model_version(),
              "; expected a version, or -1 for the newest one that is served");
      if (step.input_map().empty()) wrong(where(), ": it needs input_map");
      if (step.output_map().empty()) wrong(where(), ": it needs output_map");
      for (const auto& [input, tensor] : step.input_map())
        used.insert(tensor);
      for (const auto& [output, tensor] : step.output_map())
        given.insert(tensor);
      ++number;
    }
    for (const auto& output : message_.output()) {
      if (!given.contains(output.name())) wrong("no step gives output '", output.name(), "'");
      used.insert(output.name());
    }
    for (const auto& step : ensemble.step()) {
      for (const auto& [output, tensor] : step.output_map()) {
        if (!used.contains(tensor))
          wrong("ensemble tensor '", tensor, "', which '", step.model_name(),
                "' gives, is no output of the ensemble, and no step takes it; leave '", output,
                "' out of output_map");
      }
    }
  }

  const inference::ModelConfig& message_;
  const std::string_view model_;
};

void list_instances(const inference::ModelConfig& message, std::vector<std::string>& list) {
  for (const auto& group : message.instance_group()) {
    if (group.kind() == inference::ModelInstanceGroup::KIND_GPU || group.gpus_size() > 0)
      list.emplace_back("instance_group on GPUs: instances run on CPUs");
    if (group.has_rate_limiter()) list.emplace_back("rate_limiter");
    if (group.secondary_devices_size() > 0) list.emplace_back("instance_group.secondary_devices");
    if (!group.host_policy().empty()) list.emplace_back("instance_group.host_policy");
  }
}

void list_optimization(const inference::ModelOptimizationPolicy& optimization,
                       std::vector<std::string>& list) {
  const int level = optimization.graph().level();
  if (level < -1 || level > 1) list.push_back("optimization.graph.level: " + std::to_string(level));
  if (optimization.priority() != inference::ModelOptimizationPolicy::PRIORITY_DEFAULT)
    list.emplace_back("optimization.priority");
  if (optimization.has_cuda()) list.emplace_back("optimization.cuda");
  if (optimization.has_execution_accelerators())
    list.emplace_back("optimization.execution_accelerators");
  if (optimization.has_input_pinned_memory() || optimization.has_output_pinned_memory())
    list.emplace_back("optimization: pinned memory");
  if (optimization.gather_kernel_buffer_threshold() > 0)
    list.emplace_back("optimization.gather_kernel_buffer_threshold");
  if (optimization.eager_batching()) list.emplace_back("optimization.eager_batching");
}

void list_scheduling(const inference::ModelConfig& message, std::vector<std::string>& list) {
  const auto& sequences = message.sequence_batching();
  if (sequences.direct().minimum_slot_utilization() > 0)
    list.emplace_back("sequence_batching.direct.minimum_slot_utilization");
  const auto& states = sequences.state();
  if (std::any_of(states.begin(), states.end(),
                  [](const auto& state) { return state.use_growable_memory(); }))
    list.emplace_back("sequence_batching.state.use_growable_memory");
  if (message.ensemble_scheduling().max_inflight_requests() > 0)
    list.emplace_back("ensemble_scheduling.max_inflight_requests: the steps are one graph");
  for (const auto& step : message.ensemble_scheduling().step()) {
    if (!step.model_namespace().empty())
      list.push_back("model_namespace of step '" + step.model_name() + "'");
  }
}

}  // namespace

void check_message(const inference::ModelConfig& message, std::string_view model) {
  MessageChecks(message, model).check();
}

std::vector<std::string> settings_without_effect(const inference::ModelConfig& message) {
  std::vector<std::string> list;
  if (!message.runtime().empty()) list.emplace_back("runtime");
  if (message.response_cache().enable()) list.emplace_back("response_cache");
  if (message.has_model_metrics()) list.emplace_back("model_metrics");
  if (message.metric_tags_size() > 0) list.emplace_back("metric_tags");
  if (message.cc_model_filenames_size() > 0) list.emplace_back("cc_model_filenames");
  list_instances(message, list);
  list_optimization(message.optimization(), list);
  list_scheduling(message, list);
  constexpr std::array<std::string_view, 3> kKnown = {"deterministic", "wait_for_delay", "pad"};
  std::set<std::string> others;
  for (const auto& [name, value] : message.parameters()) {
    if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) others.insert(name);
  }
  for (const std::string& name : others)
    list.push_back("parameter '" + name + "'");
  return list;
}

}  // namespace sardonyx::serving
