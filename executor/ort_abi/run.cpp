#include "executor/ort_abi/run.h"

#include <algorithm>

#include "executor/ort_abi/config_checks.h"
#include "executor/ort_abi/io_binding.h"
#include "executor/ort_abi/lora.h"
#include "executor/ort_abi/run_checks.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/value.h"

namespace sardonyx::ort_abi {
namespace {

// The space of a run, which the next one takes over.
class BorrowedSpace {
 public:
  explicit BorrowedSpace(OrtSession& session)
      : session_(session), space_(session.space.exchange(nullptr)) {
    if (!space_) space_ = kept_by(session);
    if (space_) return;
    space_ = std::make_unique<RunSpace>();
    space_->inputs.resize(session.inputs.size());
    space_->outputs.resize(session.outputs.size());
  }
  ~BorrowedSpace() {
    std::ranges::fill(space_->inputs, nullptr);
    space_->adapted.clear();
    for (OutputSlot& output : space_->outputs)
      output.clear();
    space_->steps.clear();
    space_->made.clear();
    space_.reset(session_.space.exchange(space_.release()));
    if (!space_) return;
    try {
      const std::lock_guard lock(session_.spaces_mutex);
      session_.spaces.push_back(std::move(space_));
    } catch (const std::bad_alloc&) {
    }
  }
  BorrowedSpace(const BorrowedSpace&) = delete;
  BorrowedSpace& operator=(const BorrowedSpace&) = delete;
  RunSpace& operator*() { return *space_; }

 private:
  static std::unique_ptr<RunSpace> kept_by(OrtSession& session) {
    const std::lock_guard lock(session.spaces_mutex);
    if (session.spaces.empty()) return nullptr;
    std::unique_ptr<RunSpace> space = std::move(session.spaces.back());
    session.spaces.pop_back();
    return space;
  }

  OrtSession& session_;
  std::unique_ptr<RunSpace> space_;
};

void check_names(const RunRequest& request) {
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const char* name = request.input_names[i];
    if (!name || *name == '\0') refuse(ORT_INVALID_ARGUMENT, "input name cannot be empty");
    if (!request.inputs[i]) refuse(ORT_INVALID_ARGUMENT, "NULL input supplied for input ", name);
  }
  for (const char* name : request.output_names) {
    if (!name || *name == '\0') refuse(ORT_INVALID_ARGUMENT, "output name cannot be empty");
  }
}

void set_inputs(const OrtSession& session, const RunRequest& request, RunSpace& space) {
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const size_t at = port_named(session.inputs, request.input_names[i], i, "input");
    const Datum& given = request.inputs[i]->datum;
    check_fits(session.inputs[at], given, "input");
    space.inputs[at] = &given;
  }
}

// What the caller gives counts more.
void set_adapted(const OrtSession& session, const OrtRunOptions* options, RunSpace& space) {
  if (!options) return;
  for (const OrtLoraAdapter* adapter : options->adapters) {
    for (const auto& [name, tensor] : adapter->parameters) {
      const size_t at = port_named(session.inputs, name.c_str(), 0, "input");
      if (space.inputs[at]) continue;
      const Datum& given = space.adapted.emplace_back(tensor);
      check_fits(session.inputs[at], given, "input");
      space.inputs[at] = &given;
    }
  }
}

bool has_memory(const OrtValue* value) {
  return value && value->datum.is_tensor();
}

// Does an output that was asked for before have some of these bytes? Then the value is computed
// apart and copied there behind the run: of several outputs in one place the last is what stays.
bool is_taken(const RunRequest& request, const RunSpace& space, size_t index) {
  const auto bytes_of = [&](size_t i) {
    const Tensor& memory = request.outputs[i]->datum.tensor();
    const auto* begin = static_cast<const std::byte*>(memory.raw());
    return std::pair(begin, begin + memory.bytes());
  };
  const auto [begin, end] = bytes_of(index);
  for (size_t i = 0; i < index; ++i) {
    if (!has_memory(request.outputs[i]) || space.asked[i] == space.asked[index]) continue;
    const auto [other, other_end] = bytes_of(i);
    if (begin < other_end && other < end) return true;
  }
  return false;
}

