// Errors on their way to the caller: exceptions within the library, an OrtStatus outside.
#pragma once

#include <cstring>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "executor/c_api/pointers.h"
#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/core/error.h"

struct OrtStatus {
  OrtErrorCode code;
  std::string message;
};

namespace sardonyx::ort_abi {

// What the functions of the table throw where they know ONNX Runtime's own code and words for it.
class Failure : public std::exception {
 public:
  Failure(OrtErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}
  OrtErrorCode code() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  OrtErrorCode code_;
  std::string message_;
};

template <typename... Parts>
[[noreturn]] void refuse(OrtErrorCode code, const Parts&... parts) {
  throw Failure(code, text(parts...));
}

// What ONNX Runtime calls such an error.
OrtErrorCode code_of(ErrorCode code);
// The exception that is being handled. Where there is no memory for it, a status that says so and
// that nobody frees.
OrtStatus* status_of_exception() noexcept;

// Runs `body`, which may throw anything; null where it does not.
template <typename Body>
OrtStatus* guarded(const Body& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    return status_of_exception();
  }
}

// What a caller in C gave for an enumeration. It may be none of its values, which C++ must not read
// as one.
template <typename Enumeration>
int number_of(const Enumeration& given) {
  std::underlying_type_t<Enumeration> number{};
  std::memcpy(&number, &given, sizeof number);
  return static_cast<int>(number);
}

using c_api::make_at;
using c_api::require;
using c_api::require_place;

}  // namespace sardonyx::ort_abi
