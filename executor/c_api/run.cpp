// Runs of bindings: at once, in another thread, of any values, and what makes ready for them.
#include "executor/c_api/binding.h"
#include "executor/c_api/options.h"
#include "executor/c_api/value.h"
#include "ir/core/threading/float_mode.h"

namespace sardonyx::c_api {
namespace {

void run_now(sx_binding& binding, RunOptions options) {
  options.outputs = binding.chosen;
  binding.shared->session.run_into(binding.given(), binding.outputs, options);
}

// The task of an asynchronous run, with the sx_error and the callback that receive its outcome.
struct AsyncRun {
  sx_binding* binding;
  RunOptions options;
  sx_error* error;
  sx_run_callback callback;
  void* user;
  FloatMode mode = FloatMode::of_this_thread();  // the caller's

  void operator()() const {
    const FloatModeScope scope(mode);
    const sx_status status = guarded([&] { run_now(*binding, options); });
    tell(error, status);
    sx_async_outcome outcome{status};
    if (status != SX_OK) note(outcome);
    binding->outcome = outcome;
    binding->is_running = false;
    if (!callback) return;
    // The callback may destroy the binding, so it gets the local copy of the outcome.
    const sx_error told{sizeof told,
                        status,
                        0,
                        outcome.message.data(),
                        outcome.message.size() + 1,
                        outcome.node.data(),
                        outcome.node.size() + 1};
    callback(user, &told);
  }

  // Copies the error's texts. They are left out when memory runs out: the status is kept anyway.
  static void note(sx_async_outcome& outcome) noexcept {
    try {
      outcome.message = sx_last_error();
      outcome.node = sx_last_error_node();
    } catch (const std::bad_alloc&) {
    }
  }
};

}  // namespace
}  // namespace sardonyx::c_api

using namespace sardonyx;         // NOLINT: the functions below are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

extern "C" {

sx_status sx_binding_run(sx_binding* binding, const sx_run_options* options) {
  return guarded_with(options,
                      [&] { run_now(idle(binding), run_options(read_run_options(options))); });
}

sx_status sx_binding_run_async(sx_binding* binding, const sx_run_options* options,
                               sx_run_callback callback, void* user) {
  const sx_status status = guarded([&] {
    check_error_place(options);
    sx_binding& run = idle(binding);
    std::function<void()> work = AsyncRun{&run, run_options(read_run_options(options)),
                                          error_place(options), callback, user};
    run.is_running = true;
    try {
      run.async.start(std::move(work));
    } catch (...) {
      run.is_running = false;
      throw;
    }
  });
  // A run that has started reports its own end, possibly before this line.
  if (status != SX_OK) tell(error_place(options), status);
  return status;
}

sx_status sx_binding_wait(sx_binding* binding) {
  sx_status status = SX_OK;
  const sx_status waited = guarded([&] {
    sx_binding& run = require(binding, "binding");
    run.async.wait();
    if (run.outcome.status == SX_OK) return;
    status = note_error(run.outcome.status, run.outcome.message.c_str(), run.outcome.node.c_str());
  });
  return waited == SX_OK ? status : waited;
}

sx_status sx_binding_prepare(sx_binding* binding, const sx_run_options* options) {
  return guarded_with(options, [&] {
    sx_binding& run = idle(binding);
    RunOptions read = run_options(read_run_options(options));
    read.outputs = run.chosen;
    run.shared->session.prepare(run.given(), read);
  });
}

sx_status sx_binding_fetch(sx_binding* binding, const char* const* names, size_t count,
                           const sx_run_options* options, sx_value** values) {
  return guarded_with(options, [&] {
    if (count > 0) require(values, "values");
    std::fill(values, values + count, nullptr);
    const sx_binding& run = idle(binding);
    if (count > 0) require(names, "names");
    std::vector<std::string> wanted;
    for (size_t i = 0; i < count; ++i)
      wanted.emplace_back(&require(names[i], "names"));
    const std::vector<Datum> found =
        run.shared->session.fetch(run.given(), wanted, run_options(read_run_options(options)));
    std::vector<std::unique_ptr<sx_value>> made;
    for (const Datum& datum : found) {
      if (!datum.defined()) fail(ErrorCode::kUnsupported, wanted[made.size()], " is omitted");
      made.push_back(std::make_unique<sx_value>(kept(datum)));
    }
    for (size_t i = 0; i < count; ++i)
      values[i] = made[i].release();
  });
}

}  // extern "C"