// Fills `chosen` where they are not all outputs in their order, as they mostly are.
void set_outputs(const OrtSession& session, const RunRequest& request, RunSpace& space) {
  const size_t count = request.output_names.size();
  if (count == 0) refuse(ORT_INVALID_ARGUMENT, "At least one output should be requested.");
  space.asked.clear();
  space.chosen.clear();
  bool are_all = count == session.outputs.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t at = port_named(session.outputs, request.output_names[i], i, "output");
    space.asked.push_back(at);
    are_all = are_all && at == i;
    if (!request.outputs[i]) continue;
    check_fits(session.outputs[at], request.outputs[i]->datum, "output");
    if (has_memory(request.outputs[i]) && !is_taken(request, space, i))
      space.outputs[at].bind(request.outputs[i]->datum.tensor());
  }
  if (are_all) return;
  space.chosen.assign(space.asked.begin(), space.asked.end());
  std::ranges::sort(space.chosen);
  const auto repeated = std::ranges::unique(space.chosen);
  space.chosen.erase(repeated.begin(), repeated.end());
  if (space.chosen.size() == session.outputs.size()) space.chosen.clear();  // all
}

DatumRefs given_inputs(const OrtSession& session, const RunSpace& space) {
  const std::span<const Datum* const> all = space.inputs;
  const bool any = std::ranges::any_of(all.subspan(session.required),
                                       [](const Datum* datum) { return datum != nullptr; });
  return DatumRefs(any ? all : all.first(session.required));
}

std::string braced(const Shape& shape) {
  std::string out = "{";
  for (size_t i = 0; i < shape.size(); ++i)
    out += text(i > 0 ? "," : "", shape[i]);
  return out + "}";
}

[[noreturn]] void refuse_shape(const Port& port, const Tensor& memory, const Datum& computed) {
  refuse(ORT_INVALID_ARGUMENT, "The output OrtValue provided for output '", port.name,
         "' has shape ", braced(memory.shape()), " but the computed output shape for this run is ",
         computed.is_tensor() ? braced(computed.tensor().shape()) : computed.type().text(),
         ". Provide an OrtValue of that shape, or none.");
}

// The memory that the output was bound to, or a second one that was given for the same name, or one
// that another output has as well.
void check_written(const Port& port, const OutputSlot& slot, const OrtValue& given) {
  const Tensor& memory = given.datum.tensor();
  const bool is_bound_here = slot.is_bound() && memory.raw() == slot.memory().raw();
  if (is_bound_here && slot.is_written()) return;
  const Datum& computed = slot.value();
  const bool is_copied =
      !is_bound_here && computed.is_tensor() && computed.tensor().shape() == memory.shape();
  if (!is_copied) refuse_shape(port, memory, computed);
  if (computed.tensor().raw() != memory.raw()) copy_tensor(computed.tensor(), memory);
}

// Gives each asked name its value. Nothing is given where one of them can't be.
void give_outputs(const OrtSession& session, const RunRequest& request, RunSpace& space) {
  std::vector<std::unique_ptr<OrtValue>>& made = space.made;
  made.clear();
  made.resize(request.outputs.size());
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    const size_t at = space.asked[i];
    OutputSlot& slot = space.outputs[at];
    if (has_memory(request.outputs[i])) {
      check_written(session.outputs[at], slot, *request.outputs[i]);
      continue;
    }
    const auto earlier = std::find(space.asked.begin(), space.asked.begin() + ptrdiff_t(i), at);
    const size_t first = static_cast<size_t>(earlier - space.asked.begin());
    if (first < i && made[first]) {
      made[i] = std::make_unique<OrtValue>(made[first]->datum);
      continue;
    }
    made[i] = std::make_unique<OrtValue>(slot.is_bound() ? Datum(slot.value()) : slot.take());
    make_own(made[i]->datum);
  }
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    if (!made[i]) continue;
    if (request.outputs[i])
      *request.outputs[i] = std::move(*made[i]);
    else
      request.outputs[i] = made[i].release();
  }
}

