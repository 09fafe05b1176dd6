// Options of the C interface as those of the C++ one.
#pragma once

#include "executor/c_api/structs.h"
#include "executor/session_options.h"

namespace sardonyx::c_api {

sx_session_options default_session_options();
// Throws kInvalidArgument naming the field that is out of range. `cancellation` and `error` are
// left to the caller.
SessionOptions session_options(const sx_session_options& given, size_t struct_size);

// Of what a caller gives to a run, as this version knows it.
sx_run_options read_run_options(const sx_run_options* given);
RunOptions run_options(const sx_run_options& given);

// Where a caller wants to be told of the outcome, as far as its struct says so; null: nowhere.
template <typename Options>
sx_error* error_place(const Options* options) {
  if (!options || options->struct_size < offsetof(Options, error) + sizeof(options->error))
    return nullptr;
  sx_error* error = options->error;
  return error && error->struct_size >= sizeof(size_t) ? error : nullptr;
}

// Throws kInvalidArgument where the caller wants to be told, but says no size: it would read the
// status of a struct that nobody wrote.
template <typename Options>
void check_error_place(const Options* options) {
  if (!options || options->struct_size < offsetof(Options, error) + sizeof(options->error)) return;
  if (options->error) check_struct_size(options->error->struct_size, "options: error");
}

// As guarded(), and tells the caller's sx_error of the outcome.
template <typename Options, typename Body>
sx_status guarded_with(const Options* options, const Body& body) noexcept {
  const sx_status status = guarded([&] {
    check_error_place(options);
    body();
  });
  tell(error_place(options), status);
  return status;
}

}  // namespace sardonyx::c_api
