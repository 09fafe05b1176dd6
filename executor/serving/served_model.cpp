#include "executor/serving/served_model.h"

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "executor/batching/batch.h"
#include "executor/serving/datatype.h"
#include "executor/serving/sequence_table.h"

namespace sardonyx::serving {
namespace {

template <typename Infos>
size_t index_of(const Infos& infos, std::string_view name) {
  size_t index = 0;
  for (const auto& info : infos) {
    if (info.name == name) return index;
    ++index;
  }
  SARDONYX_CHECK(!"the configuration was held to the model");
  return 0;
}

std::string names_of(std::span<const TensorConfig> tensors) {
  std::string names;
  for (const TensorConfig& tensor : tensors)
    names += (names.empty() ? "'" : ", '") + tensor.name + "'";
  return names.empty() ? "none" : names;
}

// [-1,3], as other servers write shapes in messages that clients read.
std::string dims_text(const Shape& dims) {
  std::string out = "[";
  for (const int64_t dim : dims)
    out += (out.size() > 1 ? "," : "") + std::to_string(dim);
  return out + ']';
}

// `shape`, which has dims as `from`, as one that has them as `to`: open ones keep their order, and
// items of a batch, which neither lists, stay first. nullopt: it has other dims.
std::optional<Shape> reshaped_dims(const Shape& shape, const Shape& from, const Shape& to,
                                   bool has_batch) {
  const size_t first = has_batch ? 1 : 0;
  if (shape.size() != from.size() + first) return std::nullopt;
  Shape result(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(first));
  size_t at = 0;
  for (int64_t dim : to) {
    if (dim < 0) {
      while (from[at] >= 0)  // there are as many open ones
        ++at;
      dim = shape[first + at++];
    }
    result.push_back(dim);
  }
  return result;
}

}  // namespace

ServedModel::ServedModel(ModelConfig config, Source source, SessionOptions options,
                         RunThreads& threads, std::shared_ptr<Statistics> statistics,
                         std::shared_ptr<MemoryGate> gate)
    : config_(std::move(config)), version_(source.version), statistics_(std::move(statistics)) {
  const auto begin = std::chrono::steady_clock::now();
  options.optimization_level = std::min(options.optimization_level, config_.optimization_level);
  session_ = source.model ? std::make_unique<Session>(std::move(*source.model), options)
             : source.bytes
                 ? std::make_unique<Session>(std::as_bytes(std::span(*source.bytes)), options)
                 : std::make_unique<Session>(source.file, options);
  complete_config(config_, source.has_config, session_->inputs(), session_->optional_inputs(),
                  session_->outputs(), source.default_max_batch);
  for (const ValueInfo& input : session_->inputs())
    model_inputs_.push_back(input);
  for (const ValueInfo& input : session_->optional_inputs())
    model_inputs_.push_back(input);
  for (const TensorConfig& input : config_.inputs)
    config_inputs_.push_back(index_of(model_inputs_, input.name));
  for (const TensorConfig& output : config_.outputs) {
    identity_outputs_ &= index_of(session_->outputs(), output.name) == config_outputs_.size();
    config_outputs_.push_back(index_of(session_->outputs(), output.name));
    restores_shapes_ |= output.reshape.has_value();
  }
  identity_outputs_ &= config_outputs_.size() == session_->outputs().size();
  load_labels(source.folder);
  if (const auto pad = config_.parameters.find("pad"); pad != config_.parameters.end()) {
    if (config_.max_batch_size == 0)
      refuse(Status::kInvalidArgument, "parameter pad needs max_batch_size");
    config_.scheduling.padding =
        std::make_shared<Padding>(pad->second, model_inputs_, session_->outputs());
  }
  runner_ = std::make_unique<SessionRunner>(*session_, std::move(gate));
  std::vector<std::string> inputs, outputs;
  for (const ValueInfo& input : model_inputs_)
    inputs.push_back(input.name);
  for (const ValueInfo& output : session_->outputs())
    outputs.push_back(output.name);
  scheduler_ = std::make_shared<Scheduler>(
      config_.scheduling, std::move(inputs), std::move(outputs),
      [this](std::span<const Datum> data, const RunOptions& how) {
        return runner_->run(data, how);
      },
      threads, statistics_);
  if (config_.sequence) {
    sequences_ =
        std::make_shared<SequenceTable>(*config_.sequence, model_inputs_, session_->outputs(),
                                        source.folder, config_, scheduler_, threads, statistics_);
  }
  warm_up(source.folder, options.cancel);
  load_time_ = std::chrono::steady_clock::now() - begin;
}

ServedModel::~ServedModel() {
  if (sequences_) sequences_->close();
  if (scheduler_) scheduler_->close();
  sequences_.reset();
  scheduler_.reset();
  runner_.reset();
  session_.reset();
#ifdef __GLIBC__
  // Free memory between blocks that are in use stays the process's until it is asked for.
  malloc_trim(0);
#endif
}

size_t ServedModel::waiting() const {
  return scheduler_->waiting() + (sequences_ ? sequences_->waiting() : 0);
}

void ServedModel::load_labels(const std::filesystem::path& folder) {
  for (TensorConfig& output : config_.outputs) {
    if (output.labels.empty()) continue;
    const std::string name = output.labels[0];
    if (name.find('/') != std::string::npos || name.starts_with('.'))
      refuse(Status::kInvalidArgument, "label_filename '", name,
             "' is no file of the model's folder");
    std::ifstream file(folder / name);
    if (!file)
      refuse(Status::kInvalidArgument, "the labels of output '", output.name, "', '", name,
             "', can't be read");
    output.labels.clear();
    for (std::string line; std::getline(file, line);)
      output.labels.push_back(line);
  }
}

size_t ServedModel::output_index(std::string_view name) const {
  for (size_t i = 0; i < config_.outputs.size(); ++i) {
    if (config_.outputs[i].name == name) return i;
  }
  refuse(Status::kInvalidArgument, "unexpected inference output '", name, "' for model '",
         config_.name, "'; there are ", names_of(config_.outputs));
}

const TensorConfig& ServedModel::input(std::string_view name) const {
  for (const TensorConfig& input : config_.inputs) {
    if (input.name == name) return input;
  }
  refuse(Status::kInvalidArgument, "unexpected inference input '", name, "' for model '",
         config_.name, "'; there are ", names_of(config_.inputs));
}

void ServedModel::check_request_tensor(const TensorConfig& config, const Tensor& tensor) const {
  if (tensor.dtype() != config.dtype) {
    refuse(Status::kInvalidArgument, "inference input '", config.name, "' data-type is '",
           protocol_name(tensor.dtype()), "', but model '", config_.name, "' expects '",
           protocol_name(config.dtype), "'");
  }
  if (!config.has_rank) return;
  const bool has_batch = config_.max_batch_size > 0;
  Shape wanted = config.dims;
  if (has_batch) wanted.insert(wanted.begin(), -1);
  const Shape& shape = tensor.shape();
  bool fits = shape.size() == wanted.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = wanted[i] < 0 || wanted[i] == shape[i];
  if (!fits) {
    refuse(Status::kInvalidArgument, "unexpected shape for input '", config.name, "' for model '",
           config_.name, "'. Expected ", dims_text(wanted), ", got ", dims_text(shape),
           has_batch ? "; the first dim is the batch, which max_batch_size in the configuration "
                       "stands for"
                     : "");
  }
  if (has_batch && !config_.is_derived && shape[0] > config_.max_batch_size) {
    refuse(Status::kInvalidArgument,
           "inference request batch-size must be <= ", config_.max_batch_size, " for '",
           config_.name, "', got ", shape[0], " in input '", config.name, "'");
  }
  if (has_batch && shape[0] == 0 && !config_.is_derived)
    refuse(Status::kInvalidArgument, "input '", config.name, "': the batch size is 0");
}

Tensor ServedModel::as_model_sees(const TensorConfig& config, const Tensor& tensor) const {
  if (!config.reshape) return tensor;
  auto shape = reshaped_dims(tensor.shape(), config.dims, *config.reshape,
                             /*has_batch=*/config_.max_batch_size > 0);
  SARDONYX_CHECK(shape && element_count(*shape) == tensor.count());  // by check_request_tensor()
  return tensor.reshaped(std::move(*shape));
}

void ServedModel::fill(InferRequest& request, std::vector<NamedTensor> tensors,
                       std::vector<size_t> outputs) const {
  request.inputs.assign(model_inputs_.size(), Datum());
  for (NamedTensor& given : tensors) {
    const TensorConfig& config = input(given.name);
    const size_t at = config_inputs_[static_cast<size_t>(&config - config_.inputs.data())];
    if (request.inputs[at].defined())
      refuse(Status::kInvalidArgument, "input '", given.name, "' is given twice");
    check_request_tensor(config, given.tensor);
    request.inputs[at] = as_model_sees(config, given.tensor);
  }
  check_all_given(request);
  std::sort(outputs.begin(), outputs.end());
  outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
  if (outputs.empty() && !identity_outputs_) {
    outputs.resize(config_outputs_.size());
    std::iota(outputs.begin(), outputs.end(), size_t{0});
  }
  for (size_t& output : outputs)
    output = config_outputs_[output];
  std::sort(outputs.begin(), outputs.end());
  request.outputs = std::move(outputs);
}

void ServedModel::check_all_given(const InferRequest& request) const {
  std::string given, missing;
  size_t got = 0, required = 0;
  for (size_t i = 0; i < config_.inputs.size(); ++i) {
    const TensorConfig& config = config_.inputs[i];
    const bool is_given = request.inputs[config_inputs_[i]].defined();
    got += is_given;
    required += !config.optional;
    std::string& list = is_given ? given : missing;
    if (is_given || !config.optional) list += (list.empty() ? "'" : ",'") + config.name + '\'';
  }
  if (missing.empty()) return;
  const size_t all = config_.inputs.size();
  const std::string wanted = required == all
                                 ? text(all, " inputs")
                                 : text("number of inputs between ", required, " and ", all);
  refuse(Status::kInvalidArgument, "expected ", wanted, " but got ", got, " inputs for model '",
         config_.name, "'. Got input(s) [", given, "], but missing required input(s) [", missing,
         "]. Please provide all required input(s).");
}

// `done`, called with outputs as clients know them: in their order and shape.
InferDone ServedModel::restoring_shapes(InferDone done) const {
  return [this, done = std::move(done)](InferResult&& result) {
    if (!result.error) {
      std::vector<Datum> outputs(config_outputs_.size());
      for (size_t i = 0; i < outputs.size(); ++i) {
        Datum& from = result.outputs[config_outputs_[i]];
        if (!from.defined()) continue;
        const TensorConfig& config = config_.outputs[i];
        if (!config.reshape) {
          outputs[i] = std::move(from);
          continue;
        }
        const Tensor& tensor = from.tensor();
        auto shape = reshaped_dims(tensor.shape(), *config.reshape, config.dims,
                                   /*has_batch=*/config_.max_batch_size > 0);
        if (shape && element_count(*shape) == tensor.count()) {
          outputs[i] = tensor.reshaped(std::move(*shape));
        } else {
          result.error = ServingError(
              Status::kInternal, text("output '", config.name, "' has shape ",
                                      to_text(tensor.shape()), ", which reshape does not fit"));
        }
      }
      result.outputs = std::move(outputs);
    }
    done(std::move(result));
  };
}

ServedModel::Ticket ServedModel::submit(InferRequest request, InferDone done, bool may_run_here) {
  if (!identity_outputs_ || restores_shapes_) done = restoring_shapes(std::move(done));
  if (sequences_) return sequences_->submit(std::move(request), std::move(done));
  return scheduler_->submit(std::move(request), std::move(done), may_run_here);
}

void ServedModel::cancel(const Ticket& ticket) {
  if (const auto* job = std::get_if<Scheduler::Ticket>(&ticket)) {
    scheduler_->cancel(*job);
  } else {
    sequences_->cancel(std::get<SequenceTable::Ticket>(ticket));
  }
}

}  // namespace sardonyx::serving
