#include "ir/core/error.h"

#include <locale>
#include <sstream>

namespace sardonyx {

std::string detail::joined(std::initializer_list<TextPart> parts) {
  std::ostringstream out;
  // The program's locale may group digits, and these texts are names and files' contents as well.
  out.imbue(std::locale::classic());
  for (const TextPart& part : parts)
    out << part;
  return out.str();
}

void detail::fail_joined(ErrorCode code, std::initializer_list<TextPart> parts) {
  throw Error(code, joined(parts));
}

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kInvalidModel:
      return "invalid model";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kResourceExhausted:
      return "resource exhausted";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kDeadlineExceeded:
      return "deadline exceeded";
    case ErrorCode::kInternal:
      return "internal error";
  }
  return "unknown error";
}

Error Error::with_context(std::string_view context) const {
  Error outer(code_, text(context, ": ", message_));
  outer.node_ = node_;
  return outer;
}

Error Error::at_node(std::string node) const {
  Error placed = *this;
  if (placed.node_.empty()) placed.node_ = std::move(node);
  return placed;
}

void check_failed(const char* condition, const char* file, int line) {
  fail(ErrorCode::kInternal, "broken invariant ", condition, " at ", file, ":", line,
       "; this is a defect of sardonyx, please report it");
}

}  // namespace sardonyx
