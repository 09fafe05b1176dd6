#include "executor/serving/sequence_table.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>

#include "executor/serving/datatype.h"
#include "executor/serving/sequence_request.h"
#include "ir/core/dtype_convert.h"

namespace sardonyx::serving {

namespace {

size_t place_of(std::span<const ValueInfo> values, const std::string& name, std::string_view kind) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == name) return i;
  }
  refuse(Status::kInvalidArgument, "sequence_batching: the model has no ", kind, " '", name, "'");
}

Tensor initial_state(const SequenceConfig::State& state, Shape shape,
                     const std::filesystem::path& folder) {
  if (state.initial_file.empty()) return Tensor::zeros(state.dtype, std::move(shape));
  const std::filesystem::path path = folder / "initial_state" / state.initial_file;
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(Status::kInvalidArgument, "initial state '", path.string(), "' can't be read");
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return tensor_from_binary(state.dtype, std::move(shape), std::as_bytes(std::span(bytes)),
                            path.string());
}

void check_state_shape(const Shape& shape, const SequenceConfig::State& state, const Type& type) {
  if (!type.has_rank()) return;
  bool fits = shape.size() == type.rank();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = (*type.shape)[i].try_value().value_or(shape[i]) == shape[i];
  if (fits) return;
  refuse(Status::kInvalidArgument, "sequence_batching: state '", state.input, "' is ", type.text(),
         " in the model, but ", to_text(shape),
         " by its dims and the batch of 1 that max_batch_size stands for");
}

// A part of a batch would keep the memory of all of it.
Datum kept_apart(const Datum& value) {
  if (!value.is_tensor()) return value;
  const Tensor& tensor = value.tensor();
  return tensor.buffer() && tensor.buffer()->size() > 2 * tensor.bytes() ? Datum(tensor.clone())
                                                                         : value;
}

}  // namespace

SequenceTable::SequenceTable(SequenceConfig config, std::span<const ValueInfo> inputs,
                             std::span<const ValueInfo> outputs,
                             const std::filesystem::path& folder, const ModelConfig& model,
                             std::shared_ptr<Scheduler> scheduler, RunThreads& threads,
                             std::shared_ptr<Statistics> statistics)
    : config_(std::move(config)),
      model_(model.name),
      has_batch_dim_(model.max_batch_size > 0),
      outputs_(outputs.size()),
      scheduler_(std::move(scheduler)),
      threads_(threads),
      statistics_(std::move(statistics)) {
  for (const SequenceConfig::Control& control : config_.controls) {
    ControlInput input{control, place_of(inputs, control.input, "input"), {}};
    const Type& type = inputs[input.input].type;
    if (type.dtype != control.dtype) {
      refuse(Status::kInvalidArgument, "sequence_batching: control input '", control.input,
             "' is configured as ", protocol_name(control.dtype), ", but is ",
             protocol_name(type.dtype), " in the model");
    }
    input.shape.assign(type.has_rank() ? type.rank() : 1, 1);
    controls_.push_back(std::move(input));
  }
  for (const SequenceConfig::State& state : config_.states) {
    StateInput input{state,
                     place_of(inputs, state.input, "input"),
                     place_of(outputs, state.output, "output"),
                     {}};
    const Type& type = inputs[input.input].type;
    if (type.dtype != state.dtype) {
      refuse(Status::kInvalidArgument, "sequence_batching: state '", state.input,
             "' is configured as ", protocol_name(state.dtype), ", but is ",
             protocol_name(type.dtype), " in the model");
    }
    if (const DType given = outputs[input.output].type.dtype; given != state.dtype) {
      refuse(Status::kInvalidArgument, "sequence_batching: output '", state.output, "' is ",
             protocol_name(given), " in the model, but state '", state.input,
             "', which it is given to, ", protocol_name(state.dtype));
    }
    Shape shape;
    for (const int64_t dim : state.dims)
      shape.push_back(dim < 0 ? 1 : dim);
    if (has_batch_dim_) shape.insert(shape.begin(), 1);
    check_state_shape(shape, state, type);
    input.initial = initial_state(state, std::move(shape), folder);
    states_.push_back(std::move(input));
  }
}

void SequenceTable::close() {
  std::vector<RequestPointer> refused;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    const auto take_all = [&](Sequence& sequence) {
      while (RequestPointer request = next_waiting(sequence))
        refused.push_back(std::move(request));
    };
    for (auto& [key, sequence] : sequences_)
      take_all(*sequence);
    sequences_.clear();
    for (auto& [key, sequence] : backlog_)
      take_all(*sequence);
    backlog_.clear();
    for (Ready& ready : ready_)
      refused.push_back(std::move(ready.first));
    ready_.clear();
    for (const RequestPointer& request : refused)
      request->state = SequenceRequest::State::kDone;
    if (idle_timer_) threads_.cancel(*idle_timer_);
    idle_timer_.reset();
  }
  const ServingError error(Status::kUnavailable, "the model is being unloaded");
  for (const RequestPointer& request : refused)
    refuse_request(*request, error, Failure::kRejected);
}

size_t SequenceTable::sequences() const {
  const std::lock_guard lock(mutex_);
  return sequences_.size();
}

size_t SequenceTable::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

// Sequences that nobody has asked for long end without an END. With the lock held, as all up to
// submit().
void SequenceTable::remove_idle(Clock::time_point now) {
  std::erase_if(sequences_, [&](const auto& one) {
    Sequence& sequence = *one.second;
    const bool is_idle = sequence.is_admitted && !sequence.is_running && sequence.waiting.empty() &&
                         now - sequence.last_used >= config_.max_idle;
    if (is_idle) release(sequence);
    return is_idle;
  });
  admit();
}

