// The one exception type of sardonyx, and the check for broken invariants.
#pragma once

#include <exception>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>

namespace sardonyx {

enum class ErrorCode {
  kInvalidArgument,    // the caller's tensors, names or options do not fit
  kInvalidModel,       // the file or graph breaks the ONNX specification
  kUnsupported,        // valid, but this build cannot do it
  kResourceExhausted,  // a limit on memory, size, depth or time was reached
  kCancelled,          // the caller asked to stop
  kDeadlineExceeded,   // the caller's deadline passed
  kInternal,           // a defect of sardonyx
};

// "invalid argument", "invalid model" ...: for messages.
std::string_view name_of(ErrorCode code);

// The exception that every function of sardonyx throws. The message names op, node and argument,
// what was expected and what came. Outer layers add context with `with_context` and rethrow.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  // Why: what a program decides by.
  ErrorCode code() const { return code_; }
  // The name of the node at fault; empty where no node is concerned.
  const std::string& node() const { return node_; }
  // The message, UTF-8; belongs to the error.
  const char* what() const noexcept override { return message_.c_str(); }

  // A copy of this error with "CONTEXT: " put before its message.
  Error with_context(std::string_view context) const;
  // A copy of this error whose node() is `node`.
  Error at_node(std::string node) const;

 private:
  ErrorCode code_;
  std::string message_;
  std::string node_;
};

namespace detail {

// Something that `<<` writes. Messages have parts of many types in many orders: with the types out
// of sight, what joins them is compiled once.
class TextPart {
 public:
  TextPart(const char* value) : value_(value), write_(&write_c_string) {}
  template <typename T>
  explicit TextPart(const T& value) : value_(&value), write_(&write<T>) {}
  friend std::ostream& operator<<(std::ostream& out, const TextPart& part) {
    part.write_(out, part.value_);
    return out;
  }

 private:
  static void write_c_string(std::ostream& out, const void* value) {
    out << static_cast<const char*>(value);
  }
  template <typename T>
  static void write(std::ostream& out, const void* value) {
    out << *static_cast<const T*>(value);
  }
  const void* value_;
  void (*write_)(std::ostream& out, const void* value);
};
std::string joined(std::initializer_list<TextPart> parts);
[[noreturn]] void fail_joined(ErrorCode code, std::initializer_list<TextPart> parts);

}  // namespace detail

// Builds a message from its parts: `text("expected ", 3, " got ", 4)`.
template <typename... Parts>
std::string text(const Parts&... parts) {
  return detail::joined({detail::TextPart(parts)...});
}

// Throws Error with the message that the parts make.
template <typename... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  detail::fail_joined(code, {detail::TextPart(parts)...});
}

// Throws kInternal with the condition and its place.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace sardonyx

// Checks an invariant of our own code, never input: throws Error(kInternal).
#define SARDONYX_CHECK(condition) \
  ((condition) ? void(0) : ::sardonyx::check_failed(#condition, __FILE__, __LINE__))
