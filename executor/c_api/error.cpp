// Statuses, and what the last error of a thread has to say.
#include <cstdio>
#include <iterator>

#include "executor/c_api/structs.h"

namespace sardonyx::c_api {
namespace {

// The buffers have a fixed size, since reporting an error must not fail.
thread_local char t_message[4000];
thread_local char t_node[500];
thread_local sx_status t_status = SX_OK;

void copy_text(char* to, size_t size, const char* text) {
  if (to && size > 0) std::snprintf(to, size, "%s", text);
}

}  // namespace

sx_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return SX_INVALID_ARGUMENT;
    case ErrorCode::kInvalidModel:
      return SX_INVALID_MODEL;
    case ErrorCode::kUnsupported:
      return SX_UNSUPPORTED;
    case ErrorCode::kResourceExhausted:
      return SX_RESOURCE_EXHAUSTED;
    case ErrorCode::kCancelled:
      return SX_CANCELLED;
    case ErrorCode::kDeadlineExceeded:
      return SX_DEADLINE_EXCEEDED;
    case ErrorCode::kInternal:
      break;
  }
  return SX_INTERNAL;
}

sx_status note_error(sx_status status, const char* message, const char* node) noexcept {
  std::snprintf(t_node, sizeof t_node, "%s", node);
  std::snprintf(t_message, sizeof t_message, "%s", message);
  return t_status = status;
}

sx_status note_error(const Error& error) noexcept {
  return note_error(status_of(error.code()), error.what(), error.node().c_str());
}

void tell(sx_error* to, sx_status status) noexcept {
  if (!to) return;
  // The caller may have another version of the struct: only the fields that both know are written.
  sx_error known{};
  const size_t size = std::min(to->struct_size, sizeof known);
  std::memcpy(&known, to, size);
  known.status = status;
  known.reserved = 0;
  copy_text(known.message, known.message_size, status == SX_OK ? "" : t_message);
  copy_text(known.node, known.node_size, status == SX_OK ? "" : t_node);
  std::memcpy(to, &known, size);
}

}  // namespace sardonyx::c_api

using namespace sardonyx::c_api;  // NOLINT: the functions below are outside of every namespace

extern "C" {

const char* sx_version(void) {
  return SARDONYX_VERSION;
}

const char* sx_status_name(sx_status status) {
  constexpr const char* kNames[] = {
      "ok",        "invalid argument",  "invalid model", "unsupported", "resource exhausted",
      "cancelled", "deadline exceeded", "internal"};
  const auto index = static_cast<size_t>(status);
  return index < std::size(kNames) ? kNames[index] : "unknown status";
}

const char* sx_last_error(void) {
  return t_message;
}
const char* sx_last_error_node(void) {
  return t_node;
}

sx_status sx_copy_last_error(sx_error* error) {
  return guarded([&] {
    check_struct_size(require(error, "error").struct_size, "error");
    tell(error, t_status);
  });
}

}  // extern "C"