void SequenceTable::release(Sequence& sequence) {
  if (std::exchange(sequence.is_admitted, false)) --admitted_;
}

// Takes sequences that wait for a place; start_admitted() runs their first requests.
void SequenceTable::admit() {
  while (!backlog_.empty() && admitted_ < config_.max_sequences) {
    auto [key, sequence] = std::move(backlog_.front());
    backlog_.pop_front();
    sequence->is_admitted = true;
    ++admitted_;
    sequence->is_running = true;
    RequestPointer first = next_waiting(*sequence);
    ready_.push_back({std::move(key), std::move(sequence), std::move(first)});
  }
  set_idle_timer();
}

// While sequences wait for a place, the one that is idle longest is looked at when its time is up.
void SequenceTable::set_idle_timer() {
  if (backlog_.empty() || idle_timer_ || is_closed_) return;
  Clock::time_point next = Clock::now() + config_.max_idle;
  for (const auto& [key, sequence] : sequences_) {
    if (sequence->is_admitted && !sequence->is_running)
      next = std::min(next, sequence->last_used + config_.max_idle);
  }
  idle_timer_ = threads_.call_at(next, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    {
      const std::lock_guard lock(self->mutex_);
      self->idle_timer_.reset();
      if (!self->is_closed_) self->remove_idle(Clock::now());
    }
    self->start_admitted();
  });
}

// A sequence has one state, and control inputs of one item.
void SequenceTable::require_one_item(const InferRequest& request) const {
  if (!scheduler_->policy().has_batch_dim) return;
  for (const Datum& input : request.inputs) {
    if (!input.defined() || input.tensor().rank() == 0 || input.tensor().shape()[0] == 1) continue;
    refuse(Status::kInvalidArgument, "inference request to model '", model_,
           "' must specify batch-size 1 due to requirements of sequence batcher, got ",
           input.tensor().shape()[0]);
  }
}

SequenceTable::SequencePointer SequenceTable::sequence_of(const InferRequest& request) {
  const SequenceControl& control = request.sequence;
  require_one_item(request);
  if (!control.has_id()) {
    refuse(Status::kInvalidArgument, "inference request to model '", model_,
           "' must specify a non-zero or non-empty correlation ID (parameter sequence_id)");
  }
  const auto now = Clock::now();
  remove_idle(now);
  const std::string key = key_of(control);
  const auto found = sequences_.find(key);
  if (control.start) return begin(key, control);
  if (found == sequences_.end()) {
    refuse(Status::kInvalidArgument, "inference request for sequence ", key.substr(1),
           " to model '", model_,
           "' must specify the START flag on the first request of the sequence");
  }
  found->second->last_used = now;
  return found->second;
}

SequenceTable::SequencePointer SequenceTable::begin(const std::string& key,
                                                    const SequenceControl& control) {
  constexpr size_t kMaxBacklog = 65'536;
  const auto sequence = std::make_shared<Sequence>();
  sequence->control = control;
  for (const StateInput& state : states_)
    sequence->states.emplace_back(state.initial);
  const auto found = sequences_.find(key);
  if (found != sequences_.end() && found->second->is_admitted) {
    // A START where one of that id goes on begins anew; what the old one still runs stays apart.
    found->second->is_admitted = false;
    sequence->is_admitted = true;
  } else if (admitted_ < config_.max_sequences) {
    sequence->is_admitted = true;
    ++admitted_;
  } else if (backlog_.size() >= kMaxBacklog) {
    refuse(Status::kResourceExhausted, "model '", model_, "': ", backlog_.size(),
           " sequences wait already, behind the ", config_.max_sequences,
           " of max_candidate_sequences");
  } else {
    backlog_.emplace_back(key, sequence);
  }
  sequences_[key] = sequence;
  return sequence;
}

// Runs first requests of sequences that have got a place. Where one is answered before its run
// returns, what that sets free is run by the same loop, and not from within.
void SequenceTable::start_admitted() {
  std::unique_lock lock(mutex_);
  if (is_starting_) return;
  is_starting_ = true;
  while (!ready_.empty()) {
    Ready ready = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    run(ready.key, ready.sequence, std::move(ready.first));
    lock.lock();
  }
  is_starting_ = false;
}

Tensor SequenceTable::control_tensor(const ControlInput& input,
                                     const SequenceControl& control) const {
  using Kind = SequenceConfig::Control::Kind;
  const SequenceConfig::Control& how = input.control;
  if (how.kind == Kind::kCorrelationId) {
    Tensor tensor = Tensor::allocate(how.dtype, input.shape);
    if (how.dtype == DType::kString) {
      tensor.mutable_values<std::string>()[0] =
          control.text_id.empty() ? std::to_string(control.number_id) : control.text_id;
    } else {
      store_numbers(how.dtype, tensor.raw(), 0, 1, &control.number_id);
    }
    return tensor;
  }
  const bool is_set = how.kind == Kind::kReady || (how.kind == Kind::kStart && control.start) ||
                      (how.kind == Kind::kEnd && control.end);
  Tensor tensor = Tensor::allocate(how.dtype, input.shape);
  const double value = is_set ? how.true_value : how.false_value;
  convert_numbers(DType::kDouble, &value, how.dtype, tensor.raw(), 1);
  return tensor;
}

// Requests of a sequence are never run at the same time, so nobody else uses its states.
void SequenceTable::keep_states(Sequence& sequence, std::span<const size_t> asked,
                                InferResult& result) {
  for (size_t i = 0; i < states_.size(); ++i)
    sequence.states[i] = kept_apart(result.outputs[states_[i].output]);
  for (size_t i = 0; i < result.outputs.size() && !asked.empty(); ++i) {
    if (!std::binary_search(asked.begin(), asked.end(), i)) result.outputs[i] = {};
  }
}

}  // namespace sardonyx::serving
