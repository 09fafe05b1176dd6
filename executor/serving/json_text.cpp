#include "executor/serving/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace sardonyx::serving {
namespace {

// Bytes of the UTF-8 sequence at `text`; 0 where there is none (RFC 3629: no surrogates, no
// overlong forms).
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(i < text.size() ? text[i] : 0); };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) >= 0xA0) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) >= 0x90) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void append_control(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<uint8_t>(c) >> 4];
      out += kHex[static_cast<uint8_t>(c) & 15];
  }
}

template <typename T>
void append_float(std::string& out, T value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
  } else {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
    out.append(buffer, end.ptr);
  }
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD, for a byte that is no UTF-8

template <typename T>
void append_integer(std::string& out, T value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, end.ptr);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  size_t plain = 0;  // bytes from `at` on that stand for themselves
  size_t at = 0;
  const auto flush = [&] {
    out.append(text.substr(at, plain));
    at += plain;
    plain = 0;
  };
  while (at + plain < text.size()) {
    const char c = text[at + plain];
    if (static_cast<uint8_t>(c) >= 0x80) {
      if (const size_t length = sequence_length(text.substr(at + plain))) {
        plain += length;
        continue;
      }
      flush();
      out += kReplacement;
      ++at;
    } else if (c == '"' || c == '\\') {
      flush();
      out += '\\';
      out += c;
      ++at;
    } else if (static_cast<uint8_t>(c) < 0x20) {
      flush();
      append_control(out, c);
      ++at;
    } else {
      ++plain;
    }
  }
  flush();
  out += '"';
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string utf8_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    out += length > 0 ? text.substr(0, length) : kReplacement;
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

bool is_plain_name(std::string_view name) {
  const auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7F; };
  return !name.empty() && is_utf8(name) && std::none_of(name.begin(), name.end(), is_control);
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

void append_number(std::string& out, float value) {
  append_float(out, value);
}
void append_number(std::string& out, double value) {
  append_float(out, value);
}
void append_number(std::string& out, int value) {
  append_integer(out, value);
}
void append_number(std::string& out, unsigned value) {
  append_integer(out, value);
}
void append_number(std::string& out, long value) {
  append_integer(out, value);
}
void append_number(std::string& out, unsigned long value) {
  append_integer(out, value);
}

}  // namespace sardonyx::serving
