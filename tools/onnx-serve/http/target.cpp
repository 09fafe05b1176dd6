#include "tools/onnx-serve/http/target.h"

#include <algorithm>

namespace sardonyx::serve {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text) {
  if (text.find('%') == std::string_view::npos) return std::string(text);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(16 * high + low);
    i += 2;
  }
  return out;
}

// Takes what comes before `end`, or all, off `text`.
std::string_view take_until(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

// A proxy's form of a target has the scheme and the host before the path.
std::string_view without_host(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    target.remove_prefix(scheme.size());
    target.remove_prefix(std::min(target.find_first_of("/?#"), target.size()));
  }
  return target;
}

}  // namespace

std::optional<std::vector<std::string>> path_parts(std::string_view target) {
  target = without_host(target);
  target = target.substr(0, target.find_first_of("?#"));
  std::vector<std::string> parts;
  while (!target.empty()) {
    const std::string_view part = take_until(target, '/');
    if (part.empty()) continue;
    std::optional<std::string> plain = decoded(part);
    if (!plain) return std::nullopt;
    parts.push_back(std::move(*plain));
  }
  return parts;
}

std::optional<std::string> query_value(std::string_view target, std::string_view name) {
  target = target.substr(0, target.find('#'));
  take_until(target, '?');
  while (!target.empty()) {
    std::string_view pair = take_until(target, '&');
    if (take_until(pair, '=') == name) return decoded(pair);
  }
  return std::nullopt;
}

}  // namespace sardonyx::serve
