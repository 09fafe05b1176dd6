// Options of the C interface as those of the C++ one.
#pragma once

#include "executor/c_api/structs.h"
#include "executor/session_options.h"

namespace sardonyx::c_api {

sx_session_options default_session_options();
// Throws kInvalidArgument naming the field that is out of range. `cancellation` and `error` are
// left to the caller.
SessionOptions session_options(const sx_session_options& given, size_t struct_size);

// The caller's struct in the layout of this version: fields that it does not have get defaults.
sx_run_options read_run_options(const sx_run_options* given);
RunOptions run_options(const sx_run_options& given);

// The caller's sx_error, which is to receive the status and message; null where there is none or
// its struct_size is too small.
template <typename Options>
sx_error* error_place(const Options* options) {
  if (!options || options->struct_size < offsetof(Options, error) + sizeof(options->error))
    return nullptr;
  sx_error* error = options->error;
  return error && error->struct_size >= sizeof(size_t) ? error : nullptr;
}

// Throws kInvalidArgument where `error` is set but its struct_size is not: the outcome could not be
// written, and the caller would read an uninitialised status.
template <typename Options>
void check_error_place(const Options* options) {
  if (!options || options->struct_size < offsetof(Options, error) + sizeof(options->error)) return;
  if (options->error) check_struct_size(options->error->struct_size, "options: error");
}

// Runs `body` as guarded() does, then writes the status and message into the caller's sx_error.
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
