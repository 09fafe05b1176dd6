#include "executor/ort_abi/status.h"

#include <new>

#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

// Nothing can be made any more: one status for all, which stays.
OrtStatus* out_of_memory() {
  static OrtStatus* const status = new OrtStatus{ORT_RUNTIME_EXCEPTION, "out of memory"};
  return status;
}
// Made while there is memory.
[[maybe_unused]] OrtStatus* const kMadeAhead = out_of_memory();

OrtStatus* made_status(OrtErrorCode code, const char* message) noexcept {
  try {
    return new OrtStatus{code, message};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace

OrtErrorCode code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return ORT_INVALID_ARGUMENT;
    case ErrorCode::kInvalidModel:
      return ORT_INVALID_GRAPH;
    case ErrorCode::kUnsupported:
      return ORT_NOT_IMPLEMENTED;
    case ErrorCode::kCancelled:
    case ErrorCode::kDeadlineExceeded:
      return ORT_FAIL;
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kInternal:
      break;
  }
  return ORT_RUNTIME_EXCEPTION;
}

OrtStatus* status_of_exception() noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    return made_status(failure.code(), failure.what());
  } catch (const Error& error) {
    return made_status(code_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    return made_status(ORT_RUNTIME_EXCEPTION, error.what());
  } catch (...) {
    return made_status(ORT_RUNTIME_EXCEPTION, "an exception of unknown type");
  }
}

OrtStatus* Functions::CreateStatus(OrtErrorCode code, const char* msg) {
  return made_status(code, msg ? msg : "");
}

OrtErrorCode Functions::GetErrorCode(const OrtStatus* status) {
  return status ? status->code : ORT_OK;
}

const char* Functions::GetErrorMessage(const OrtStatus* status) {
  return status ? status->message.c_str() : "";
}

void Functions::ReleaseStatus(OrtStatus* input) {
  if (input != out_of_memory()) delete input;
}

}  // namespace sardonyx::ort_abi
