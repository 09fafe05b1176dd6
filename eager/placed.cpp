#include "eager/placed.h"

#include <string_view>

#include "eager/trace/frame.h"

namespace sardonyx::eager {
namespace {

// Does the message start with FILE:LINE?
bool names_line(std::string_view message) {
  const size_t colon = message.find(':');
  if (colon == 0 || colon == message.npos) return false;
  const size_t end = message.find_first_not_of("0123456789", colon + 1);
  if (end == message.npos || end == colon + 1) return false;
  return message.substr(0, colon).find(' ') == message.npos &&
         (message[end] == ':' || message[end] == ' ');
}

}  // namespace

std::string place_text(const Loc& loc) {
  const std::string& scope = ScopeName::current();
  return text_of(loc) + (scope.empty() ? "" : " (" + scope + ")");
}

Error placed(const Error& error, const Loc& loc) {
  return loc.line() == 0 || names_line(error.what()) ? error : error.with_context(place_text(loc));
}

}  // namespace sardonyx::eager