void compute(OrtSession& session, const OrtRunOptions* options, RunSpace& space) {
  const bool is_profiled = session.profile.is_on() || (options && options->profile_prefix);
  RunOptions run_options;
  run_options.outputs = space.chosen;
  if (options) run_options.cancel = options->termination.token();
  if (is_profiled) run_options.profile = &space.steps;
  const auto begin = is_profiled ? Profile::Clock::now() : Profile::Clock::time_point();
  try {
    session.session.run_into(given_inputs(session, space), space.outputs, run_options);
  } catch (const Error& error) {
    refuse_run(session, error);
  }
  if (!is_profiled) return;
  const auto end = Profile::Clock::now();
  if (session.profile.is_on()) session.profile.add_run(begin, end, space.steps);
  if (!options || !options->profile_prefix) return;
  Profile own;
  own.begin(*options->profile_prefix, begin);
  own.add_run(begin, end, space.steps);
  own.end();
}

// The arrays of a call, once they are known to be there.
RunRequest request_of(const char* const* input_names, const OrtValue* const* inputs,
                      size_t input_len, const char* const* output_names, size_t output_names_len,
                      OrtValue** outputs) {
  if (input_len > 0) require(input_names, "input_names");
  if (input_len > 0) require(inputs, "inputs");
  if (output_names_len > 0) require(output_names, "output_names");
  if (output_names_len > 0) require(outputs, "outputs");
  return {{input_names, input_len},
          {inputs, input_len},
          {output_names, output_names_len},
          {outputs, output_names_len}};
}

std::vector<std::string> copied_names(std::span<const char* const> names) {
  std::vector<std::string> copies;
  for (const char* name : names)
    copies.emplace_back(name ? name : "");
  return copies;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names)
    pointers.push_back(name.c_str());
  return pointers;
}

// A run in another thread. The names are copied; values are the caller's until it is told.
struct AsyncCall {
  OrtSession* session;
  const OrtRunOptions* options;
  std::vector<std::string> input_names, output_names;
  std::vector<const OrtValue*> inputs;
  OrtValue** outputs;
  RunAsyncCallbackFn callback;
  void* user_data;

  void operator()() const {
    OrtStatus* status = guarded([&] {
      const std::vector<const char*> in = pointers_to(input_names), out = pointers_to(output_names);
      run_session(*session, options, {in, inputs, out, {outputs, out.size()}});
    });
    callback(user_data, outputs, status ? 0 : output_names.size(), status);
  }
};

}  // namespace

void run_session(OrtSession& session, const OrtRunOptions* options, const RunRequest& request) {
  if (session.edited)
    refuse(ORT_FAIL, "Session not initialized: call FinalizeModelEditorSession before it runs.");
  if (options) check_run_options(*options);
  check_names(request);
  BorrowedSpace space(session);
  set_inputs(session, request, *space);
  set_adapted(session, options, *space);
  set_outputs(session, request, *space);
  compute(session, options, *space);
  give_outputs(session, request, *space);
}

OrtStatus* Functions::Run(OrtSession* session, const OrtRunOptions* run_options,
                          const char* const* input_names, const OrtValue* const* inputs,
                          size_t input_len, const char* const* output_names,
                          size_t output_names_len, OrtValue** outputs) {
  return guarded([&] {
    run_session(
        require(session, "session"), run_options,
        request_of(input_names, inputs, input_len, output_names, output_names_len, outputs));
  });
}

OrtStatus* Functions::RunAsync(OrtSession* session, const OrtRunOptions* run_options,
                               const char* const* input_names, const OrtValue* const* input,
                               size_t input_len, const char* const* output_names,
                               size_t output_names_len, OrtValue** output,
                               RunAsyncCallbackFn run_async_callback, void* user_data) {
  return guarded([&] {
    OrtSession& run = require(session, "session");
    require(run_async_callback, "run_async_callback");
    const RunRequest request =
        request_of(input_names, input, input_len, output_names, output_names_len, output);
    if (run.threads < 2) {
      refuse(ORT_INVALID_ARGUMENT,
             "intra op thread pool must have at least one thread for RunAsync");
    }
    run.async.start(AsyncCall{&run,
                              run_options,
                              copied_names(request.input_names),
                              copied_names(request.output_names),
                              {request.inputs.begin(), request.inputs.end()},
                              output,
                              run_async_callback,
                              user_data});
  });
}

OrtStatus* Functions::RunWithBinding(OrtSession* session, const OrtRunOptions* run_options,
                                     const OrtIoBinding* binding_ptr) {
  return guarded([&] {
    run_session(require(session, "session"), run_options,
                require(binding_ptr, "binding").request());
  });
}

}  // namespace sardonyx::ort_abi
