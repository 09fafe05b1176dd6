#include "executor/batching/serving_error.h"

#include <new>

namespace sardonyx::serving {
namespace {

Status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kInvalidModel:
      return Status::kInvalidArgument;
    case ErrorCode::kUnsupported:
      return Status::kUnsupported;
    case ErrorCode::kResourceExhausted:
      return Status::kResourceExhausted;
    case ErrorCode::kCancelled:
      return Status::kCancelled;
    case ErrorCode::kDeadlineExceeded:
      return Status::kDeadlineExceeded;
    case ErrorCode::kInternal:
      break;
  }
  return Status::kInternal;
}

}  // namespace

ServingError::ServingError(const Error& error)
    : status_(status_of(error.code())), message_(error.what()) {}

ServingError current_serving_error() {
  try {
    throw;
  } catch (const ServingError& error) {
    return error;
  } catch (const Error& error) {
    return ServingError(error);
  } catch (const std::bad_alloc&) {
    return {Status::kResourceExhausted, "out of memory"};
  } catch (const std::exception& error) {
    return {Status::kInternal, error.what()};
  } catch (...) {
    return {Status::kInternal, "an exception of no known type"};
  }
}

}  // namespace sardonyx::serving
